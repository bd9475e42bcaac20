import { Failure } from '../../schemas/errors.js';

/** An endpoint of another method lies at the path. */
class MethodNotAllowed extends Failure {
  constructor(readonly allow: string) {
    super('not_allowed', 'Method Not Allowed');
  }
}

/** Nothing lies at the path. */
export function notFound(): Failure {
  return new Failure('not_found', 'Not Found');
}

/** Another method would be answered at the path. */
export function methodNotAllowed(methods: ReadonlyMap<string, unknown>): Failure {
  return new MethodNotAllowed(allowed(methods));
}

/** The methods of a path, as headers list them. */
export function allowed(methods: ReadonlyMap<string, unknown>): string {
  const names = [...methods.keys()];
  if (names.includes('GET')) names.push('HEAD');
  return [...names, 'OPTIONS'].join(', ');
}

/** A page of another origin asks for a change. */
export function originRefused(origin: string): Failure {
  const shown = JSON.stringify(origin.slice(0, 200));
  return new Failure(
    'forbidden',
    `Pages of origin ${shown} may not change anything here; start the daemon with this origin among its allowed ones.`,
    {
      code: 'OriginNotAllowed',
    },
  );
}

/** The headers that an answer about a failure carries. */
export function failureHeaders(failure: Failure): string[] {
  const headers = ['Content-Type', 'application/json'];
  if (failure.retryAfterS !== undefined) headers.push('Retry-After', String(Math.ceil(failure.retryAfterS)));
  if (failure.kind === 'unauthorized') headers.push('WWW-Authenticate', 'Bearer');
  if (failure instanceof MethodNotAllowed) headers.push('Allow', failure.allow);
  return headers;
}
