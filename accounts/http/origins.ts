import { Failure } from '../../schemas/errors.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what a page of another origin makes a browser send with our cookie: `Failure('forbidden')` for a change whose Origin is
 * missing, "null" or none of the trusted ones. Requests without a cookie prove themselves by other means, and pass.
 */
export function refuseForeignOrigin(request: Request, trusted: readonly string[]): void {
  if (READS.has(request.method) || !request.headers.has('cookie')) return;
  const origin = request.headers.get('origin');
  if (origin !== null && trusted.includes(origin)) return;
  throw new Failure(
    'forbidden',
    origin === null
      ? 'a change that carries a cookie must name its origin; send the header Origin, or a bearer token instead of the cookie'
      : `pages of ${JSON.stringify(origin.slice(0, 200))} may not do this; add the origin to auth.trusted_origins if it is yours`,
    { code: 'foreign_origin' },
  );
}
