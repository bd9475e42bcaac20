import type { CreateTableBuilder } from 'kysely';
import { COLUMN_TYPES } from './column-types.js';
import type { Database } from './database.js';
import { locked } from './locked.js';
import type { Migration, SchemaSteps } from './migration.js';
import { people } from './migrations/1-people.js';
import { plans } from './migrations/2-plans.js';
import { credentials } from './migrations/3-credentials.js';
import { billing } from './migrations/4-billing.js';
import { nudges } from './migrations/5-nudges.js';

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
  await locked(database, 'migration', async () => {
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
