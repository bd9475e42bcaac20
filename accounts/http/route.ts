import type { Caller } from '../identity/sessions.js';

/** Methods that servers take, and that a `Request` cannot have. */
export const UNASKABLE: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** A request on its way through a route. */
export interface Call {
  readonly request: Request;
  readonly url: URL;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The body as it came, at most `MAX_BODY_BYTES`. */
  readonly bytes: Uint8Array;
  /** The body as an object; throws `Failure` for one that is none. */
  body(): Record<string, unknown>;
  /** From where the request comes, proxies that are trusted left out. */
  readonly address: string;
  /** What counts as one visitor for limits. */
  readonly visitor: string;
  /** Who asks; undefined for nobody. */
  caller(): Promise<Caller | undefined>;
  /** Who asks by a session, a device or a key; `Failure('unauthorized')` for nobody. */
  signedIn(): Promise<Caller>;
  /** Who asks by a session alone; `Failure('unauthorized')` for nobody, `Failure('forbidden')` for a device or a key. */
  inSession(): Promise<Caller>;
}

/** One endpoint: a value that it returns is sent as JSON with status 200. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/api/module/usage/:meterId`. */
  readonly path: string;
  /** Most bytes of the body; `MAX_BODY_BYTES` where absent. */
  readonly mostBytes?: number;
  run(call: Call): Promise<unknown>;
}

/** The route of a path with its parts; `allow` names the methods that the path has where the asked one is not among them. */
export function routeOf(
  routes: readonly Route[],
  method: string,
  path: string,
): { route?: Route; params: Record<string, string>; allow: readonly string[] } {
  const allow: string[] = [];
  for (const route of routes) {
    const params = partsOf(route.path, path);
    if (!params) continue;
    if (route.method === method) return { route, params, allow };
    allow.push(route.method);
  }
  return { params: {}, allow };
}

function partsOf(pattern: string, path: string): Record<string, string> | undefined {
  const names = pattern.split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index]!;
    if (!name.startsWith(':')) {
      if (name !== part) return undefined;
      continue;
    }
    try {
      params[name.slice(1)] = decodeURIComponent(part);
    } catch {
      return undefined;
    }
    if (part === '') return undefined;
  }
  return params;
}

/** A whole number from 0 on of a query; what is none, or beyond 2^53, is 0. */
export function wholeFrom(text: string | null): number {
  const value = Number(text ?? 0);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
