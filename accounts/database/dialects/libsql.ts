import { type Client, createClient, type InArgs, type ResultSet } from '@libsql/client';
import type { SqliteSource, StatementAnswer } from './sqlite-over-queries.js';

/**
 * A SQLite file, or a server of libSQL (Turso). A file is asked one thing at a time: an interactive transaction beside another one
 * would be told that the database is busy. `address` begins with `file:`, `libsql:`, `http:`, `https:`, `ws:` or `wss:`.
 */
export function libsqlSource(address: string, authToken?: string): SqliteSource {
  const isFile = address.startsWith('file:');
  const client: Client = createClient({
    url: address,
    ...(authToken === undefined ? {} : { authToken }),
    ...(isFile ? { concurrency: 1, timeout: 0 } : {}),
  });
  let ready: Promise<void> | undefined;
  /** Asks a connection whose modes are set; the client may replace one that has failed. */
  const asked = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    try {
      ready ??= isFile ? prepareConnection(client) : Promise.resolve();
      await ready;
      return await work();
    } catch (error) {
      ready = undefined;
      throw error;
    }
  };
  return {
    oneAtATime: isFile,
    run: (statement, parameters) => asked(async () => queryResult(await client.execute({ sql: statement, args: parameters as InArgs }))),
    begin: () =>
      asked(async () => {
        const transaction = await client.transaction('write');
        return {
          run: async (statement, parameters) => queryResult(await transaction.execute({ sql: statement, args: parameters as InArgs })),
          commit: () => asked(() => transaction.commit()),
          rollback: () => asked(() => transaction.rollback()),
        };
      }),
    async close() {
      client.close();
    },
  };
}

/** The modes of a file that outlive no connection, but for the journal. SQLite's own wait for other processes would hold the event loop. */
async function prepareConnection(client: Client): Promise<void> {
  await client.execute('pragma busy_timeout = 0');
  await client.execute('pragma journal_mode = wal');
  await client.execute('pragma synchronous = full');
  await client.execute('pragma foreign_keys = on');
}

function queryResult({ rows, columns, rowsAffected }: ResultSet): StatementAnswer {
  return {
    rows: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
    changed: rowsAffected,
  };
}
