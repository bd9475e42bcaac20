/** Who is signed in, where the daemon has accounts (`quern start --accounts`); elsewhere nothing of this is asked. The session is a cookie, which the browser sends by itself. */
import type { Health } from '$schemas/core/system';
import { connection } from './connection.svelte';
import { key } from './key.svelte';
import { Latest } from './overlap.svelte';

interface Me {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly plan: string;
}

/** How people may sign in: `email_password`, `magic_link`, `email_otp`, and names of other providers. */
type Methods = Readonly<Record<string, boolean>>;

/** Whose belongings this browser keeps: the id of the account that was signed in last. */
const OWNER = 'quern.owner';
/** How the names begin of what it keeps of one person: texts that were not sent, the chosen project, a key, and work that is followed. */
const BELONGINGS = ['quern.draft.', 'quern.project', 'quern.key', 'quern.tasks ', 'quern.pulls', OWNER];

function forgetBelongings(): void {
  for (const name of Object.keys(localStorage)) if (BELONGINGS.some((one) => name.startsWith(one))) localStorage.removeItem(name);
}

class Account {
  /** Whether people sign in here. */
  isOn = $state(false);
  /** Whether the reader runs the machine; where nobody signs in, everybody does. */
  runsMachine = $state(true);
  me = $state<Me>();
  methods = $state<Methods>({});
  readonly #looking = new Latest();

  /** Asks whether there are accounts, and who is signed in. */
  look(): Promise<void> {
    return this.#looking.run(
      async (signal) => {
        const health = await answerOf<Pick<Health, 'accounts' | 'components'>>('/health', signal);
        const me = health?.accounts ? await answerOf<Me>('/api/module/me', signal) : undefined;
        const config = health?.accounts && !me ? await answerOf<{ methods: Methods }>('/api/module/config', signal) : undefined;
        return { health, me, methods: config?.methods ?? {} };
      },
      ({ health, me, methods }) => {
        // While the daemon is away, what it said before holds.
        if (!health) return;
        this.isOn = health.accounts === true;
        this.runsMachine = !this.isOn || health.components.length > 0;
        this.me = me;
        if (me) this.#own(me.id);
        else this.methods = methods;
      },
    );
  }

  /** Sends a form of the accounts library, such as `sign-in/email`. Returns what is wrong; empty where all went well. */
  async send(path: string, body: object): Promise<string> {
    try {
      const answer = await fetch(`/api/auth/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (answer.ok) return '';
      return ((await answer.json()) as { message?: string }).message ?? `The daemon answered ${answer.status}.`;
    } catch {
      connection.lost();
      return 'The daemon does not answer.';
    }
  }

  /** Called when a form signed somebody in: the views ask again. */
  async entered(): Promise<void> {
    await this.look();
    if (this.me) key.accepted();
  }

  /** Signs out; the page begins anew, so that nothing of this person stays in it. */
  async leave(): Promise<string> {
    const problem = await this.send('sign-out', {});
    if (problem === '') this.#begin();
    return problem;
  }

  /** Where somebody else was signed in before, nothing of theirs is shown. */
  #own(id: string): void {
    const before = localStorage.getItem(OWNER);
    if (before !== null && before !== id) this.#begin();
    localStorage.setItem(OWNER, id);
  }

  #begin(): void {
    forgetBelongings();
    location.reload();
  }
}

async function answerOf<T>(path: string, signal: AbortSignal): Promise<T | undefined> {
  const answer = await fetch(path, { headers: key.headers(), signal }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as T) : undefined;
}

export const account = new Account();
