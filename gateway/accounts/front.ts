import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Accounts, type AccountsOptions, createAccounts } from '../../accounts/accounts.js';
import type { Identity } from '../../accounts/identity/identities.js';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { coreEndpoints } from '../core/index.js';
import { WrongKeys } from '../http/access.js';
import { errorBody, failureOf } from '../http/errors.js';
import type { Exchange } from '../http/transport.js';
import type { Credentials, Guard, Visitor } from '../http/visitor.js';
import { universalEndpoints } from '../universal/index.js';
import { Metering } from './metering.js';
import { Namespaces } from './namespaces.js';
import { ADMIN_SCOPE, AnonymousVisitor, Operator, type Premises, User } from './visitor.js';

/** The largest body of the library, that of an event of a payment processor; it has limits of its own below. */
const MOST_BYTES = 1024 * 1024;
/** Methods that a `Request` cannot have. */
const UNASKABLE = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** Answers a request to a path of the accounts library. */
export function answerOwnPath(accounts: Accounts, exchange: Exchange): void {
  const { method, path, query, remoteAddress: ip } = exchange;
  const headers = new Headers();
  try {
    if (UNASKABLE.has(method)) throw new Failure('not_allowed', `The method ${method} is not taken here; use another one.`);
    exchange.eachHeader((name, value) => headers.append(name, value));
    const request = new Request(`http://accounts.invalid${path}${query === '' ? '' : `?${query}`}`, { method, headers });
    const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
    const body = hasBody ? exchange.readBody(MOST_BYTES, () => undefined) : Promise.resolve(Buffer.alloc(0));
    body
      .then((rawBody) => rawBody && accounts.handle(request, { ip, rawBody }))
      .then((answer) => answer && send(exchange, answer))
      .catch((error: unknown) => fail(exchange, error));
  } catch (error) {
    fail(
      exchange,
      error instanceof TypeError
        ? new Failure('bad_request', 'The method, a header or the path of the request has a character that HTTP does not allow.')
        : error,
    );
  }
}

async function send(exchange: Exchange, answer: Response): Promise<void> {
  const list: string[] = [];
  for (const [name, value] of answer.headers) if (name !== 'set-cookie' && name !== 'content-length') list.push(name, value);
  for (const cookie of answer.headers.getSetCookie()) list.push('set-cookie', cookie);
  exchange.reply(answer.status, list, new Uint8Array(await answer.arrayBuffer()));
}

function fail(exchange: Exchange, error: unknown): void {
  const failure = failureOf(error);
  if (failure.status >= 500) log('error', 'an accounts request failed', { path: exchange.path, error: failure.cause ?? failure });
  exchange.reply(failure.status, ['content-type', 'application/json'], JSON.stringify(errorBody(failure, 'house', '')));
}

/** Headers that say who asks. */
const CREDENTIALS = ['authorization', 'x-api-key', 'cookie'] as const;
/** The first parts of paths that the daemon answers itself. */
const DAEMON_PATHS = new Set(['', 'v1', 'mcp', 'docs', 'health', 'info', 'openapi.json', 'api', 'metrics']);

/** What a key may be limited to: parts of the API by their tags, reading, its user's account, running the machine, or nothing. */
const SCOPES = new Set(['*', 'read', 'account', ADMIN_SCOPE, ...[...coreEndpoints, ...universalEndpoints].map(({ tag }) => tag)]);

/** What the accounts in front of a daemon are opened with. */
export interface FrontOptions extends Pick<AccountsOptions, 'config' | 'environment' | 'sendMail' | 'passwordCost' | 'paymentApi' | 'now'> {
  readonly runtime: Runtime;
  /** The key of the daemon itself, which opens everything. */
  readonly operatorKey?: string | undefined;
  /** Hosts of this machine and its private networks that may be asked, besides those of the module file. */
  readonly hosts?: readonly string[];
}

/** The accounts library in front of a daemon: its pages, and who asks. */
export class Front implements Guard<Runtime> {
  readonly accounts: Accounts;
  readonly #premises: Premises;
  readonly #operatorKey: Buffer | undefined;
  readonly #operator: Operator;
  readonly #stranger: AnonymousVisitor;
  readonly #wrongKeys = new WrongKeys();
  /** Visitors by what the library said of them, for as long as it says the same. */
  readonly #users = new WeakMap<Identity, User>();

  private constructor(accounts: Accounts, premises: Premises, operatorKey: string | undefined) {
    this.accounts = accounts;
    this.#premises = premises;
    this.#operatorKey = operatorKey === undefined ? undefined : digest(operatorKey);
    this.#operator = new Operator(premises.runtime);
    this.#stranger = new AnonymousVisitor(premises.runtime);
  }

  /** Opens the accounts of a module file. Rejects with a sentence that names what is wrong in the file, and what to do. */
  static async open({ runtime, operatorKey, hosts = [], environment = process.env, ...options }: FrontOptions): Promise<Front> {
    const databaseFolder = join(runtime.dataDir, 'accounts');
    await mkdir(databaseFolder, { recursive: true, mode: 0o700 });
    const accounts = await createAccounts({
      ...options,
      // A daemon is no development server, unless it is told that it is one.
      environment: { ...environment, NODE_ENV: environment.NODE_ENV ?? 'production' },
      databaseFolder,
      scopes: SCOPES,
      print: (line) => log('info', line),
      onWarning: ({ userId, meterId, used, limit }) => log('info', `a user has used ${used} of ${limit} ${meterId}`, { user: userId }),
    });
    const { admin, database, sharedNamespaces: shared, ownersFetch, privateHosts } = accounts.settings;
    if (database.adapter === 'sqlite' && relative(runtime.dataDir, database.url).startsWith('..'))
      log('warn', `the accounts are in ${database.url}, outside the data directory, so "quern backup" leaves them out`, {
        remedy: 'copy them too, or move the file into the data directory and take database.url out of the module file',
      });
    try {
      const [, first = ''] = admin.path.split('/');
      if (DAEMON_PATHS.has(first))
        throw new Failure(
          'invalid',
          `module.yaml: admin.path: ${admin.path || '/'} is a path of the daemon; choose another, such as /admin`,
        );
      const tenants = await runtime.tenants();
      tenants.restrictPrivateHosts([...hosts, ...privateHosts]);
      const namespaces = new Namespaces({
        owners: tenants.owners,
        shared,
        ownersFetch,
        existing: () => runtime.projects.namespaces(),
        isEmpty: (namespace) => runtime.projects.names(namespace).length === 0,
      });
      runtime.fetches.rightOf = (namespace) => namespaces.fetchRight(namespace);
      runtime.projects.onErase((namespace) => namespaces.letGo(namespace));
      const metering = new Metering(accounts, tenants);
      runtime.payers.of = (namespace) => {
        const owner = tenants.owners.of(namespace);
        return owner === undefined ? undefined : metering.budgetOf(owner);
      };
      const premises = { runtime, tenants, namespaces, metering, adminRole: admin.requireRole };
      return new Front(accounts, premises, operatorKey);
    } catch (error) {
      await accounts.close();
      throw error;
    }
  }

  owns(path: string): boolean {
    return this.accounts.owns(path);
  }

  answer(exchange: Exchange): void {
    answerOwnPath(this.accounts, exchange);
  }

  visitorOf(request: Credentials): Visitor<Runtime> | Promise<Visitor<Runtime>> {
    const given = CREDENTIALS.map((name) => request.header(name));
    const [authorization = '', apiKey = '', cookie = ''] = given;
    if (authorization === '' && apiKey === '' && cookie === '') return this.#stranger;
    const key = /^bearer\s+(.+)$/i.exec(authorization)?.[1] ?? apiKey;
    if (this.#operatorKey && key !== '' && timingSafeEqual(digest(key), this.#operatorKey)) return this.#operator;
    const origin = request.header('origin');
    const headers = new Headers(CREDENTIALS.flatMap((name, at) => (given[at] === '' ? [] : [[name, given[at]!] as [string, string]])));
    if (cookie !== '') {
      if (origin !== '') headers.set('origin', origin);
      this.accounts.refuseForeignOrigin(request.method, headers);
    }
    return this.#find(headers, key === '' ? '' : request.remoteAddress);
  }

  async close(): Promise<void> {
    await this.accounts.close();
  }

  /** Asks the library. `address`: of who has sent a key, which may be a guess. */
  async #find(headers: Headers, address: string): Promise<Visitor<Runtime>> {
    const identity = await this.accounts.identify(headers).catch((error: unknown) => {
      if (error instanceof Failure) throw error;
      throw new Failure('unavailable', 'The accounts cannot be asked now. Try again soon.', { cause: error });
    });
    if (!identity) return this.#unknown(address);
    const isStill = async (): Promise<boolean> => {
      const now = await this.accounts.identify(headers);
      return now !== undefined && standingOf(now) === standingOf(identity);
    };
    const known = this.#users.get(identity) ?? new User(this.#premises, identity, isStill);
    this.#users.set(identity, known);
    return known;
  }

  #unknown(address: string): AnonymousVisitor {
    const retryAfterS = address === '' ? 0 : this.#wrongKeys.note(address);
    if (retryAfterS === 0) return this.#stranger;
    throw new Failure(
      'too_many',
      `Too many wrong keys came from your address. Try again in ${retryAfterS} s; a right one is taken at once.`,
      {
        code: 'TooManyWrongKeys',
        retryAfterS,
      },
    );
  }
}

/** Who somebody is, and what they may do for it. */
function standingOf({ userId, roles, scopes }: Identity): string {
  return JSON.stringify([userId, [...roles].sort(), scopes]);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
