import { type Client, createClient, type InArgs, type ResultSet } from '@libsql/client';
import type { SqliteSource, StatementAnswer } from './sqlite-over-queries.js';

/** How long a statement waits for another process that writes to the same file, in milliseconds. */
const BUSY_MS = 10_000;

/**
 * A SQLite file, or a server of libSQL (Turso). A file is asked one thing at a time: an interactive transaction beside another one
 * would be told that the database is busy. `address` begins with `file:`, `libsql:`, `http:`, `https:`, `ws:` or `wss:`.
 */
export function libsqlSource(address: string, authToken?: string): SqliteSource {
  const isFile = address.startsWith('file:');
  const client: Client = createClient({
    url: address,
    ...(authToken === undefined ? {} : { authToken }),
    ...(isFile ? { concurrency: 1, timeout: BUSY_MS } : {}),
  });
  const ready = isFile ? prepared(client) : Promise.resolve();
  ready.catch(() => {});
  return {
    oneAtATime: isFile,
    async run(statement, parameters) {
      await ready;
      return answer(await client.execute({ sql: statement, args: parameters as InArgs }));
    },
    async begin() {
      await ready;
      const transaction = await client.transaction('write');
      return {
        run: async (statement, parameters) => answer(await transaction.execute({ sql: statement, args: parameters as InArgs })),
        commit: () => transaction.commit(),
        rollback: () => transaction.rollback(),
      };
    },
    async close() {
      client.close();
    },
  };
}

/** The modes of a file that outlive no connection, but for the journal. */
async function prepared(client: Client): Promise<void> {
  await client.execute(`pragma busy_timeout = ${BUSY_MS}`);
  await client.execute('pragma journal_mode = wal');
  await client.execute('pragma synchronous = full');
  await client.execute('pragma foreign_keys = on');
}

function answer({ rows, columns, rowsAffected }: ResultSet): StatementAnswer {
  return {
    rows: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
    changed: rowsAffected,
  };
}
