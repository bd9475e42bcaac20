import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Ground } from '../database/database.js';
import { isSealed, sealToken } from './sealed-tokens.js';

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

/** Most tokens of one request that are looked at. */
const MOST_TOKENS = 4;

/** Reads sessions of requests, from the cookie or from a bearer token. */
export class Sessions {
  readonly #ground: Ground;
  readonly #cookie: string;

  constructor(ground: Ground, cookie: string) {
    this.#ground = ground;
    this.#cookie = cookie;
  }

  /**
   * The tokens that a request carries, of which the first that holds counts: that of `Authorization: Bearer`, which a program sends on
   * purpose, and those of cookies that we signed, for a neighbour on the same domain may have planted others of this name.
   */
  tokensOf(headers: Headers): readonly string[] {
    const bearer = /^bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const fromBearer = bearer?.includes('.') ? this.#opened(decodeJson(bearer)) : bearer;
    const fromCookies = cookiesOf(headers.get('cookie'), this.#cookie).flatMap((value) => this.#opened(value) ?? []);
    const tokens = fromBearer === undefined ? fromCookies : [fromBearer, ...fromCookies];
    return [...new Set(tokens.filter((token) => !isSealed(token)))].slice(0, MOST_TOKENS);
  }

  /** The first of a request's tokens that holds; where none does, the first; undefined for a request without. */
  async tokenOf(headers: Headers): Promise<string | undefined> {
    const tokens = this.tokensOf(headers);
    if (tokens.length < 2) return tokens[0];
    for (const token of tokens) if (await this.proofOf(token)) return token;
    return tokens[0];
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
      .where('session.token', '=', sealToken(token))
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
    .map((pair) => decodeJson(pair.slice(name.length + 1)));
}

function decodeJson(text: string): string {
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
