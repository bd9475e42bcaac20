import { Failure, STATUS_OF_KIND } from '../../schemas/errors.js';

/** A value as JSON that no cache keeps. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}

/**
 * What went wrong, as an answer: `error` is a name for programs, `message` (and `detail`, the same) a sentence for people. What is no
 * `Failure` is told to `report` and answered with 500 and without its words; so is what caused a `Failure`.
 */
export function answerOf(error: unknown, report: (error: unknown) => void): Response {
  if (!(error instanceof Failure)) {
    report(error);
    return json(
      {
        error: 'internal',
        code: 'INTERNAL',
        message: 'something went wrong here; the log says what',
        detail: 'something went wrong here; the log says what',
      },
      500,
    );
  }
  const { kind, code, message, fields, retryAfterS, cause } = error;
  if (cause !== undefined) report(cause);
  return json(
    { error: code, code: code.toUpperCase(), message, detail: message, ...fields },
    STATUS_OF_KIND[kind],
    retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) },
  );
}
