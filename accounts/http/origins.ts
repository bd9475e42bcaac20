import { Failure } from '../../schemas/errors.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Where browsers come back from a provider that answers with a form: from its origin, and what counts is the state that they bring. */
export const FROM_PROVIDERS = '/api/auth/callback/';

/**
 * Refuses what a page of another origin makes a browser send: `Failure('forbidden')` for a change whose Origin is "null" or none of the
 * trusted ones, for it could sign the person in to the account of another; and for one with a cookie and without an Origin. Requests with
 * a token of their own and those of programs, which have neither cookie nor Origin, pass.
 */
export function refuseForeignOrigin({ method, headers }: Pick<Request, 'method' | 'headers'>, trusted: readonly string[]): void {
  if (READS.has(method)) return;
  const origin = headers.get('origin');
  if (origin !== null && trusted.includes(origin)) return;
  const provesItself = origin === null || headers.has('authorization') || headers.has('x-api-key');
  if (provesItself && !headers.has('cookie')) return;
  throw new Failure(
    'forbidden',
    origin === null
      ? 'a change that carries a cookie must name its origin; send the header Origin, or a bearer token instead of the cookie'
      : `pages of ${JSON.stringify(origin.slice(0, 200))} may not do this; add the origin to auth.trusted_origins if it is yours`,
    { code: 'foreign_origin' },
  );
}
