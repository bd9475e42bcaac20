import { createPrivateKey } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { Failure, type FailureItem } from '../../schemas/errors.js';
import type { ModuleFile, SocialProvider } from '../../schemas/generated/accounts/module.js';
import { check } from '../../schemas/validate.js';
import { type Environment, secretsOf, withEnvironment } from './environment.js';
import { nudgeFaults, nudgesOf } from './nudges.js';
import { type DatabaseSettings, type PlanSettings, type Settings, SOCIAL_PROVIDERS, type SocialSettings } from './settings.js';
import { unknownKeys } from './unknown-keys.js';

/** Writes the price of one plan into the file, whose comments and order stay. */
export async function writePrice(config: string, plan: string, priceId: string): Promise<void> {
  const document = parseDocument(await readFile(config, 'utf8'));
  const plans = document.toJS().plans as { name: string }[];
  document.setIn(['plans', plans.findIndex(({ name }) => name === plan), 'payment_price_id'], priceId);
  const draft = `${config}.${process.pid}.new`;
  await writeFile(draft, document.toString({ lineWidth: 0 }));
  await rename(draft, config);
}

const MAX_FILE_BYTES = 1024 * 1024;
/** What stands among the plans of a feature for anyone at all, and for anyone who is signed in. */
export const ANYONE = '*';
/** The other of the two. */
export const SIGNED_IN = 'authenticated';

/**
 * Reads a module file, or takes its value, and fills it from the environment. Throws `Failure('invalid')` whose message and `errors` name
 * each path at fault, and `Failure('not_found')` for a file that is not there. `folder`: where a SQLite database lies that the file does not name;
 * beside the file unless given.
 */
export async function readSettings(file: string | object, environment: Environment, folder?: string): Promise<Settings> {
  const value = typeof file === 'string' ? await parseModuleFile(file) : structuredClone(file);
  const settings = settingsOf(value, environment);
  const { database } = settings;
  if (database.adapter !== 'sqlite') return settings;
  const isNamed = (value as ModuleFile).database?.url !== undefined;
  // A path in a file is meant from where the file lies, whatever folder the server was started in.
  const place = isNamed || folder === undefined ? (typeof file === 'string' ? dirname(file) : undefined) : folder;
  return place === undefined ? settings : { ...settings, database: { ...database, url: resolve(place, database.url) } };
}

async function parseModuleFile(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure('not_found', `the module file ${path} cannot be read (${error.code}); "quern accounts init" writes one`);
  });
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw new Failure('invalid', `${path} is larger than 1 MB`);
  const document = parseDocument(text, { maxAliasCount: 100 } as never);
  const [error] = document.errors;
  if (error) throw new Failure('invalid', `${path} is no YAML: ${error.message.split('\n')[0]}`);
  return document.toJS({ maxAliasCount: 100 }) ?? {};
}

/** The settings of a module file's value. */
export function settingsOf(value: unknown, environment: Environment): Settings {
  const file = check<ModuleFile>('accounts/module#ModuleFile', withEnvironment(value, environment), 'file');
  refuseFaults(unknownKeys(file));
  const development = environment.NODE_ENV !== 'production';
  const auth = file.auth ?? {};
  const origin = originOf(auth.server_url ?? environment.AUTH_URL ?? (development ? 'http://localhost:3000' : undefined));
  const plans = plansOf(file);
  const domain = file.app.domain ?? origin;
  const settings: Settings = {
    app: { ...file.app, domain },
    database: databaseOf(file),
    origin,
    secrets: secretsOf(auth.secret ?? environment.AUTH_SECRET, auth.previous_secret ?? environment.AUTH_PREVIOUS_SECRET, development),
    session: { maxAgeS: auth.session?.max_age ?? 2_592_000, updateAgeS: auth.session?.update_age ?? 86_400 },
    emailPassword: auth.methods?.email_password ?? true,
    magicLinkS: withDefaults({ expires_in: 600 }, auth.methods?.magic_link)?.expires_in,
    emailCode: emailCodeOf(auth.methods?.email_otp),
    social: SOCIAL_PROVIDERS.flatMap((name) => socialOf(name, auth.methods?.[name], environment)),
    mail: mailOf(file, domain, environment),
    verifyOnSignUp: auth.email?.verify_on_signup ?? false,
    revealExistingAccounts: auth.reveal_existing_accounts ?? false,
    trustedOrigins: [...new Set([origin, new URL(domain).origin, ...(auth.trusted_origins ?? []).map((each) => new URL(each).origin)])],
    trustedProxies: auth.trusted_proxies ?? [],
    deviceAuth: { enabled: auth.device_auth?.enabled ?? true, clientIds: auth.device_auth?.client_ids },
    apiKeys: { enabled: auth.api_keys?.enabled ?? true, prefix: auth.api_keys?.prefix ?? 'sk_' },
    plans,
    defaultPlan: plans[0]!.name,
    features: inheritFeatures(file.features ?? {}, plans),
    billing: billingOf(file, domain, environment),
    meters: Object.fromEntries(
      Object.entries(file.meters ?? {}).map(([name, meter]) => [
        name,
        { ...meter, label: meter.label ?? name, type: meter.type ?? 'cap', reset_period: meter.reset_period ?? 'month' },
      ]),
    ),
    nudges: nudgesOf(file),
    seed: {
      ...(file.seed?.admin ? { admin: { ...file.seed.admin, name: file.seed.admin.name ?? 'Admin' } } : {}),
      testUsers: development
        ? (file.seed?.test_users ?? []).map((user) => ({ ...user, name: user.name ?? user.email.split('@')[0]! }))
        : [],
    },
    admin: {
      path: (file.admin?.path ?? '/admin').replace(/\/$/, ''),
      requireRole: file.admin?.require_role ?? 'admin',
      sections: { users: true, billing: true, usage: true, ...file.admin?.sections },
    },
    sharedNamespaces: Object.fromEntries(
      Object.entries(file.quern?.namespaces ?? {}).map(([name, { roles = [], write = [] }]) => [name, { roles, write }]),
    ),
    ownersFetch: file.quern?.fetch_models ?? false,
    privateHosts: file.quern?.hosts ?? [],
    development,
  };
  refuseFaults(settingsFaults(settings));
  return settings;
}

function originOf(address: string | undefined): string {
  if (address === undefined)
    throw new Failure(
      'invalid',
      'module.yaml: auth.server_url: is required in production; set it, or AUTH_URL, to the address that browsers use',
    );
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw new Failure('invalid', `AUTH_URL: "${address}" is no http or https address`);
  return new URL(address).origin;
}

/** Cheapest first, so that a plan further on is an upgrade; one free plan where the file names none. */
function plansOf(file: ModuleFile): readonly PlanSettings[] {
  const trial = file.billing?.trial_days ?? 0;
  const plans = (file.plans ?? []).map((plan) => ({
    ...plan,
    display_name: plan.display_name ?? plan.name,
    price: plan.price ?? 0,
    interval: plan.interval ?? ('month' as const),
    trial_days: plan.trial_days || ((plan.trial ?? (plan.price ?? 0) > 0) ? trial : 0),
    highlighted: plan.highlighted ?? plan.popular ?? false,
  }));
  if (!plans.some(({ price }) => price === 0))
    plans.unshift({ name: 'free', display_name: 'Free', price: 0, interval: 'month', trial_days: 0, highlighted: false });
  const monthly = ({ price, interval }: PlanSettings): number => (interval === 'year' ? price / 12 : price);
  return plans.toSorted((a, b) => monthly(a) - monthly(b));
}

/** What the names of hosted databases stand for. */
const ADAPTERS = {
  ...({ sqlite: 'sqlite', pg: 'pg', mysql: 'mysql', turso: 'turso', d1: 'd1' } as const),
  ...({ neon: 'pg', planetscale: 'mysql', libsql: 'turso' } as const),
};

function databaseOf({ app, database }: ModuleFile): DatabaseSettings {
  const adapter = ADAPTERS[database?.adapter ?? 'sqlite'];
  const url = database?.url ?? (adapter === 'sqlite' ? `${app.id}-accounts.db` : '');
  const path = adapter === 'sqlite' ? url.replace(/^(?:file|sqlite):(?:\/\/)?/, '') : url;
  return { adapter, url: path, autoMigrate: database?.auto_migrate ?? true, ...(database?.token ? { token: database.token } : {}) };
}

/** What a method has that may be given as true or with settings of its own; undefined where it is off. */
function withDefaults<T extends object>(defaults: T, given: boolean | Partial<T> | undefined): T | undefined {
  if (!given) return undefined;
  return given === true ? defaults : { ...defaults, ...given };
}

function emailCodeOf(given: NonNullable<NonNullable<ModuleFile['auth']>['methods']>['email_otp']): Settings['emailCode'] {
  const code = withDefaults({ length: 6, expires_in: 300 }, given);
  return code && { length: code.length, expiresS: code.expires_in };
}

function mailOf({ app, auth }: ModuleFile, domain: string, environment: Environment): Settings['mail'] {
  const { email = {} } = auth ?? {};
  const given = email.transport ?? 'console';
  const transport = given === 'nodemailer' ? 'smtp' : given;
  const isHosted = transport === 'resend' || transport === 'postmark';
  const apiKey = isHosted ? (email[transport]?.api_key ?? environment[`${transport.toUpperCase()}_API_KEY`]) : undefined;
  return {
    transport,
    from: email.from ?? app.support_email ?? `${app.name} <no-reply@${new URL(domain).hostname}>`,
    ...(email.smtp ? { smtp: { ...email.smtp, port: email.smtp.port ?? 587 } } : {}),
    ...(apiKey ? { apiKey } : {}),
  };
}

/** A plan that inherits another has the features of that one too, and of those that it inherits in turn. */
function inheritFeatures(features: Settings['features'], plans: readonly PlanSettings[]): Settings['features'] {
  const heirs = (name: string, seen: ReadonlySet<string>): string[] =>
    plans
      .filter((plan) => plan.inherits === name && !seen.has(plan.name))
      .flatMap((plan) => [plan.name, ...heirs(plan.name, new Set([...seen, plan.name]))]);
  return Object.fromEntries(
    Object.entries(features).map(([feature, of]) => [feature, [...new Set(of.flatMap((name) => [name, ...heirs(name, new Set([name]))]))]]),
  );
}

function socialOf(
  name: (typeof SOCIAL_PROVIDERS)[number],
  given: boolean | SocialProvider | undefined,
  environment: Environment,
): SocialSettings[] {
  if (!given || (typeof given === 'object' && given.enabled === false)) return [];
  const own = typeof given === 'object' ? given : {};
  const clientId = own.client_id ?? environment[`${name.toUpperCase()}_CLIENT_ID`];
  const clientSecret = own.client_secret ?? environment[`${name.toUpperCase()}_CLIENT_SECRET`];
  const signs = name === 'apple' && own.private_key !== undefined && own.key_id !== undefined && own.team_id !== undefined;
  if (!clientId || (!clientSecret && !signs))
    throw new Failure(
      'invalid',
      `module.yaml: auth.methods.${name}: is on, but ${name.toUpperCase()}_CLIENT_ID or ${name.toUpperCase()}_CLIENT_SECRET is not set; set both, or turn it off`,
    );
  return [{ ...own, name, client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) }];
}

function billingOf({ billing }: ModuleFile, domain: string, environment: Environment): Settings['billing'] {
  const provider = billing?.provider ?? 'none';
  const { stripe = {} } = billing ?? {};
  const secretKey = stripe.secret_key ?? environment.PAYMENT_SECRET_KEY;
  const publishableKey = stripe.publishable_key ?? environment.PAYMENT_PUBLISHABLE_KEY;
  const at = (path: string | undefined, otherwise: string): string => new URL(path ?? otherwise, domain).href;
  if (provider === 'stripe' && !secretKey)
    throw new Failure(
      'invalid',
      'module.yaml: billing.provider: is stripe, but PAYMENT_SECRET_KEY is not set; set it, or use the provider none',
    );
  return {
    provider,
    currency: billing?.currency ?? 'usd',
    cancelBehavior: billing?.cancel_behavior ?? 'end_of_period',
    graceDays: billing?.grace_days ?? 3,
    successUrl: at(billing?.success_url, '/?checkout=success'),
    cancelUrl: at(billing?.cancel_url, '/?checkout=cancelled'),
    ...(secretKey ? { secretKey } : {}),
    ...(publishableKey ? { publishableKey } : {}),
    webhookSecrets: (stripe.webhook_secret ?? environment.PAYMENT_WEBHOOK_SECRET ?? '')
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
    webhookPaths: billing?.webhook_paths ?? [],
    needsCard: stripe.require_payment_method ?? true,
  };
}

/** What a schema cannot say: names that must exist, and what belongs together. */
function* settingsFaults(settings: Settings): Generator<FailureItem> {
  const { plans, features, meters, seed, database, mail, emailPassword, magicLinkS, emailCode, social, admin, billing } = settings;
  const names = plans.map(({ name }) => name);
  const unknown = (path: (string | number)[], name: string): FailureItem => ({
    type: 'unknown_plan',
    loc: path,
    msg: `there is no plan "${name}"; the plans are ${names.join(', ')}`,
    input: name,
  });
  for (const [index, name] of names.entries())
    if (names.indexOf(name) !== index)
      yield { type: 'duplicate', loc: ['plans', index, 'name'], msg: `"${name}" is the name of two plans`, input: name };
  for (const [feature, of] of Object.entries(features))
    for (const [index, plan] of of.entries())
      if (plan !== ANYONE && plan !== SIGNED_IN && !names.includes(plan)) yield unknown(['features', feature, index], plan);
  for (const [meter, { limits = {} }] of Object.entries(meters))
    for (const plan of Object.keys(limits)) if (!names.includes(plan)) yield unknown(['meters', meter, 'limits', plan], plan);
  for (const [index, { plan }] of seed.testUsers.entries())
    if (plan !== undefined && !names.includes(plan)) yield unknown(['seed', 'test_users', index, 'plan'], plan);
  if (database.url === '' && database.adapter !== 'd1')
    yield { type: 'missing', loc: ['database', 'url'], msg: `the adapter ${database.adapter} needs an address` };
  for (const [index, { inherits }] of plans.entries())
    if (inherits !== undefined && !names.includes(inherits)) yield unknown(['plans', index, 'inherits'], inherits);
  for (const [index, { usage = {} }] of seed.testUsers.entries())
    for (const meter of Object.keys(usage))
      if (!Object.hasOwn(meters, meter))
        yield { type: 'unknown_meter', loc: ['seed', 'test_users', index, 'usage', meter], msg: 'there is no such meter', input: meter };
  yield* nudgeFaults(settings);
  for (const [index, path] of billing.webhookPaths.entries())
    if (isOwnPath(path) || path === admin.path)
      yield {
        type: 'taken',
        loc: ['billing', 'webhook_paths', index],
        msg: `${path} is a path of the library; choose another`,
        input: path,
      };
  if ((mail.transport === 'resend' || mail.transport === 'postmark') && !mail.apiKey)
    yield {
      type: 'missing',
      loc: ['auth', 'email', mail.transport, 'api_key'],
      msg: `the transport ${mail.transport} needs a key; write it here, or set ${mail.transport.toUpperCase()}_API_KEY`,
    };
  if (mail.transport === 'smtp' && !mail.smtp)
    yield { type: 'missing', loc: ['auth', 'email', 'smtp'], msg: 'the transport smtp needs a host' };
  if (isOwnPath(admin.path))
    yield { type: 'taken', loc: ['admin', 'path'], msg: `${admin.path} is a path of the library; choose another`, input: admin.path };
  for (const { name, private_key: key } of social)
    if (key !== undefined && !isKeyOfApple(key))
      yield {
        type: 'invalid_key',
        loc: ['auth', 'methods', name, 'private_key'],
        msg: 'is no private key in PEM for ES256; take the file AuthKey_*.p8 of Apple whole, with its line breaks',
      };
  if (!emailPassword && magicLinkS === undefined && !emailCode && social.length === 0)
    yield { type: 'missing', loc: ['auth', 'methods'], msg: 'nobody could sign in; turn on email_password or a provider' };
}

function isOwnPath(path: string): boolean {
  return /^\/api\/(?:auth|module)(?:\/|$)/.test(path);
}

function isKeyOfApple(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

function refuseFaults(found: Iterable<FailureItem>): void {
  const errors = [...found];
  if (errors.length > 0)
    throw new Failure('invalid', `module.yaml: ${errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')}`, { errors });
}
