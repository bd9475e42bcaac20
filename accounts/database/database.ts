import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { type Dialect, type InsertQueryBuilder, Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import { Failure } from '../../schemas/errors.js';
import type { Adapter, DatabaseSettings, Settings } from '../config/settings.js';
import type { D1Binding } from './dialects/d1.js';
import type { Tables } from './tables.js';
import { ANSWER_MS, asFailure, type Change, isBusy, watchedDialect } from './watched-dialect.js';

/** The languages of the five adapters. */
export type DatabaseLanguage = 'sqlite' | 'postgres' | 'mysql';

/**
 * An open database of accounts. A statement has ten seconds; one that finds no database throws `Failure('unavailable')`, one without room
 * `Failure('disk_full')`.
 */
export interface Database {
  readonly tables: Kysely<Tables>;
  readonly language: DatabaseLanguage;
  /** Whether several statements can be one step; D1 has no transactions, so each change there is one conditional statement. */
  readonly transactional: boolean;
  /** Tells a listener of what this process changes, once others can see it. */
  onChange(listener: (change: Change) => void): void;
  /** Runs work of others, which may hide that the database failed: `failure` is the first time that it did. */
  failureDuring<T>(work: () => Promise<T>): Promise<{ value: T; failure: Failure | undefined }>;
  /** The insert, which adds no record where one with such a unique value is there already, and does not fail. */
  newOnly<Table extends keyof Tables, Result>(insert: InsertQueryBuilder<Tables, Table, Result>): InsertQueryBuilder<Tables, Table, Result>;
  /** Whether an error says that a record with such a unique value is there already. */
  isDuplicate(error: unknown): boolean;
  close(): Promise<void>;
}

/** Most connections to a server at once. */
const CONNECTIONS = 10;

const loadModule = createRequire(import.meta.url);

/**
 * Opens the database that the settings name. `binding` is a worker's binding, for the adapter `d1`. Nothing is asked of the database yet,
 * but for a SQLite file, which is made where there is none.
 */
export async function openDatabase(settings: DatabaseSettings, binding?: D1Binding): Promise<Database> {
  return databaseOf(settings.adapter, await driverOf(settings, binding));
}

/** A database by its driver. */
export function databaseOf(adapter: Adapter, { dialect, language, transactional }: DatabaseDriver): Database {
  const listeners: ((change: Change) => void)[] = [];
  const failures = new AsyncLocalStorage<{ first?: Failure }>();
  const watched = watchedDialect(dialect, {
    changed: (change) => {
      for (const listener of listeners) listener(change);
    },
    failed(error) {
      const failure = asFailure(error, adapter);
      const noted = failures.getStore();
      if (noted && failure instanceof Failure) noted.first ??= failure;
      return failure;
    },
    isBusy,
  });
  const tables = new Kysely<Tables>({ dialect: watched });
  return {
    tables,
    language,
    transactional,
    onChange: (listener) => void listeners.push(listener),
    async failureDuring(work) {
      const noted: { first?: Failure } = {};
      const value = await failures.run(noted, work);
      return { value, failure: noted.first };
    },
    newOnly: (insert) => (language === 'mysql' ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())),
    isDuplicate,
    close: () => tables.destroy(),
  };
}

/** How a database is spoken to. */
export interface DatabaseDriver {
  readonly dialect: Dialect;
  readonly language: DatabaseLanguage;
  readonly transactional: boolean;
}

/** The driver of the database that the settings name. */
export async function driverOf({ adapter, url, token }: DatabaseSettings, binding: D1Binding | undefined): Promise<DatabaseDriver> {
  switch (adapter) {
    case 'pg': {
      const { default: pg } = await import('pg');
      // 64-bit integers arrive as texts otherwise; ours are times and counts below 2^53.
      const types = {
        getTypeParser: (id: number, format?: 'text' | 'binary') => (id === 20 ? Number : pg.types.getTypeParser(id, format as 'text')),
      };
      const pool = new pg.Pool({ connectionString: url, types, max: CONNECTIONS, statement_timeout: ANSWER_MS });
      // Unheard, the end of a connection that nobody uses would end the process; the pool opens another when it is asked.
      pool.on('error', () => {});
      return {
        dialect: new PostgresDialect({ pool }),
        language: 'postgres',
        transactional: true,
      };
    }
    case 'mysql': {
      const { createPool } = await import('mysql2');
      const pool = createPool({ uri: url, timezone: 'Z', connectionLimit: CONNECTIONS, supportBigNumbers: true });
      // A statement that waits for a lock longer than anybody waits for its answer would keep its connection.
      pool.on('connection', (connection) => connection.query(`set innodb_lock_wait_timeout = ${ANSWER_MS / 1000}`, () => {}));
      return { dialect: new MysqlDialect({ pool }), language: 'mysql', transactional: true };
    }
    case 'd1': {
      const [{ SqliteOverQueries }, { d1Source, d1OverHttp }] = await Promise.all([
        import('./dialects/sqlite-over-queries.js'),
        import('./dialects/d1.js'),
      ]);
      const source = binding ? d1Source(binding) : d1OverHttp(url, token ?? '');
      return { dialect: new SqliteOverQueries(source), language: 'sqlite', transactional: false };
    }
    case 'turso':
      return { dialect: await libsql(url, token), language: 'sqlite', transactional: true };
    case 'sqlite':
      return { dialect: fromBetterSqlite(url) ?? (await libsql(`file:${url}`)), language: 'sqlite', transactional: true };
  }
}

async function libsql(address: string, token?: string): Promise<Dialect> {
  const [{ SqliteOverQueries }, { libsqlSource }] = await Promise.all([
    import('./dialects/sqlite-over-queries.js'),
    import('./dialects/libsql.js'),
  ]);
  return new SqliteOverQueries(libsqlSource(address, token));
}

/** better-sqlite3 compiles at its installation, so it is used where the server's developer has it, and not asked for. */
function fromBetterSqlite(path: string): Dialect | undefined {
  let Sqlite: new (path: string, options: { timeout: number }) => { pragma(statement: string): unknown };
  try {
    Sqlite = loadModule('better-sqlite3');
  } catch {
    return undefined;
  }
  const database = new Sqlite(path, { timeout: 0 });
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on']) database.pragma(pragma);
  return new SqliteDialect({ database: database as never });
}

/** What each driver says of a second record with the same unique value: SQLite, PostgreSQL and MySQL in turn. */
function isDuplicate(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '23505' || code === 'ER_DUP_ENTRY' || /UNIQUE constraint failed/i.test(String(message));
}

/** What every part of the library stands on. */
export interface Ground {
  readonly settings: Settings;
  readonly database: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Takes a line for the server's log. */
  readonly print: (line: string) => void;
}
