import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Ground } from '../ground.js';
import { isSealed, sealed } from './sealed-tokens.js';

/** Who asks. */
export interface Caller {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  /** Roles, such as `user` or `admin`. */
  readonly roles: readonly string[];
  /** By what the caller proved it: only a session may make keys, approve devices, pay or administer. */
  readonly via: 'session' | 'device' | 'api_key';
  /** The session, device or key. */
  readonly credentialId: string;
  /** What a key is limited to; undefined where it is not. */
  readonly scopes?: readonly string[];
}

/** Who asks, and until when that may be believed without asking the database again; in milliseconds since 1970. */
export interface Proof {
  readonly caller: Caller;
  readonly until: number;
}

/** Reads sessions of requests, from the cookie or from a bearer token. */
export class Sessions {
  readonly #ground: Ground;
  readonly #cookie: string;

  constructor(ground: Ground, cookie: string) {
    this.#ground = ground;
    this.#cookie = cookie;
  }

  /** The token that a request carries: of the cookie where its signature is ours, or else of `Authorization: Bearer`; undefined for none. */
  tokenOf(headers: Headers): string | undefined {
    // A neighbour on the same domain may have planted another cookie of this name: the one that we signed counts.
    const fromCookie = cookiesOf(headers.get('cookie'), this.#cookie).flatMap((value) => this.#opened(value) ?? [])[0];
    const bearer = /^bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const fromBearer = bearer === undefined ? undefined : bearer.includes('.') ? this.#opened(decoded(bearer)) : bearer;
    const token = fromCookie ?? fromBearer;
    return token === undefined || isSealed(token) ? undefined : token;
  }

  /** The cookie of a token as the present secret signs it, as `name=value`. */
  cookieFor(token: string): string {
    return `${this.#cookie}=${encodeURIComponent(`${token}.${signature(token, this.#ground.settings.secrets[0]!)}`)}`;
  }

  /** Who asks by a session's token; undefined for one that does not hold, also when the user is banned. */
  async proofOf(token: string): Promise<Proof | undefined> {
    const row = await this.#ground.database.tables
      .selectFrom('session')
      .innerJoin('user', 'user.id', 'session.userId')
      .select([
        'session.id as sessionId',
        'session.expiresAt',
        'user.id as userId',
        'user.email',
        'user.name',
        'user.role',
        'user.banned',
        'user.banExpires',
      ])
      .where('session.token', '=', sealed(token))
      .executeTakeFirst();
    if (!row || momentOf(row.expiresAt) <= this.#ground.now() || isBanned(row, this.#ground.now())) return undefined;
    const { userId, email, name, role, sessionId } = row;
    return {
      caller: { userId, email, name, roles: rolesOf(role), via: 'session', credentialId: sessionId },
      until: momentOf(row.expiresAt),
    };
  }

  /** The token of a signed text `<token>.<signature>`, when one of the secrets made it. */
  #opened(value: string): string | undefined {
    const at = value.lastIndexOf('.');
    const token = value.slice(0, at);
    const given = Buffer.from(value.slice(at + 1), 'base64');
    const isOurs = this.#ground.settings.secrets.some((secret) => {
      const right = Buffer.from(signature(token, secret), 'base64');
      return right.length === given.length && timingSafeEqual(right, given);
    });
    return at > 0 && isOurs ? token : undefined;
  }
}

/** The way better-auth signs its cookies. */
function signature(token: string, secret: string): string {
  return createHmac('sha256', secret).update(token).digest('base64');
}

/** The values of all cookies of a name. */
function cookiesOf(header: string | null, name: string): readonly string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => decoded(pair.slice(name.length + 1)));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Milliseconds since 1970 of a date as a database gives it. */
export function momentOf(value: Date | string): number {
  return new Date(value).getTime();
}

/** Whether a user may not sign in now. */
export function isBanned(
  { banned, banExpires }: { banned: boolean | number | null; banExpires: Date | string | null },
  now: number,
): boolean {
  return Boolean(banned) && (banExpires === null || momentOf(banExpires) > now);
}

/** Roles as better-auth writes them: one, or several with commas. */
export function rolesOf(role: string | null): readonly string[] {
  return (role ?? 'user')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
}
