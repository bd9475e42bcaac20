import type { CompiledQuery, DatabaseConnection, Dialect, Driver, OperationNode, QueryResult, TransactionSettings } from 'kysely';
import { Failure } from '../../schemas/errors.js';

/** What a statement did to the records of a table, once others can see it. */
export interface Change {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
}

/** What a watched database tells of itself. */
export interface Watcher {
  /** Records were changed, by this process. */
  changed(change: Change): void;
  /** Makes of a driver's error the one that the asker gets. */
  failed(error: unknown): unknown;
  /** Whether an error says that another process is writing, so that the same statement may be run again. */
  isBusy(error: unknown): boolean;
}

/** How long a connection and each statement may take, in milliseconds. */
export const ANSWER_MS = 10_000;
/** How long a statement waits before it is run again while another process writes. */
const BUSY_WAIT_MS = { least: 2, most: 50 } as const;

/** What is thrown for a database that does not answer in time. */
export class NoAnswer extends Error {
  constructor() {
    super(`no answer within ${ANSWER_MS / 1000} s`);
  }
}

/**
 * A dialect whose statements are watched: each has ten seconds, waits without holding the event loop while another process writes, fails in
 * words that the watcher chooses, and tells what it has changed.
 */
export function watchedDialect(dialect: Dialect, watcher: Watcher): Dialect {
  return {
    createDriver: () => new WatchedDriver(dialect.createDriver(), watcher),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (database) => dialect.createIntrospector(database),
  };
}

class WatchedDriver implements Driver {
  readonly #driver: Driver;
  readonly #watcher: Watcher;

  constructor(driver: Driver, watcher: Watcher) {
    this.#driver = driver;
    this.#watcher = watcher;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<WatchedConnection> {
    const opening = this.#driver.acquireConnection();
    try {
      return new WatchedConnection(await inTime(opening), this.#watcher);
    } catch (error) {
      // One that comes too late goes back to where it came from.
      if (error instanceof NoAnswer)
        opening.then(
          (late) => this.#driver.releaseConnection(late),
          () => {},
        );
      throw this.#watcher.failed(error);
    }
  }

  beginTransaction(connection: WatchedConnection, settings: TransactionSettings): Promise<void> {
    return connection.begin(() => this.#driver.beginTransaction(connection.inner, settings));
  }

  commitTransaction(connection: WatchedConnection): Promise<void> {
    return connection.end(true, () => this.#driver.commitTransaction(connection.inner));
  }

  rollbackTransaction(connection: WatchedConnection): Promise<void> {
    return connection.end(false, () => this.#driver.rollbackTransaction(connection.inner));
  }

  /** A connection whose statement was given up is kept from others until that has ended; so is one whose transaction may be open. */
  async releaseConnection(connection: WatchedConnection): Promise<void> {
    const release = async (): Promise<void> => {
      if (connection.mayBeOpen) await this.#driver.rollbackTransaction(connection.inner).catch(() => {});
      await this.#driver.releaseConnection(connection.inner);
    };
    if (connection.isIdle) await release();
    else void connection.idle.then(release);
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class WatchedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #watcher: Watcher;
  /** What an open transaction has changed; undefined outside of one. */
  #pending: Change[] | undefined;
  /** Resolves once no statement runs. */
  idle: Promise<unknown> = Promise.resolve();
  isIdle = true;
  /** Whether a transaction was begun or ended without success. */
  mayBeOpen = false;

  constructor(inner: DatabaseConnection, watcher: Watcher) {
    this.inner = inner;
    this.#watcher = watcher;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const result = await this.#ran(() => this.inner.executeQuery<Row>(query));
    const change = changeOf(query.query);
    if (change && this.#pending) this.#pending.push(change);
    else if (change) this.#watcher.changed(change);
    return result;
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.inner.streamQuery<Row>(query, chunkSize);
  }

  async begin(work: () => Promise<void>): Promise<void> {
    this.mayBeOpen = true;
    await this.#ran(work);
    this.#pending = [];
  }

  async end(isKept: boolean, work: () => Promise<void>): Promise<void> {
    const changes = this.#pending ?? [];
    this.#pending = undefined;
    try {
      await this.#ran(work);
      this.mayBeOpen = false;
    } finally {
      // A commit whose answer was lost may have been made.
      if (isKept) for (const change of changes) this.#watcher.changed(change);
    }
  }

  /** Runs a statement, again while another process writes, and gives it up when its time is over. */
  async #ran<Result>(work: () => Promise<Result>): Promise<Result> {
    const until = Date.now() + ANSWER_MS;
    for (let wait: number = BUSY_WAIT_MS.least; ; wait = Math.min(2 * wait, BUSY_WAIT_MS.most)) {
      const running = work();
      this.isIdle = false;
      this.idle = running.then(
        () => (this.isIdle = true),
        () => (this.isIdle = true),
      );
      try {
        return await inTime(running);
      } catch (error) {
        if (!this.#watcher.isBusy(error) || Date.now() + wait > until) throw this.#watcher.failed(error);
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** The promise, or a `NoAnswer` when it is not settled in time. */
async function inTime<Result>(running: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer()), ANSWER_MS);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a statement changes; undefined for one that reads, or that makes tables. */
function changeOf(node: OperationNode): Change | undefined {
  const { kind } = node;
  if (kind === 'InsertQueryNode') return { kind: 'insert', table: tableOf((node as Parts).into) };
  if (kind === 'UpdateQueryNode') return { kind: 'update', table: tableOf((node as Parts).table) };
  if (kind === 'DeleteQueryNode') return { kind: 'delete', table: tableOf((node as Parts).from?.froms[0]) };
  return undefined;
}

type Parts = OperationNode & { into?: OperationNode; table?: OperationNode; from?: { froms: readonly OperationNode[] } };

function tableOf(node: OperationNode | undefined): string {
  return (node as { table?: { identifier?: { name?: string } } } | undefined)?.table?.identifier?.name ?? '';
}

/** Seconds after which a client may ask a database again that did not answer. */
const RETRY_AFTER_S = 5;

/** What drivers and systems say when a connection cannot be had, or is gone. */
const GONE =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|PROTOCOL_CONNECTION_LOST|PROTOCOL_ENQUEUE_AFTER_\w+|POOL_\w+|UND_ERR_\w+|HRANA_\w+|SERVER_ERROR|CLIENT_CLOSED|STREAM_\w+|D1_UNAVAILABLE)$/;
/** Conditions of PostgreSQL: no connection, no resources, being shut down, a statement or a lock that took too long, a conflict of transactions. */
const POSTGRES = /^(?:08\w{3}|53[023]00|57P\d\d|57014|55P03|40001|40P01)$/;
const MYSQL =
  /^ER_(?:CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|SERVER_SHUTDOWN|LOCK_WAIT_TIMEOUT|LOCK_DEADLOCK|STATEMENT_TIMEOUT|QUERY_TIMEOUT|QUERY_INTERRUPTED|CONNECTION_KILLED|OPTION_PREVENTS_STATEMENT|OUT_OF_RESOURCES)$/;
const SQLITE = /^SQLITE_(?:BUSY|LOCKED|IOERR|CANTOPEN|READONLY|PROTOCOL|NOMEM)/;
const FULL = /^(?:SQLITE_FULL|53100|ER_DISK_FULL|ER_RECORD_FILE_FULL|ENOSPC)$/;
const WORDS = /connection terminated|connection lost|timeout exceeded when trying to connect|fetch failed|socket hang up|pool is closed/i;

/** Whether SQLite says that another connection is writing. */
export function isBusy(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED');
}

/**
 * What a driver's error means to who asked: `Failure('unavailable')` with the seconds to wait for a database that does not answer,
 * `Failure('disk_full')` for one without room; other errors as they are.
 */
export function asFailure(error: unknown, adapter: string): unknown {
  if (error instanceof Failure) return error;
  const codes = codesOf(error);
  if (codes.some((code) => FULL.test(code)))
    return new Failure('disk_full', 'the accounts database has no room left; nothing was changed, make room and try again', {
      code: 'database_full',
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  const isGone =
    error instanceof NoAnswer ||
    codes.some((code) => GONE.test(code) || POSTGRES.test(code) || MYSQL.test(code) || SQLITE.test(code)) ||
    messagesOf(error).some((message) => WORDS.test(message));
  if (!isGone) return error;
  return new Failure('unavailable', `the accounts database (${adapter}) does not answer; try again in ${RETRY_AFTER_S} s`, {
    code: 'database_unavailable',
    retryAfterS: RETRY_AFTER_S,
    cause: error,
  });
}

/** An error with what caused it, outermost first. */
function chainOf(error: unknown): readonly { code?: unknown; message?: unknown }[] {
  const chain: { code?: unknown; message?: unknown; cause?: unknown }[] = [];
  for (let each = error; typeof each === 'object' && each !== null && chain.length < 5; each = (each as { cause?: unknown }).cause)
    chain.push(each);
  return chain;
}

function codesOf(error: unknown): readonly string[] {
  return chainOf(error).flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
}

function messagesOf(error: unknown): readonly string[] {
  return chainOf(error).flatMap(({ message }) => (typeof message === 'string' ? [message] : []));
}
