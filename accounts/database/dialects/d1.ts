import type { SqliteSource, StatementAnswer } from './sqlite-over-queries.js';

/** What a worker's binding to a D1 database offers, as far as it is used here. */
export interface D1Binding {
  prepare(statement: string): {
    bind(...parameters: unknown[]): { all(): Promise<{ results?: Record<string, unknown>[]; meta: { changes?: number } }> };
  };
}

/** A D1 database by its binding in a worker. It has no transactions. */
export function d1Source(binding: D1Binding): SqliteSource {
  return {
    oneAtATime: false,
    async run(statement, parameters) {
      const { results = [], meta } = await binding
        .prepare(statement)
        .bind(...parameters)
        .all();
      return { rows: results, changed: meta.changes ?? 0 };
    },
    async close() {},
  };
}

/** How long a D1 database may take to answer over HTTP, in milliseconds. */
const ANSWER_MS = 30_000;

interface D1Answer {
  readonly success?: boolean;
  readonly errors?: { message?: string }[];
  readonly result?: { results?: Record<string, unknown>[]; meta?: { changes?: number } }[];
}

/**
 * A D1 database from outside a worker, by its query interface: `address` is
 * `https://<host>/client/v4/accounts/<account>/d1/database/<database>`, `token` one that may edit it. Throws an `Error` with the
 * service's own words, without the token.
 */
export function d1OverHttp(address: string, token: string): SqliteSource {
  return {
    oneAtATime: false,
    async run(statement, parameters): Promise<StatementAnswer> {
      const response = await fetch(`${address.replace(/\/+$/, '')}/query`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ sql: statement, params: parameters }),
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const body = (await response.json().catch(() => ({}))) as D1Answer;
      const [result] = body.result ?? [];
      if (!response.ok || body.success !== true || result === undefined)
        throw new Error(`D1 answered ${response.status}: ${body.errors?.map(({ message }) => message).join('; ') || 'no reason given'}`);
      return { rows: result.results ?? [], changed: result.meta?.changes ?? 0 };
    },
    async close() {},
  };
}
