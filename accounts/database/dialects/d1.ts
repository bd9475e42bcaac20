import { setTimeout as pause } from 'node:timers/promises';
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
const ANSWER_MS = 9000;
/** How often a question is asked again that the service had no room for, and how long it waits at most before that. */
const TRIES = 4;
const MOST_WAIT_MS = 2000;

/** What the query interface answers. */
interface D1Answer {
  readonly success?: boolean;
  readonly errors?: readonly { readonly code?: number; readonly message?: string }[];
  readonly result?: readonly (D1Result & { readonly success?: boolean; readonly error?: string })[];
}

/** What went wrong in the service's own words, without the token; the code is `D1_UNAVAILABLE` where another try may help. */
class D1Error extends Error {
  constructor(
    message: string,
    readonly code: 'D1_UNAVAILABLE' | 'D1_ERROR',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * A D1 database from outside a worker, by its query interface: `address` is
 * `https://<host>/client/v4/accounts/<account>/d1/database/<database>`, `token` one that may edit it. What the service has no room for is
 * asked again; throws an `Error` with the service's own words for what stays refused.
 */
export function d1OverHttp(address: string, token: string): SqliteSource {
  const url = `${address.replace(/\/+$/, '')}/query`;
  const once = (body: string, signal: AbortSignal): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal,
    });
  const asked = async (question: object): Promise<readonly StatementAnswer[]> => {
    const body = JSON.stringify(question);
    const signal = AbortSignal.timeout(ANSWER_MS);
    try {
      for (let tried = 1; ; tried += 1) {
        const response = await once(body, signal);
        // A question that was turned away was not run, so it may be asked again; one that failed halfway may have been.
        if (response.status !== 429 || tried === TRIES) return await answersIn(response);
        await response.arrayBuffer();
        await pause(waitMs(response.headers.get('retry-after'), tried), undefined, { signal });
      }
    } catch (error) {
      if (error instanceof D1Error) throw error;
      throw new D1Error(`D1 cannot be reached: ${(error as Error).message}`, 'D1_UNAVAILABLE', { cause: error });
    }
  };
  return {
    oneAtATime: false,
    run: async (statement, parameters) => (await asked({ sql: statement, params: parameters }))[0]!,
    batch: (statements) => asked({ batch: statements.map(({ statement, parameters }) => ({ sql: statement, params: parameters })) }),
    async close() {},
  };
}

/** The answers to each statement of a question. Throws a `D1Error` where one was not run. */
async function answersIn(response: Response): Promise<readonly StatementAnswer[]> {
  const { success, errors = [], result = [] } = (await response.json().catch(() => ({}))) as D1Answer;
  const failed = result.find((each) => each.success === false);
  if (response.ok && success === true && result.length > 0 && !failed) return result.map(answerOf);
  const words = failed?.error ?? errors.map(({ code, message }) => (code === undefined ? message : `${message} (${code})`)).join('; ');
  throw new D1Error(
    `D1 answered ${response.status}: ${words || 'no reason given'}`,
    response.status === 429 || response.status >= 500 ? 'D1_UNAVAILABLE' : 'D1_ERROR',
  );
}

function waitMs(retryAfter: string | null, tried: number): number {
  const told = Number(retryAfter ?? Number.NaN) * 1000;
  return Math.min(Number.isFinite(told) && told >= 0 ? told : 100 * 2 ** tried, MOST_WAIT_MS);
}
