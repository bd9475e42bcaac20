import { type Kysely, sql } from 'kysely';
import type { Database } from './database.js';
import type { Tables } from './tables.js';

/**
 * Runs `work` while no other process that has this database open runs work under the same name. Waits at most a minute, then throws an
 * `Error`.
 */
export function locked<T>({ tables, language }: Database, name: string, work: () => Promise<T>): Promise<T> {
  return language === 'sqlite' ? withLockRecord(tables, name, work) : withServerLock(tables, language === 'postgres', name, work);
}

const LOCK_WAIT_MS = 60_000;

/** Asks for a lock until it is had. Throws an `Error` after a minute. */
async function held(name: string, claim: () => Promise<boolean>): Promise<void> {
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
    await held(name, async () => Boolean((await take.execute(connection)).rows[0]?.held));
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
  await held(name, claim);
  const renewing = setInterval(() => claim().catch(() => {}), LEASE_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await tables.deleteFrom('accounts_lock').where('name', '=', name).where('holder', '=', holder).execute();
  }
}
