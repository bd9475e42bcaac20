import type { Accounts } from '../../accounts/accounts.js';
import type { Caller } from '../../accounts/identity/sessions.js';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Tenants } from '../../runtime/tenants/tenants.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';
import { metered } from './metered.js';

/** Meters of the module file that the daemon counts itself, by the names that they must have. */
export const METERS = { requests: 'requests', tokens: 'tokens', storage: 'storage_bytes' } as const;

/** Who may call the endpoints that change projects. */
const CHANGED_BY: ReadonlySet<string> = new Set(['writers', 'founders']);
/** What else keeps what it is sent, or what it makes of that, in a person's folder. */
const KEEPING: ReadonlySet<string> = new Set(['anomaly_fit', 'ml_anomaly_fit', 'classifier_fit', 'ml_classifier_fit', 'prepare_cache']);

/** Counts what people use of the daemon, where the module file has meters of these names. */
export class Metering {
  readonly #accounts: Accounts;
  readonly #tenants: Tenants;
  readonly #has: Readonly<Record<keyof typeof METERS, boolean>>;
  /** Bytes of requests under way, by user. */
  readonly #coming = new Map<string, number>();

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

  /**
   * Makes sure that there is room for what a request brings to be kept, beside what comes at the same time, until the function that it resolves to is
   * called. Throws `too_many` where there is none.
   */
  async admitStored({ userId }: Caller, endpoint: StoringEndpoint, request: Request): Promise<() => void> {
    if (!this.#has.storage || !keeps(endpoint, request)) return () => {};
    const bytes = bytesOf(request);
    const others = this.#coming.get(userId) ?? 0;
    this.#coming.set(userId, others + bytes);
    const done = (): void => {
      const left = this.#coming.get(userId)! - bytes;
      if (left > 0) this.#coming.set(userId, left);
      else this.#coming.delete(userId);
    };
    const { meters } = this.#accounts;
    try {
      await meters.set(userId, METERS.storage, await this.#tenants.storedBytes(userId));
      await meters.check(userId, METERS.storage, others + bytes);
      return done;
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Writes down what the caller has on disk, after a request that may have changed it. */
  async noteStored({ userId }: Caller, endpoint: StoringEndpoint, request: Pick<Request, 'files'>): Promise<void> {
    if (!this.#has.storage || !(endpoint.method === 'DELETE' || keeps(endpoint, request))) return;
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

type StoringEndpoint = Pick<Endpoint<Runtime>, 'access' | 'method' | 'id'>;

/** Whether a request brings something that is kept. */
function keeps({ access, method, id }: StoringEndpoint, { files }: Pick<Request, 'files'>): boolean {
  return files.length > 0 || (method !== 'GET' && method !== 'DELETE' && (CHANGED_BY.has(access) || KEEPING.has(id)));
}

function bytesOf({ files, body, header }: Request): number {
  if (files.length > 0) return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return Number(header('content-length') ?? JSON.stringify(body)?.length ?? 0);
}
