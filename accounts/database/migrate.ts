import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Database } from './database.js';
import { COLUMN_TYPES, type Migration, type SchemaSteps } from './migration.js';
import { people } from './migrations/1-people.js';
import { plans } from './migrations/2-plans.js';
import { credentials } from './migrations/3-credentials.js';
import { billing } from './migrations/4-billing.js';
import { nudges } from './migrations/5-nudges.js';
import type { Tables } from './tables.js';

/**
 * Runs `work` while no other process that has this database open runs work under the same name. Waits at most a minute, then throws an
 * `Error`.
 */
export function withLock<T>({ tables, language }: Database, name: string, work: () => Promise<T>): Promise<T> {
  return language === 'sqlite' ? withLockRecord(tables, name, work) : withServerLock(tables, language === 'postgres', name, work);
}

const LOCK_WAIT_MS = 60_000;

/** Asks for a lock until it is had. Throws an `Error` after a minute. */
async function acquireLock(name: string, claim: () => Promise<boolean>): Promise<void> {
  const started = Date.now();
  while (!(await claim())) {
    if (Date.now() - started > LOCK_WAIT_MS)
      throw new Error(`another process has held the lock ${name} of the accounts database for a minute`);
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
  }
}

/** A lock that the server gives back by itself when the connection ends. */
async function withServerLock<T>(tables: Kysely<Tables>, isPostgres: boolean, name: string, work: () => Promise<T>): Promise<T> {
  const key = `accounts:${name}`;
  const take = isPostgres
    ? sql<Held>`select pg_try_advisory_lock(hashtext(${key})) as held`
    : sql<Held>`select get_lock(${key}, 0) as held`;
  const giveBack = isPostgres ? sql`select pg_advisory_unlock(hashtext(${key}))` : sql`select release_lock(${key})`;
  return tables.connection().execute(async (connection) => {
    await acquireLock(name, async () => Boolean((await take.execute(connection)).rows[0]?.held));
    try {
      return await work();
    } finally {
      await giveBack.execute(connection);
    }
  });
}

interface Held {
  readonly held: boolean | number | null;
}

/** How long a lock record counts when its holder has ended without taking it away; one that lies further ahead than any of those who came a moment later is from before the clock was set back. */
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
  const claim = async (): Promise<boolean> => {
    const now = Date.now();
    await sql`insert into accounts_lock (name, holder, until) values (${name}, ${holder}, ${now + LEASE_MS})
      on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where accounts_lock.until < ${now} or accounts_lock.until > ${now + 2 * LEASE_MS} or accounts_lock.holder = ${holder}`.execute(
      tables,
    );
    const lock = await tables.selectFrom('accounts_lock').select('holder').where('name', '=', name).executeTakeFirst();
    return lock?.holder === holder;
  };
  await acquireLock(name, claim);
  const renewing = setInterval(() => claim().catch(() => {}), LEASE_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await tables.deleteFrom('accounts_lock').where('name', '=', name).where('holder', '=', holder).execute();
  }
}

const MIGRATIONS: readonly Migration[] = [people, plans, credentials, billing, nudges];
/** The version of the tables that this program reads and writes. */
export const TABLES_VERSION = MIGRATIONS.at(-1)!.version;

/**
 * Brings the tables to `TABLES_VERSION`, once, however many processes start at the same time. Throws an `Error` that says what to do:
 * for tables of a newer program, and for missing ones where `automatic` is false.
 */
export async function migrate(database: Database, automatic: boolean): Promise<void> {
  const found = await tablesVersion(database);
  refuseNewer(found);
  if (found === TABLES_VERSION) return;
  if (!automatic)
    throw new Error(
      `the accounts database has tables of version ${found}, and this program needs ${TABLES_VERSION}; ` +
        'set database.auto_migrate to true, or run "quern accounts migrate" once',
    );
  await withLock(database, 'migration', async () => {
    await steps(database).table('accounts_fact', (table) =>
      table
        .addColumn('name', COLUMN_TYPES[database.language].key, (column) => column.primaryKey())
        .addColumn('value', COLUMN_TYPES[database.language].text, (column) => column.notNull()),
    );
    const now = await tablesVersion(database);
    refuseNewer(now);
    for (const migration of MIGRATIONS.filter(({ version }) => version > now)) {
      await migration.up(steps(database), COLUMN_TYPES[database.language]);
      await writeVersion(database, migration.version);
    }
  });
}

function refuseNewer(found: number): void {
  if (found > TABLES_VERSION)
    throw new Error(
      `the accounts database was written by a newer version of this program (tables ${found}, known here ${TABLES_VERSION}); update the program`,
    );
}

const VERSION_FACT = 'tables';

/** The version of the tables that are there; 0 for none. */
export async function tablesVersion({ tables }: Database): Promise<number> {
  const there = await tables.introspection.getTables();
  if (!there.some(({ name }) => name === 'accounts_fact')) return 0;
  const fact = await tables.selectFrom('accounts_fact').select('value').where('name', '=', VERSION_FACT).executeTakeFirst();
  return Number(fact?.value ?? 0);
}

async function writeVersion({ tables }: Database, version: number): Promise<void> {
  const { numUpdatedRows } = await tables
    .updateTable('accounts_fact')
    .set({ value: String(version) })
    .where('name', '=', VERSION_FACT)
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    await tables
      .insertInto('accounts_fact')
      .values({ name: VERSION_FACT, value: String(version) })
      .execute();
}

function steps({ tables, language }: Database): SchemaSteps {
  return {
    async table(name, columns) {
      await columns(tables.schema.createTable(name).ifNotExists() as CreateTableBuilder<string, string>).execute();
    },
    async index(name, table, columns, { unique = false } = {}) {
      let index = tables.schema
        .createIndex(name)
        .on(table)
        .columns([...columns]);
      if (unique) index = index.unique();
      if (language !== 'mysql') return index.ifNotExists().execute();
      // MySQL has no word for "unless it is there".
      await index.execute().catch((error: { code?: string }) => {
        if (error.code !== 'ER_DUP_KEYNAME') throw error;
      });
    },
  };
}
