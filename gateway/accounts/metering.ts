import type { Accounts } from '../../accounts/accounts.js';
import type { Caller } from '../../accounts/identity/sessions.js';
import { log } from '../../runtime/base/log.js';
import type { Budget } from '../../runtime/base/spending.js';
import { type Spent, withSpentTokens } from '../../runtime/completions/budget.js';
import type { EncoderService } from '../../runtime/encoders/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Services } from '../../runtime/services/services.js';
import type { Tenants } from '../../runtime/tenants/tenants.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';

/**
 * A runtime whose models ask first whether anything may be spent, and tell what they cost: completions, chats of projects, spoken ones, those that are run again
 * and the help among them, and encoders.
 */
export function metered(runtime: Runtime, { admit, spent }: Budget): Runtime {
  const { completions, chat, help, voice, here, core } = runtime;
  const paid = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await admit();
    return work();
  };
  const encodersOf = (encoders: EncoderService): EncoderService => spendingEncoders(encoders, paid, spent);
  const withEncoders = (services: Services): Services => ({ ...services, encoders: encodersOf(services.encoders) });
  return Object.assign(Object.create(runtime) as Runtime, {
    completions: {
      open: (...asked) => paid(async () => withSpentTokens(await completions.open(...asked), spent)),
      hold: (...asked) => completions.hold(...asked),
      render: (...asked) => completions.render(...asked),
      textsOf: (...asked) => completions.textsOf(...asked),
    } satisfies Runtime['completions'],
    chat: withChanges(chat, {
      complete: (call, signal) => paid(() => chat.complete({ ...call, spent }, signal)),
      tried: (namespace, project, question, config, signal) => paid(() => chat.tried(namespace, project, question, config, signal, spent)),
      replay: (namespace, project, id, wish, signal) => paid(() => chat.replay(namespace, project, id, wish, signal, spent)),
      decide: (namespace, project, id, decision, signal) => paid(() => chat.decide(namespace, project, id, decision, signal, spent)),
    }),
    help: withChanges(help, { complete: (call, ...more) => paid(() => help.complete({ ...call, spent }, ...more)) }),
    voice: async () => {
      const opened = await voice();
      return withChanges(opened, { open: (address, peer) => opened.open({ ...address, admit, spent }, peer) });
    },
    here: withEncoders(here),
    core: withEncoders(core),
  });
}

function spendingEncoders(
  encoders: EncoderService,
  paid: <Result>(work: () => Promise<Result>) => Promise<Result>,
  spent: Spent,
): EncoderService {
  const told = async <Result extends { tokens: number }>(work: () => Promise<Result>): Promise<Result> => {
    const result = await paid(work);
    spent(result.tokens);
    return result;
  };
  return {
    embed: (...asked) => told(() => encoders.embed(...asked)),
    rerank: (...asked) => told(() => encoders.rerank(...asked)),
    classify: (...asked) => told(() => encoders.classify(...asked)),
    entities: (...asked) => told(() => encoders.entities(...asked)),
  };
}

/** An object of which some methods are others; its own see the object itself, whose private members no copy has. */
function withChanges<Thing extends object>(thing: Thing, methods: Partial<Thing>): Thing {
  return new Proxy(thing, {
    get(all, name) {
      if (Object.hasOwn(methods, name)) return methods[name as keyof Thing];
      const member: unknown = Reflect.get(all, name, all);
      return typeof member === 'function' ? member.bind(all) : member;
    },
  });
}

/** Meters of the module file that the daemon counts itself, by the names that they must have. */
export const METERS = { requests: 'requests', tokens: 'tokens', storage: 'storage_bytes' } as const;

/** Who may call the endpoints that change projects. */
const CHANGED_BY: ReadonlySet<string> = new Set(['writers', 'founders']);
/** What else keeps what it is sent, or what it makes of that, in a person's folder. */
const KEEPING: ReadonlySet<string> = new Set(['anomaly_fit', 'ml_anomaly_fit', 'classifier_fit', 'ml_classifier_fit', 'prepare_cache']);
/** The same in buffers, which no folder has. Sensors append many times a second. */
const APPENDING: ReadonlySet<string> = new Set(['append_to_buffer', 'ml_append_to_buffer']);
/** For an append the folders of a person are looked at anew when they were so long ago, in milliseconds: there may be thousands of files in them. */
const FOLDERS_AGO_MS = 10_000;
/** What gives back room beside deletions. */
const FREEING: ReadonlySet<string> = new Set(['clear_buffer', 'ml_clear_buffer']);

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

  /** What a user may spend on models; undefined where tokens are not counted. */
  budgetOf(userId: string): Budget | undefined {
    if (!this.#has.tokens) return undefined;
    return {
      admit: async () => void (await this.#accounts.meters.check(userId, METERS.tokens)),
      spent: (tokens) => {
        if (tokens > 0) void this.#spend(userId, Math.ceil(tokens));
      },
    };
  }

  /** The runtime as the caller uses it: no model works without tokens left, and they are counted as they are spent, those of answers that break off too. */
  contextOf({ userId }: Caller, runtime: Runtime): Runtime {
    const budget = this.budgetOf(userId);
    return budget ? metered(runtime, budget) : runtime;
  }

  /**
   * Makes sure that there is room for what a request brings to be kept, beside what comes at the same time, until the function that it resolves to is
   * called. Throws `too_many` where there is none.
   */
  async admitStored({ userId }: Caller, endpoint: StoringEndpoint, request: Request): Promise<() => void> {
    if (!this.#has.storage || !isCounted(endpoint, request)) return () => {};
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
      await this.#measure(userId, endpoint);
      await meters.check(userId, METERS.storage, others + bytes);
      return done;
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Writes down what the caller has on disk, after a request that may have changed it. */
  async noteStored({ userId }: Caller, endpoint: StoringEndpoint, request: Pick<Request, 'files'>): Promise<void> {
    const frees = endpoint.method === 'DELETE' || FREEING.has(endpoint.id);
    if (!this.#has.storage || !(frees || isCounted(endpoint, request))) return;
    try {
      await this.#measure(userId, endpoint);
    } catch (error) {
      log('warn', 'what a user has on disk could not be written down', { user: userId, error });
    }
  }

  async #measure(userId: string, { id }: StoringEndpoint): Promise<void> {
    const bytes = await this.#tenants.storedBytes(userId, APPENDING.has(id) ? FOLDERS_AGO_MS : 0);
    await this.#accounts.meters.set(userId, METERS.storage, bytes);
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
function isCounted({ access, method, id }: StoringEndpoint, { files }: Pick<Request, 'files'>): boolean {
  return files.length > 0 || (method !== 'GET' && method !== 'DELETE' && (CHANGED_BY.has(access) || KEEPING.has(id) || APPENDING.has(id)));
}

function bytesOf({ files, body, header }: Request): number {
  if (files.length > 0) return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return Number(header('content-length') ?? JSON.stringify(body)?.length ?? 0);
}
