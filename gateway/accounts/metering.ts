import type { Accounts } from '../../accounts/accounts.js';
import type { Caller } from '../../accounts/identity/sessions.js';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';

/** Meters of the module file that the daemon counts itself, by the names that they must have. */
export const METERS = { requests: 'requests', tokens: 'tokens', storage: 'storage_bytes' } as const;

/** Counts what people use of the daemon, where the module file has meters of these names. */
export class Metering {
  readonly #accounts: Accounts;
  readonly #has: { readonly requests: boolean; readonly tokens: boolean; readonly storage: boolean };

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
    const { meters } = accounts.settings;
    const has = (name: string): boolean => Object.hasOwn(meters, name);
    this.#has = { requests: has(METERS.requests), tokens: has(METERS.tokens), storage: has(METERS.storage) };
  }

  /** Counts a request. Throws `too_many` where it is one too many, or where the caller has no tokens left and asks for work. */
  async admit(
    { userId }: Caller,
    { access, method, id }: { access: Endpoint<Runtime>['access']; method: string; id?: string },
  ): Promise<void> {
    // What comes by MCP is counted where it arrives inside.
    if (access === 'anyone' || id === 'mcp') return;
    const { meters } = this.#accounts;
    if (this.#has.tokens && method === 'POST') await meters.check(userId, METERS.tokens);
    if (this.#has.requests) await meters.track(userId, METERS.requests);
  }

  /** Takes the tokens of a request; undefined where they are not counted. */
  spender({ userId }: Caller): ((tokens: number) => void) | undefined {
    if (!this.#has.tokens) return undefined;
    return (tokens) => void this.#note(userId, METERS.tokens, Math.ceil(tokens));
  }

  async stored(_caller: Caller, _endpoint: Endpoint<Runtime>, _request: Request, _reply: Reply): Promise<void> {}

  /** What is used is used: it counts beyond a limit too, and the next request is refused. */
  async #note(userId: string, meter: string, amount: number): Promise<void> {
    if (!(amount > 0)) return;
    await this.#accounts.meters.record(userId, meter, amount).catch((error: unknown) => {
      log('error', `${amount} of ${meter} could not be counted`, { user: userId, error });
    });
  }
}
