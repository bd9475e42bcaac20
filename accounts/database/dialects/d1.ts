import type { SqliteSource, StatementAnswer } from './sqlite-over-queries.js';

/** What a statement of D1 answers. */
interface D1Result {
  readonly results?: Record<string, unknown>[];
  readonly meta?: { changes?: number };
}

/** A statement with its parameters. */
interface D1Statement {
  all(): Promise<D1Result>;
}

/** What a worker's binding to a D1 database offers, as far as it is used here. */
export interface D1Binding {
  prepare(statement: string): { bind(...parameters: unknown[]): D1Statement };
  batch(statements: D1Statement[]): Promise<D1Result[]>;
}

/** A D1 database by its binding in a worker. It has no transactions, but batches. */
export function d1Source(binding: D1Binding): SqliteSource {
  const bound = (statement: string, parameters: readonly unknown[]): D1Statement => binding.prepare(statement).bind(...parameters);
  return {
    oneAtATime: false,
    run: async (statement, parameters) => answerOf(await bound(statement, parameters).all()),
    batch: async (statements) =>
      (await binding.batch(statements.map(({ statement, parameters }) => bound(statement, parameters)))).map(answerOf),
    async close() {},
  };
}

function answerOf({ results = [], meta }: D1Result): StatementAnswer {
  return { rows: results, changed: meta?.changes ?? 0 };
}

/** How long a D1 database may take to answer over HTTP, in milliseconds. */
const ANSWER_MS = 30_000;

interface D1Answer {
  readonly success?: boolean;
  readonly errors?: { message?: string }[];
  readonly result?: D1Result[];
}

/**
 * A D1 database from outside a worker, by its query interface: `address` is
 * `https://<host>/client/v4/accounts/<account>/d1/database/<database>`, `token` one that may edit it. Throws an `Error` with the
 * service's own words, without the token.
 */
export function d1OverHttp(address: string, token: string): SqliteSource {
  const asked = async (body: object): Promise<readonly StatementAnswer[]> => {
    const response = await fetch(`${address.replace(/\/+$/, '')}/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { success, errors, result = [] } = (await response.json().catch(() => ({}))) as D1Answer;
    if (!response.ok || success !== true || result.length === 0)
      throw new Error(`D1 answered ${response.status}: ${errors?.map(({ message }) => message).join('; ') || 'no reason given'}`);
    return result.map(answerOf);
  };
  return {
    oneAtATime: false,
    run: async (statement, parameters) => (await asked({ sql: statement, params: parameters }))[0]!,
    batch: (statements) => asked({ batch: statements.map(({ statement, parameters }) => ({ sql: statement, params: parameters })) }),
    async close() {},
  };
}
