import type { Ground } from '../database/database.js';
import type { Change } from '../database/watched-dialect.js';
import { ACCESS_PREFIX, type Devices } from '../devices/devices.js';
import type { Plans } from '../gates/plans.js';
import { hash } from '../http/hashes.js';
import type { Keys } from '../keys.js';
import type { Caller, Proof, Sessions } from './sessions.js';

/** Who asks, with the plan that the user has. */
export interface Identity extends Caller {
  /** The plan's name. */
  readonly plan: string;
}

/** What somebody proves itself by, and who can tell whose it is. */
interface Credential {
  readonly text: string;
  prove(): Promise<Proof | undefined>;
}

/** How long an identity is believed without asking the database, which other processes may have changed meanwhile. */
const BELIEVED_MS = 2000;
const MOST_BELIEVED = 10_000;
/** Longer than any token, key or signed cookie of ours. */
const LONGEST_CREDENTIAL = 1024;

/** What a change of each table can take from somebody. What is new, or only says when it was used, takes nothing. */
const TAKES: Readonly<Record<string, readonly Change['kind'][]>> = {
  user: ['update', 'delete'],
  session: ['delete'],
  accounts_device: ['delete'],
  accounts_device_token: ['delete'],
  accounts_key: ['delete'],
  accounts_grant: ['insert', 'update', 'delete'],
  accounts_subscription: ['insert', 'update', 'delete'],
};

/** Finds out who asks: by the database, or by what it said a moment ago. */
export class Identities {
  readonly #ground: Ground;
  readonly #sessions: Sessions;
  readonly #devices: Devices;
  readonly #keys: Keys;
  readonly #plans: Plans;
  /** By the hash of the credential, the oldest first. */
  readonly #believed = new Map<string, { readonly identity: Identity; readonly since: number; readonly until: number }>();
  /** Counts the changes after which nothing holds that was read before. */
  #changes = 0;

  constructor(ground: Ground, parts: { sessions: Sessions; devices: Devices; keys: Keys; plans: Plans }) {
    this.#ground = ground;
    this.#sessions = parts.sessions;
    this.#devices = parts.devices;
    this.#keys = parts.keys;
    this.#plans = parts.plans;
    ground.database.onChange(({ table, kind }) => {
      if (!TAKES[table]?.includes(kind)) return;
      this.#changes += 1;
      this.#believed.clear();
    });
  }

  /** Who asks, as the database has it now; undefined for nobody. */
  async callerOf(headers: Headers): Promise<Caller | undefined> {
    for (const { prove } of this.#credentialsOf(headers)) {
      const proof = await prove();
      if (proof) return proof.caller;
    }
    return undefined;
  }

  /**
   * Who asks, with the plan; undefined for nobody. An answer is believed for two seconds, in which what other processes change is not
   * seen; what this one changes is seen at once.
   */
  async identify(headers: Headers): Promise<Identity | undefined> {
    for (const credential of this.#credentialsOf(headers)) {
      const identity = await this.#identified(credential);
      if (identity) return identity;
    }
    return undefined;
  }

  async #identified({ text, prove }: Credential): Promise<Identity | undefined> {
    const name = hash('credential', text);
    const now = this.#ground.now();
    const known = this.#believed.get(name);
    if (known && now >= known.since && now < known.until) return known.identity;
    const changes = this.#changes;
    const proof = await prove();
    if (!proof) return undefined;
    const identity = { ...proof.caller, plan: (await this.#plans.of(proof.caller.userId)).name };
    if (changes === this.#changes) this.#believe(name, { identity, since: now, until: Math.min(proof.until, now + BELIEVED_MS) });
    return identity;
  }

  #believe(name: string, entry: { identity: Identity; since: number; until: number }): void {
    this.#believed.delete(name);
    this.#believed.set(name, entry);
    if (this.#believed.size > MOST_BELIEVED) this.#believed.delete(this.#believed.keys().next().value!);
  }

  /** The credentials of a request, of which the first that holds counts: a key or a device's token, then tokens of sessions. */
  #credentialsOf(headers: Headers): readonly Credential[] {
    const given = headers.get('x-api-key') ?? /^bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
    if (given.length > LONGEST_CREDENTIAL) return [];
    const sessions = this.#sessions.tokensOf(headers).map((token) => ({ text: token, prove: () => this.#sessions.proofOf(token) }));
    if (this.#ground.settings.apiKeys.enabled && this.#keys.isKey(given))
      return [{ text: given, prove: () => this.#keys.proofOf(given) }, ...sessions];
    if (given.startsWith(ACCESS_PREFIX)) return [{ text: given, prove: () => this.#devices.proofOf(given) }, ...sessions];
    return sessions;
  }
}
