import type { Change } from '../database/watched-dialect.js';
import { ACCESS_PREFIX, type Devices } from '../devices/devices.js';
import type { Ground } from '../ground.js';
import { hash } from '../http/hashes.js';
import type { Keys } from '../keys/keys.js';
import type { Plans } from '../plans/plans.js';
import type { Caller, Proof, Sessions } from './sessions.js';

/** Who asks, with the plan that the user has. */
export interface Identity extends Caller {
  /** The plan's name. */
  readonly plan: string;
}

/** How long an identity is believed without asking the database, which other processes may have changed meanwhile. */
const BELIEVED_MS = 2000;
const MOST_BELIEVED = 10_000;

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
    return (await this.#credentialOf(headers)?.prove())?.caller;
  }

  /**
   * Who asks, with the plan; undefined for nobody. An answer is believed for two seconds, in which what other processes change is not
   * seen; what this one changes is seen at once.
   */
  async identify(headers: Headers): Promise<Identity | undefined> {
    const credential = this.#credentialOf(headers);
    if (!credential) return undefined;
    const name = hash('credential', credential.text);
    const now = this.#ground.now();
    const known = this.#believed.get(name);
    if (known && now >= known.since && now < known.until) return known.identity;
    const changes = this.#changes;
    const proof = await credential.prove();
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

  /** The credential of a request, and who can tell whose it is; undefined without one. */
  #credentialOf(headers: Headers): { text: string; prove: () => Promise<Proof | undefined> } | undefined {
    const given = headers.get('x-api-key') ?? /^bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
    if (this.#ground.settings.apiKeys.enabled && this.#keys.isKey(given)) return { text: given, prove: () => this.#keys.proofOf(given) };
    if (given.startsWith(ACCESS_PREFIX)) return { text: given, prove: () => this.#devices.proofOf(given) };
    const token = this.#sessions.tokenOf(headers);
    return token === undefined ? undefined : { text: token, prove: () => this.#sessions.proofOf(token) };
  }
}
