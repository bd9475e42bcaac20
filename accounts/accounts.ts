import { Failure } from '../schemas/errors.js';
import { Directory } from './admin/directory.js';
import { adminRoutes } from './admin/routes.js';
import { Billing } from './billing/billing.js';
import { billingRoutes } from './billing/routes.js';
import { Subscriptions } from './billing/subscriptions.js';
import { Chores } from './chores.js';
import type { Environment } from './config/environment.js';
import { readSettings } from './config/module-file.js';
import type { Settings } from './config/settings.js';
import { type Database, type Ground, openDatabase } from './database/database.js';
import type { D1Binding } from './database/dialects/d1.js';
import { migrate } from './database/migrate.js';
import { Devices } from './devices/devices.js';
import { Features } from './gates/features.js';
import { Meters, type OnWarning } from './gates/meters.js';
import { Nudges } from './gates/nudges.js';
import { Plans } from './gates/plans.js';
import { answerOf, json } from './http/answers.js';
import { Attempts } from './http/attempts.js';
import { bytesOf, MAX_BODY_BYTES, objectOf } from './http/bodies.js';
import { addressReader, FROM_PROVIDERS, refuseForeignOrigin, visitorOf } from './http/request-source.js';
import { type Call, routeOf, UNASKABLE } from './http/route.js';
import { IdentityEndpoints } from './identity/endpoints.js';
import { Identities, type Identity } from './identity/identities.js';
import { AUTH_PATH, identityLibrary } from './identity/library.js';
import { PASSWORD_COST, type PasswordCost, scryptCost } from './identity/passwords.js';
import { createUser, seedAdmin, seedTestUsers } from './identity/seed.js';
import { type Caller, Sessions } from './identity/sessions.js';
import { Keys } from './keys.js';
import { mailer, type SendMail } from './mail.js';
import { moduleRoutes } from './module-routes.js';

/** Where billing, usage, devices and keys are. */
export const MODULE_PATH = '/api/module';

/** How the library is set up. */
export interface AccountsOptions {
  /** The path of `module.yaml`, or its value. */
  readonly config: string | object;
  /** `process.env` where absent. */
  readonly environment?: Environment;
  /** Where a SQLite database lies that the module file does not name; beside the file where absent. */
  readonly databaseFolder?: string;
  /** A worker's binding to D1, for the adapter `d1`. */
  readonly d1?: D1Binding;
  /** Sends mails instead of the transport of the file. */
  readonly sendMail?: SendMail;
  /** Milliseconds since 1970; `Date.now` where absent. */
  readonly now?: () => number;
  /** How dear a hash of a password is, for machines that can more than OWASP's least; less is taken in development alone. */
  readonly passwordCost?: PasswordCost;
  /** Told once in each period when a user reaches the share of a limit that the module file names. */
  readonly onWarning?: OnWarning;
  /** Where the payment processor is asked, instead of its own address. */
  readonly paymentApi?: URL;
  /**
   * The scopes that a key may have, where the server knows them: others are refused when a key is made, and a key with scopes needs `account`,
   * or `read` to read, below `/api/module`; one with `admin` is made by the role of the admin page alone. Where absent, scopes are any names, and theirs whose server it is.
   */
  readonly scopes?: ReadonlySet<string>;
  /** Takes lines for the server's log; `console.error` where absent. */
  readonly print?: (line: string) => void;
}

/** What a mount knows of a request beside what the request says. */
export interface Arrival {
  /** The address of the other end of the connection. */
  readonly ip: string;
  /** The body, where it was read already. */
  readonly rawBody?: Uint8Array;
}

/** The accounts of one server. */
export interface Accounts {
  readonly settings: Settings;
  /** The paths that the library answers, each with all that is below it. */
  readonly paths: readonly string[];
  /** Whether a path is one of the library's. */
  owns(path: string): boolean;
  /** Answers a request to one of the library's paths; it never rejects. */
  handle(request: Request, arrival: Arrival): Promise<Response>;
  /** Who a request comes from, as the database has it now; undefined for nobody. */
  callerOf(headers: Headers): Promise<Caller | undefined>;
  /**
   * Who a request comes from, with the user's plan; undefined for nobody. Quick enough for every request: an answer is believed for two
   * seconds, in which what other processes change is not seen; what this one changes is seen at once.
   */
  identify(headers: Headers): Promise<Identity | undefined>;
  /** Refuses a change that a page of an origin that is not trusted makes with a cookie: `Failure('forbidden')`. */
  refuseForeignOrigin(method: string, headers: Headers): void;
  readonly features: Features;
  readonly meters: Meters;
  readonly plans: Plans;
  readonly directory: Directory;
  readonly keys: Keys;
  /** Makes a user whose address counts as proved; resolves to its id. `Failure('conflict')` for an address that has an account. */
  createUser(user: { email: string; password: string; name: string }): Promise<string>;
  /** Makes the test users of the module file that are not there, with their plans; resolves to their addresses. None outside development. */
  seedTestUsers(): Promise<readonly string[]>;
  /** Asks the processor for all that may have changed while this server was down; rejects when it does not answer. */
  reconcile(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the module file, opens the database, makes its tables where the file lets it, and the first admin. Rejects with a sentence that
 * names what is wrong and what to do.
 */
export async function createAccounts(options: AccountsOptions): Promise<Accounts> {
  const settings = await readSettings(options.config, options.environment ?? process.env, options.databaseFolder);
  return accountsOn(await openDatabase(settings.database, options.d1), settings, options);
}

/** The accounts on a database that is open; it is closed with them, and where they cannot be made. */
export async function accountsOn(database: Database, settings: Settings, options: AccountsOptions): Promise<Accounts> {
  const { now = Date.now, print = (line: string) => console.error(line) } = options;
  try {
    await migrate(database, settings.database.autoMigrate);
    return await assembleParts(settings, database, { ...options, now, print });
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assembleParts(
  settings: Settings,
  database: Database,
  {
    now,
    print,
    sendMail,
    passwordCost = PASSWORD_COST,
    onWarning = () => {},
    paymentApi,
    scopes,
  }: AccountsOptions & { now: () => number; print: (line: string) => void },
): Promise<Accounts> {
  if (!settings.development && scryptCost(passwordCost) < scryptCost(PASSWORD_COST))
    throw new Error('passwordCost: is below the least that OWASP names; leave it out');
  const library = await identityLibrary(settings, database, sendMail ?? (await mailer(settings.mail, print)), print, passwordCost);
  await seedAdmin(settings, database, library, print);
  const ground: Ground = { settings, database, now, print };
  const sessions = new Sessions(ground, library.cookie);
  const attempts = new Attempts(ground);
  const identity = new IdentityEndpoints(ground, library, sessions, attempts);
  const addressOf = addressReader(settings.trustedProxies, () =>
    print(
      'accounts: requests come from no address, as by a Unix socket, so all visitors count as one; add unix to auth.trusted_proxies if a proxy of yours sends them',
    ),
  );
  const processor =
    settings.billing.provider === 'stripe' ? (await import('./billing/stripe.js')).stripeProcessor(settings, paymentApi) : undefined;
  const subscriptions = processor && new Subscriptions(ground, processor);
  const plans = new Plans(ground, async (userId) => subscriptions?.paidPlan(userId));
  const billing = processor && subscriptions && new Billing(ground, { processor, subscriptions, plans });
  const features = new Features(settings, plans);
  const meters = new Meters(ground, plans, onWarning);
  const nudges = new Nudges(ground, { plans, meters, subscriptions });
  const devices = new Devices(ground, attempts);
  const keys = new Keys(ground, attempts);
  const directory = new Directory(ground, plans);
  const chores = new Chores({ attempts, devices, meters, ...(billing ? { billing } : {}) }, subscriptions, print);
  const routes = [
    ...moduleRoutes({ settings, attempts, plans, meters, nudges, devices, keys, scopes, now }),
    ...billingRoutes(billing, settings.billing.webhookPaths),
    ...adminRoutes(settings, directory),
  ];
  const report = (error: unknown): void => print(`accounts: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const identities = new Identities(ground, { sessions, devices, keys, plans });
  const paths = [AUTH_PATH, MODULE_PATH, settings.admin.path, ...settings.billing.webhookPaths];

  const answer = async (request: Request, { ip, rawBody }: Arrival): Promise<Response> => {
    if (UNASKABLE.has(request.method)) return notAllowed(['GET', 'POST', 'DELETE']);
    const url = new URL(request.url);
    if (!url.pathname.startsWith(FROM_PROVIDERS)) refuseForeignOrigin(request, settings.trustedOrigins);
    const isAuth = url.pathname.startsWith(`${AUTH_PATH}/`);
    if (url.href.includes('%00')) throw new Failure('bad_request', 'an address may not hold the character NUL');
    const { route, params, allow } = routeOf(routes, request.method, url.pathname);
    if (!isAuth && !route && allow.length > 0) return notAllowed(allow);
    if (!isAuth && !route) throw new Failure('not_found', `there is nothing at ${url.pathname}`);
    const bytes = await bytesOf(request, rawBody, route?.mostBytes ?? MAX_BODY_BYTES);
    const address = addressOf(ip, request.headers.get('x-forwarded-for'));
    let known: Promise<Caller | undefined> | undefined;
    const caller = (): Promise<Caller | undefined> => (known ??= identities.callerOf(request.headers));
    const signedIn = async (): Promise<Caller> => {
      const found = await caller();
      if (!found) throw new Failure('unauthorized', 'sign in first, or send a valid token');
      if (scopes) refuseOutOfScope(found, request.method);
      return found;
    };
    const call: Call = {
      request,
      url,
      params,
      bytes,
      body: () => objectOf(bytes, request.headers.get('content-type')),
      address,
      visitor: visitorOf(address),
      caller,
      signedIn,
      inSession: async () => {
        const found = await signedIn();
        if (found.via !== 'session') throw new Failure('forbidden', 'this takes a signed-in session; a key or a device may not do it');
        return found;
      },
    };
    if (isAuth) return withoutCache(await identity.answer(call));
    const value = await route!.run(call);
    return value instanceof Response ? value : json(value);
  };

  return {
    settings,
    paths,
    owns: (path) => paths.some((base) => path === base || path.startsWith(`${base}/`)),
    callerOf: (headers) => identities.callerOf(headers),
    identify: (headers) => identities.identify(headers),
    refuseForeignOrigin: (method, headers) => refuseForeignOrigin({ method, headers }, settings.trustedOrigins),
    features,
    meters,
    plans,
    directory,
    keys,
    createUser: (user) => createUser(ground, library, user),
    seedTestUsers: () => seedTestUsers(ground, library, plans, meters),
    reconcile: async () => subscriptions?.reconcile(),
    async handle(request, arrival) {
      const origin = request.headers.get('origin');
      if (request.method === 'OPTIONS') return withCors(new Response(null, { status: 204 }), origin, settings.trustedOrigins);
      const isHead = request.method === 'HEAD';
      const asked = isHead ? new Request(request.url, { headers: request.headers }) : request;
      const response = await answer(asked, arrival).catch((error: unknown) => answerOf(error, report));
      return withCors(isHead ? new Response(null, response) : response, origin, settings.trustedOrigins);
    },
    async close() {
      await chores.end();
      await database.close();
    },
  };
}

/** A key that is limited to parts of the server acts on its user's account where one of its scopes says so. */
function refuseOutOfScope({ scopes }: Caller, method: string): void {
  if (!scopes || scopes.includes('*') || scopes.includes('account') || (method === 'GET' && scopes.includes('read'))) return;
  throw new Failure('forbidden', 'this key lacks the scope "account"; make one that has it, or one without scopes', {
    code: 'scope_required',
  });
}

function notAllowed(allow: readonly string[]): Response {
  const failure = new Failure('not_allowed', `this takes ${allow.join(' or ')}`);
  const response = answerOf(failure, () => {});
  response.headers.set('allow', allow.join(', '));
  return response;
}

/** What says who somebody is belongs into no cache on its way. */
function withoutCache(response: Response): Response {
  const headers = new Headers(response.headers);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  return new Response(response.body, { status: response.status, headers });
}

/** Lets pages of the trusted origins read the answer; others get no word of permission. */
function withCors(response: Response, origin: string | null, trusted: readonly string[]): Response {
  if (origin === null) return response;
  const headers = new Headers(response.headers);
  headers.append('vary', 'origin');
  if (trusted.includes(origin)) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-allow-credentials', 'true');
    headers.set('access-control-allow-headers', 'content-type, authorization, x-api-key, idempotency-key');
    headers.set('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE');
    headers.set('access-control-max-age', '600');
  }
  return new Response(response.body, { status: response.status, headers });
}
