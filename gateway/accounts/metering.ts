import type { Accounts } from '../../accounts/accounts.js';
import type { Caller } from '../../accounts/identity/sessions.js';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Tenants } from '../../runtime/tenants/tenants.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';
import { metered } from './metered.js';

/** Meters of the module file that the daemon counts itself, by the names that they must have. */
export const METERS = { requests: 'requests', tokens: 'tokens', storage: 'storage_bytes' } as const;

/** Whose endpoints have work done by models; those of the others change what is kept. */
const ASKED_BY: ReadonlySet<string> = new Set(['users', 'members']);

/** Counts what people use of the daemon, where the module file has meters of these names. */
export class Metering {
  readonly #accounts: Accounts;
  readonly #tenants: Tenants;
  readonly #has: Readonly<Record<keyof typeof METERS, boolean>>;

  constructor(accounts: Accounts, tenants: Tenants) {
    this.#accounts = accounts;
    this.#tenants = tenants;
    const { meters } = accounts.settings;
    const has = (name: string): boolean => Object.hasOwn(meters, name);
    this.#has = { requests: has(METERS.requests), tokens: has(METERS.tokens), storage: has(METERS.storage) };
  }

  /** Counts a request. Throws `too_many` where it is one too many. */
  async admit({ userId }: Caller, { access, id }: { access: Endpoint<Runtime>['access']; id?: string }): Promise<void> {
    // What comes by MCP is counted where it arrives inside.
    if (access === 'anyone' || id === 'mcp') return;
    if (this.#has.requests) await this.#accounts.meters.track(userId, METERS.requests);
  }

  /** Throws `too_many` where the caller has no tokens left. */
  async admitWork({ userId }: Caller): Promise<void> {
    if (this.#has.tokens) await this.#accounts.meters.check(userId, METERS.tokens);
  }

  /** The runtime as the caller uses it: no model works without tokens left, and they are counted as they are spent, those of answers that break off too. */
  contextOf(caller: Caller, runtime: Runtime): Runtime {
    if (!this.#has.tokens) return runtime;
    return metered(runtime, {
      admit: () => this.admitWork(caller),
      spent: (tokens) => {
        if (tokens > 0) void this.#spend(caller.userId, Math.ceil(tokens));
      },
    });
  }

  /** Makes sure that there is room for the files of a request. Throws `too_many` where there is not. */
  async admitFiles({ userId }: Caller, { files }: Pick<Request, 'files'>): Promise<void> {
    if (!this.#has.storage || files.length === 0) return;
    const { meters } = this.#accounts;
    await meters.set(userId, METERS.storage, await this.#tenants.storedBytes(userId));
    await meters.check(
      userId,
      METERS.storage,
      files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    );
  }

  /** Writes down what the caller has on disk, after a request that may have changed it. */
  async noteStored(
    { userId }: Caller,
    { access, method }: Pick<Endpoint<Runtime>, 'access' | 'method'>,
    { files }: Pick<Request, 'files'>,
  ): Promise<void> {
    const isChange = files.length > 0 || method === 'DELETE' || (method !== 'GET' && !ASKED_BY.has(access));
    if (!this.#has.storage || !isChange) return;
    try {
      await this.#accounts.meters.set(userId, METERS.storage, await this.#tenants.storedBytes(userId));
    } catch (error) {
      log('warn', 'what a user has on disk could not be written down', { user: userId, error });
    }
  }

  /** What is spent is spent: it counts beyond a limit too, and the next request is refused. */
  async #spend(userId: string, tokens: number): Promise<void> {
    await this.#accounts.meters.record(userId, METERS.tokens, tokens).catch((error: unknown) => {
      log('error', `${tokens} tokens could not be counted`, { user: userId, error });
    });
  }
}
