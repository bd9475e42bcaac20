import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { SOCIAL_PROVIDERS } from '../config/settings.js';
import type { Ground } from '../database/database.js';
import { endDevicesOf } from '../devices/devices.js';
import type { AttemptLimit, Attempts } from '../http/attempts.js';
import { type Call, wholeFrom } from '../http/route.js';
import { ADDRESS_HEADER, AUTH_PATH, type IdentityLibrary, type Prepared } from './library.js';
import { NEW_PASSWORD_PATH, newPasswordPage, newPasswordScript, refusalPage } from './pages.js';
import { refuseWeakPassword, verifyPassword } from './passwords.js';
import { forgetHalfMade } from './seed.js';
import type { Sessions } from './sessions.js';

const PER_ACCOUNT: AttemptLimit = { most: 8, windowS: 15 * 60 };
const PER_VISITOR: AttemptLimit = { most: 50, windowS: 10 * 60 };
const SIGN_UPS: AttemptLimit = { most: 20, windowS: 60 * 60 };
const MAILS: AttemptLimit = { most: 5, windowS: 60 * 60 };
/** What a mail server takes (RFC 5321). */
const LONGEST_EMAIL = 254;
const LONGEST_NAME = 200;
const LONGEST_IMAGE = 2048;
const PASSED_TO_ADMINS = new Set(['/admin/ban-user', '/admin/unban-user']);
const LIST_DEFAULT = 50;
const LIST_MOST = 100;
const YEAR_S = 365 * 24 * 3600;

/** The endpoints below `/api/auth`: better-auth behind our limits, checks of passwords and answers that tell no addresses. */
export class IdentityEndpoints {
  readonly #ground: Ground;
  readonly #library: IdentityLibrary;
  readonly #sessions: Sessions;
  readonly #attempts: Attempts;

  constructor(ground: Ground, library: IdentityLibrary, sessions: Sessions, attempts: Attempts) {
    this.#ground = ground;
    this.#library = library;
    this.#sessions = sessions;
    this.#attempts = attempts;
  }

  /** Answers a request to a path below `/api/auth`. */
  async answer(call: Call): Promise<Response> {
    const path = call.url.pathname.slice(AUTH_PATH.length);
    switch (`${call.request.method} ${path}`) {
      case 'POST /sign-in/email':
        return this.#signIn(call);
      case 'POST /sign-up/email':
        return this.#signUp(call);
      case 'GET /sign-in/social':
        return this.#toProvider(call);
      case 'POST /request-password-reset':
      case 'POST /send-verification-email':
        return this.#sendProof(call);
      case 'POST /sign-in/magic-link':
        return this.#sendProof(call, ['email', 'name', 'callbackURL', 'newUserCallbackURL', 'errorCallbackURL']);
      case 'POST /email-otp/send-verification-otp':
        if (call.body().type !== 'sign-in')
          throw new Failure('bad_request', 'type is "sign-in"; a password is changed by a link in a mail');
        return this.#sendProof(call, ['email', 'type']);
      case 'POST /sign-in/email-otp':
        refuseOtherFields(call.body(), ['email', 'otp', 'name', 'image']);
        refuseLongFields(call.body());
        await this.#attempts.take(`sign-in:visitor:${call.visitor}`, PER_VISITOR, 'attempts to sign in from this address');
        await this.#attempts.take(`otp:${emailHash(text(call.body().email))}`, PER_ACCOUNT, 'attempts to sign in to this account');
        return this.#pass(call);
      case 'POST /reset-password':
        return this.#resetPassword(call);
      case 'POST /update-user':
        refuseOtherFields(call.body(), ['name', 'image']);
        refuseLongFields(call.body());
        return this.#pass(call);
      case 'POST /change-password':
        return this.#changePassword(call);
      case 'GET /admin/list-users':
        return this.#listUsers(call);
      case `GET ${NEW_PASSWORD_PATH}`:
        return call.url.searchParams.has('token')
          ? newPasswordPage(this.#ground.settings, AUTH_PATH)
          : refusalPage(this.#ground.settings, 'invalid_token');
      case `GET ${NEW_PASSWORD_PATH}/script.js`:
        return newPasswordScript(AUTH_PATH);
      case 'GET /error':
        return refusalPage(this.#ground.settings, call.url.searchParams.get('error') ?? '');
      default:
        // Those of codes would change a password or an address past our checks.
        if (path.startsWith('/email-otp/') || path.startsWith('/forget-password/'))
          throw new Failure(
            'not_found',
            `there is nothing at ${call.url.pathname}; to sign in with a code, send it to ${AUTH_PATH}/sign-in/email-otp`,
          );
        // Its other endpoints for admins know nothing of the last admin, of weak passwords, of devices and of subscriptions.
        if (path.startsWith('/admin/') && !PASSED_TO_ADMINS.has(path))
          throw new Failure(
            'not_found',
            `there is nothing at ${call.url.pathname}; use the admin page at ${this.#ground.settings.admin.path} instead`,
          );
        return this.#pass(call);
    }
  }

  /** Has a mail sent that proves an address: few to one address, and few for one visitor. */
  async #sendProof(call: Call, fields?: readonly string[]): Promise<Response> {
    if (fields) refuseOtherFields(call.body(), fields);
    refuseLongFields(call.body());
    refuseLongAddress(call.body());
    // The visitor first: what one may write of counts is bounded by its own.
    await this.#attempts.take(`mail:visitor:${call.visitor}`, PER_VISITOR, 'requests for mails');
    await this.#attempts.take(`mail:${emailHash(text(call.body().email))}`, MAILS, 'mails to this address');
    return this.#pass(call);
  }

  async #signIn(call: Call): Promise<Response> {
    const email = text(call.body().email).trim().toLowerCase();
    const account = this.#isKnownDevice(call.request.headers, email) ? `sign-in:device:${emailHash(email)}` : `sign-in:${emailHash(email)}`;
    await this.#attempts.take(`sign-in:visitor:${call.visitor}`, PER_VISITOR, 'attempts to sign in from this address');
    await this.#attempts.take(account, PER_ACCOUNT, 'attempts to sign in to this account');
    const response = await this.#pass(call);
    if (!response.ok) return response;
    await this.#attempts.clear(account);
    const secure = this.#ground.settings.origin.startsWith('https:') ? '; Secure' : '';
    const headers = new Headers(response.headers);
    headers.append(
      'set-cookie',
      `${this.#deviceCookie}=${this.#deviceMark(email, this.#ground.settings.secrets[0]!)}; Path=${AUTH_PATH}; Max-Age=${YEAR_S}; HttpOnly; SameSite=Lax${secure}`,
    );
    return new Response(response.body, { status: response.status, headers });
  }

  /** Whether the browser has signed in to this account before: others that guess cannot keep its owner out. */
  #isKnownDevice(headers: Headers, email: string): boolean {
    const mark = Buffer.from(
      new RegExp(`(?:^|;)\\s*${this.#deviceCookie.replace('.', '\\.')}=([\\w-]+)`).exec(headers.get('cookie') ?? '')?.[1] ?? '',
    );
    return this.#ground.settings.secrets.some((secret) => {
      const right = Buffer.from(this.#deviceMark(email, secret));
      return right.length === mark.length && timingSafeEqual(right, mark);
    });
  }

  get #deviceCookie(): string {
    return `${this.#ground.settings.app.id}.device`;
  }

  #deviceMark(email: string, secret: string): string {
    return createHmac('sha256', secret).update(`known device:${email}`).digest('base64url');
  }

  async #signUp(call: Call): Promise<Response> {
    await this.#attempts.take(`sign-up:${call.visitor}`, SIGN_UPS, 'new accounts from this address');
    refuseOtherFields(call.body(), ['name', 'email', 'password', 'image', 'callbackURL', 'rememberMe']);
    refuseLongFields(call.body());
    refuseLongAddress(call.body());
    const password = text(call.body().password);
    await refuseWeakPassword(password);
    await forgetHalfMade(this.#ground.database, text(call.body().email));
    const prepared = await this.#library.prepare(password);
    const response = await this.#pass(call, prepared);
    if (response.status !== 422) return response;
    const { code } = (await response.clone().json()) as { code?: string };
    // Another sign-up with the same address has won a race: by now the address is known, and this is its answer.
    return code === 'FAILED_TO_CREATE_USER' ? this.#pass(call, prepared) : response;
  }

  /** The specification's link to a provider: better-auth has a POST alone, which checks the address to come back to. */
  async #toProvider(call: Call): Promise<Response> {
    const { searchParams } = call.url;
    const provider = searchParams.get('provider') ?? '';
    if (!this.#ground.settings.social.some(({ name }) => name === provider))
      throw new Failure(
        'bad_request',
        `there is no sign-in with ${JSON.stringify(provider.slice(0, 50))} here; turn on one of ${SOCIAL_PROVIDERS.join(', ')} in auth.methods`,
        { code: 'unknown_provider' },
      );
    const body = JSON.stringify({ provider, callbackURL: searchParams.get('callbackURL') ?? '/' });
    const response = await this.#ask(call, new URL(`${AUTH_PATH}/sign-in/social`, call.url), 'POST', Buffer.from(body));
    if (!response.ok) return response;
    const { url } = (await response.json()) as { url: string };
    const headers = new Headers({ location: url, 'cache-control': 'no-store' });
    for (const cookie of response.headers.getSetCookie()) headers.append('set-cookie', cookie);
    return new Response(null, { status: 302, headers });
  }

  /** What was opened with the old password ends before there is a new one: whoever knew the old one is not left in by a server that dies. */
  async #resetPassword(call: Call): Promise<Response> {
    await this.#attempts.take(`reset:${call.visitor}`, PER_VISITOR, 'attempts to set a password');
    const { token = call.url.searchParams.get('token'), newPassword } = call.body();
    await refuseWeakPassword(text(newPassword));
    const userId = await this.#library.userOfReset(text(token ?? undefined));
    if (userId !== undefined) await this.#endAllOf(userId);
    return this.#pass(call);
  }

  /** Other sessions and all devices end before there is a new password; this session stays. */
  async #changePassword(call: Call): Promise<Response> {
    const caller = await call.inSession();
    await this.#attempts.take(`password:${caller.userId}`, PER_ACCOUNT, 'attempts to change this password');
    const { currentPassword, newPassword } = call.body();
    await refuseWeakPassword(text(newPassword));
    const account = await this.#ground.database.tables
      .selectFrom('account')
      .select('password')
      .where('userId', '=', caller.userId)
      .where('providerId', '=', 'credential')
      .executeTakeFirst();
    if ((await verifyPassword(text(currentPassword), account?.password ?? '')).right)
      await this.#endAllOf(caller.userId, caller.credentialId);
    return this.#pass(call);
  }

  /** Ends the sessions of a user but one, and all devices. */
  async #endAllOf(userId: string, keptSession = ''): Promise<void> {
    await this.#ground.database.tables.deleteFrom('session').where('userId', '=', userId).where('id', '!=', keptSession).execute();
    await endDevicesOf(this.#ground.database, userId);
  }

  async #listUsers(call: Call): Promise<Response> {
    const caller = await call.inSession();
    if (!caller.roles.includes(this.#ground.settings.admin.requireRole))
      throw new Failure('forbidden', `the list of users is for the role ${this.#ground.settings.admin.requireRole}`, {
        code: 'role_required',
      });
    const url = new URL(call.url);
    url.searchParams.set('limit', String(Math.min(wholeFrom(url.searchParams.get('limit')) || LIST_DEFAULT, LIST_MOST)));
    url.searchParams.set('offset', String(wholeFrom(url.searchParams.get('offset'))));
    return this.#ask(call, url, 'GET');
  }

  async #pass(call: Call, prepared?: Prepared): Promise<Response> {
    call.body();
    return this.#ask(call, call.url, call.request.method, call.bytes, prepared);
  }

  /** Asks better-auth with what we know of the request instead of what the client says: the session, the address, and our origin. */
  async #ask(call: Call, url: URL, method: string, bytes?: Uint8Array, prepared?: Prepared): Promise<Response> {
    const headers = new Headers({ origin: this.#ground.settings.origin, [ADDRESS_HEADER]: call.address });
    for (const name of ['accept', 'user-agent', 'content-type']) {
      const value = call.request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const cookies = this.#otherCookies(call.request.headers.get('cookie'));
    const token = await this.#sessions.tokenOf(call.request.headers);
    if (token !== undefined) cookies.push(this.#sessions.cookieFor(token));
    if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
    const hasBody = bytes !== undefined && bytes.byteLength > 0;
    if (hasBody && method === 'POST' && !headers.get('content-type')?.startsWith('application/x-www-form-urlencoded'))
      headers.set('content-type', 'application/json');
    if (!hasBody) headers.delete('content-type');
    const request = new Request(new URL(`${url.pathname}${url.search}`, this.#ground.settings.origin), {
      method,
      headers,
      ...(hasBody ? { body: Buffer.from(bytes) } : {}),
    });
    // The library takes a database that does not answer for one that knows nobody.
    const { value: response, failure } = await this.#ground.database.failureDuring(() => this.#library.handle(request, prepared));
    if (failure) throw failure;
    return response.status < 400 ? response : withError(response);
  }

  #otherCookies(header: string | null): string[] {
    return (header ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '' && !pair.startsWith(`${this.#library.cookie}=`));
  }
}

/** A refusal of the library with the name and the sentence that all of ours have. */
async function withError(response: Response): Promise<Response> {
  const text = await response.text();
  let said: { error?: string; code?: string; message?: string } = {};
  try {
    said = JSON.parse(text) ?? {};
  } catch {}
  const {
    code = response.status === 404 ? 'NOT_FOUND' : response.status === 401 ? 'UNAUTHORIZED' : 'REFUSED',
    message = 'this was refused',
  } = said;
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  headers.delete('content-length');
  return new Response(JSON.stringify({ error: code.toLowerCase(), code, message, ...said }), { status: response.status, headers });
}

/** Fields of a user that are not for the user to set, and names that mean nothing, are refused and not dropped. */
function refuseOtherFields(body: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(body).filter((name) => !known.includes(name));
  if (other.length > 0)
    throw new Failure('bad_request', `${other.slice(0, 5).join(', ')} cannot be set here; send ${known.join(', ')}`, {
      code: 'field_not_allowed',
    });
}

/** What people see of a user: a name is a text, and an image the address of one. */
function refuseLongFields(body: Record<string, unknown>): void {
  const { name, image } = body;
  if (name !== undefined && !(typeof name === 'string' && name.trim() !== '' && name.length <= LONGEST_NAME))
    throw new Failure('bad_request', `name is a text of 1 to ${LONGEST_NAME} characters`, { code: 'invalid_name' });
  const isImage = typeof image === 'string' && image.length <= LONGEST_IMAGE && /^https?:\/\//i.test(image);
  if (image !== undefined && image !== null && !isImage)
    throw new Failure('bad_request', `image is an http or https address of at most ${LONGEST_IMAGE} characters`, { code: 'invalid_image' });
}

function refuseLongAddress({ email }: Record<string, unknown>): void {
  if (text(email).length > LONGEST_EMAIL)
    throw new Failure('bad_request', `an address has at most ${LONGEST_EMAIL} characters`, { code: 'invalid_email' });
}

function text(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new Failure('bad_request', 'addresses and passwords are texts', { code: 'invalid_body' });
  return value;
}

function emailHash(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}
