import { createRequire } from 'node:module';
import { type Dialect, type InsertQueryBuilder, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely';
import type { DatabaseSettings } from '../config/settings.js';
import type { D1Binding } from './dialects/d1.js';
import type { Tables } from './tables.js';

/** The languages of the five adapters. */
export type DatabaseLanguage = 'sqlite' | 'postgres' | 'mysql';

/** An open database of accounts. */
export interface Database {
  readonly tables: Kysely<Tables>;
  readonly language: DatabaseLanguage;
  /** Whether several statements can be one step; D1 has no transactions, so each change there is one conditional statement. */
  readonly transactional: boolean;
  /** Runs `work` while no other process that has this database open runs work under the same name. Waits at most a minute. */
  locked<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The insert, which adds no record where one with such a unique value is there already, and does not fail. */
  newOnly<Table extends keyof Tables, Result>(insert: InsertQueryBuilder<Tables, Table, Result>): InsertQueryBuilder<Tables, Table, Result>;
  /** Whether an error says that a record with such a unique value is there already. */
  isDuplicate(error: unknown): boolean;
  close(): Promise<void>;
}

const loadModule = createRequire(import.meta.url);

/**
 * Opens the database that the settings name. `binding` is a worker's binding, for the adapter `d1`. Nothing is asked of the database yet,
 * but for a SQLite file, which is made where there is none.
 */
export async function openDatabase(settings: DatabaseSettings, binding?: D1Binding): Promise<Database> {
  const { dialect, language, transactional } = await opened(settings, binding);
  const tables = new Kysely<Tables>({ dialect });
  return {
    tables,
    language,
    transactional,
    locked: (name, work) => (language === 'sqlite' ? withLockRecord(tables, name, work) : withServerLock(tables, language, name, work)),
    newOnly: (insert) => (language === 'mysql' ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())),
    isDuplicate,
    close: () => tables.destroy(),
  };
}

interface Opened {
  readonly dialect: Dialect;
  readonly language: DatabaseLanguage;
  readonly transactional: boolean;
}

async function opened({ adapter, url, token }: DatabaseSettings, binding: D1Binding | undefined): Promise<Opened> {
  switch (adapter) {
    case 'pg': {
      const { default: pg } = await import('pg');
      // 64-bit integers arrive as texts otherwise; ours are times and counts below 2^53.
      const types = {
        getTypeParser: (id: number, format?: 'text' | 'binary') => (id === 20 ? Number : pg.types.getTypeParser(id, format as 'text')),
      };
      const pool = new pg.Pool({ connectionString: url, types, max: 10 });
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
      const pool = createPool({ uri: url, timezone: 'Z', connectionLimit: 10, supportBigNumbers: true });
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
  const database = new Sqlite(path, { timeout: 10_000 });
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on']) database.pragma(pragma);
  return new SqliteDialect({ database: database as never });
}

/** What each driver says of a second record with the same unique value: SQLite, PostgreSQL and MySQL in turn. */
function isDuplicate(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '23505' || code === 'ER_DUP_ENTRY' || /UNIQUE constraint failed/i.test(String(message));
}

const LOCK_WAIT_MS = 60_000;

/** A lock that the server gives back by itself when the connection ends. */
async function withServerLock<T>(tables: Kysely<Tables>, language: DatabaseLanguage, name: string, work: () => Promise<T>): Promise<T> {
  return tables.connection().execute(async (connection) => {
    if (language === 'postgres') {
      await sql`select pg_advisory_lock(hashtext(${`accounts:${name}`}))`.execute(connection);
      try {
        return await work();
      } finally {
        await sql`select pg_advisory_unlock(hashtext(${`accounts:${name}`}))`.execute(connection);
      }
    }
    const { rows } = await sql<{ held: number | null }>`select get_lock(${`accounts:${name}`}, ${LOCK_WAIT_MS / 1000}) as held`.execute(
      connection,
    );
    if (rows[0]?.held !== 1) throw new Error(`another process has held the lock ${name} of the accounts database for a minute`);
    try {
      return await work();
    } finally {
      await sql`select release_lock(${`accounts:${name}`})`.execute(connection);
    }
  });
}

/** How long a lock record counts when its holder has ended without taking it away. */
const LEASE_MS = 20_000;

/** A lock as a record with a lease, for databases whose transactions, if any, cannot span the statements of a migration. */
async function withLockRecord<T>(tables: Kysely<Tables>, name: string, work: () => Promise<T>): Promise<T> {
  await tables.schema
    .createTable('accounts_lock')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .execute();
  const holder = crypto.randomUUID();
  const started = Date.now();
  const claim = async (): Promise<boolean> => {
    const now = Date.now();
    await sql`insert into accounts_lock (name, holder, until) values (${name}, ${holder}, ${now + LEASE_MS})
      on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where accounts_lock.until < ${now} or accounts_lock.holder = ${holder}`.execute(tables);
    const held = await tables.selectFrom('accounts_lock').select('holder').where('name', '=', name).executeTakeFirst();
    return held?.holder === holder;
  };
  while (!(await claim())) {
    if (Date.now() - started > LOCK_WAIT_MS)
      throw new Error(`another process has held the lock ${name} of the accounts database for a minute`);
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
  }
  const renewing = setInterval(() => claim().catch(() => {}), LEASE_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await tables.deleteFrom('accounts_lock').where('name', '=', name).where('holder', '=', holder).execute();
  }
}
