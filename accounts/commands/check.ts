import type { Processor } from '../billing/processor.js';
import { WEBHOOK_PATH } from '../billing/routes.js';
import type { Environment } from '../config/environment.js';
import { readSettings } from '../config/module-file.js';
import type { PlanSettings, Settings, SocialSettings } from '../config/settings.js';
import { openDatabase } from '../database/database.js';
import { migrate, TABLES_VERSION, tablesVersion } from '../database/migrate.js';
import { AUTH_PATH } from '../identity/library.js';
import { withinTime } from '../identity/social.js';
import { greetMailServer } from '../mail.js';
import type { Command } from './command.js';

/** One thing that was looked at, and what to do where it is not good. */
interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'bad';
  readonly says: string;
  readonly remedy?: string;
}

const SIGN = { good: 'ok  ', note: 'note', bad: 'BAD ' };
/** How long one answer of the network may take. */
const ANSWER_MS = 15_000;
/** The events without which the local copy of a subscription would be old until the next hour. */
const NEEDED_EVENTS = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
];

/** Looks at the file, and asks everything that the library needs: the database, the processor, the mail server and the providers. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check the file, the database, the processor, the mail server and the providers',
  options: { api: { type: 'string' } },
  async run({ config, databaseFolder, values, environment }) {
    const settings = await readSettings(config, environment, databaseFolder);
    const asked: readonly Promise<readonly Finding[]>[] = [
      fileFindings(config, settings, environment),
      databaseFindings(settings.database),
      mailFindings(settings),
      processorFindings(settings, typeof values.api === 'string' ? new URL(values.api) : undefined),
      ...settings.social.map((provider) => providerFindings(provider, settings.origin)),
    ];
    const findings = (await Promise.all(asked)).flat();
    return {
      lines: findings.flatMap(({ what, state, says, remedy }) => [
        `${SIGN[state]} ${what}: ${says}`,
        ...(remedy === undefined ? [] : [`       -> ${remedy}`]),
      ]),
      result: findings,
      isBad: findings.some(({ state }) => state === 'bad'),
    };
  },
};

const good = (what: string, says: string): Finding => ({ what, state: 'good', says });
const note = (what: string, says: string, remedy: string): Finding => ({ what, state: 'note', says, remedy });
const bad = (what: string, says: string, remedy: string): Finding => ({ what, state: 'bad', says, remedy });

async function fileFindings(config: string, { development, origin, seed }: Settings, environment: Environment): Promise<Finding[]> {
  return [
    good('file', `${config} is right`),
    development ? note('mode', 'development', 'set NODE_ENV=production on the server that others use') : good('mode', 'production'),
    environment.AUTH_SECRET
      ? good('secret', 'AUTH_SECRET is set')
      : note(
          'secret',
          'AUTH_SECRET is not set: everybody is signed out at each start',
          'set it to the output of "openssl rand -base64 32"',
        ),
    origin.startsWith('https:') || development
      ? good('address', origin)
      : bad('address', `${origin} is no https address, so cookies travel in clear`, 'set AUTH_URL to the https address that browsers use'),
    ...(seed.admin && !development
      ? [note('admin', 'seed.admin.password stands in the file', 'take it from the environment, as ${ADMIN_PASSWORD}')]
      : []),
  ];
}

async function databaseFindings(settings: Settings['database']): Promise<Finding[]> {
  const what = 'database';
  try {
    const database = await openDatabase(settings);
    try {
      const version = await tablesVersion(database);
      if (version === TABLES_VERSION) return [good(what, `${settings.adapter}, tables of version ${version}`)];
      const says = `tables of version ${version}; this program has ${TABLES_VERSION}`;
      if (version > TABLES_VERSION) return [bad(what, says, 'update this program')];
      return settings.autoMigrate
        ? [note(what, says, 'the next start brings them there; "quern accounts migrate" does it now')]
        : [bad(what, says, 'run "quern accounts migrate"')];
    } finally {
      await database.close();
    }
  } catch (error) {
    return [bad(what, `${settings.adapter} does not answer: ${reasonOf(error)}`, 'look at database.url, and whether the server runs')];
  }
}

async function mailFindings({ mail }: Settings): Promise<Finding[]> {
  if (mail.transport === 'console')
    return [note('mail', 'mails go to the console', 'set auth.email.transport to smtp on the server that others use')];
  if (!mail.smtp) return [good('mail', `mails go to ${mail.transport}, which is asked at the first mail`)];
  const { host, port } = mail.smtp;
  try {
    await greetMailServer(mail);
    return [good('mail', `${host}:${port} takes mails`)];
  } catch (error) {
    return [
      bad('mail', `${host}:${port} takes no mails: ${reasonOf(error)}`, 'look at auth.email.smtp: host, port, secure, user, password'),
    ];
  }
}

async function processorFindings(settings: Settings, api: URL | undefined): Promise<Finding[]> {
  const { billing, plans, origin } = settings;
  if (billing.provider === 'none')
    return [note('billing', 'nothing is sold, so nobody is limited', 'set billing.provider to stripe where you sell plans')];
  const processor = (await import('../billing/stripe.js')).stripeProcessor(settings, api);
  const secret =
    billing.webhookSecrets.length > 0
      ? good('webhook secret', 'PAYMENT_WEBHOOK_SECRET is set')
      : bad('webhook secret', 'PAYMENT_WEBHOOK_SECRET is not set, so no event is believed', 'set it to the secret of the endpoint');
  try {
    const endpoints = await withinTime(processor.endpoints(), ANSWER_MS, 'it');
    const priced = plans.filter(({ price }) => price > 0).map((plan) => priceFinding(processor, plan, billing.currency));
    return [good('billing', 'the processor takes the key'), secret, webhookFinding(endpoints, origin), ...(await Promise.all(priced))];
  } catch (error) {
    return [
      bad('billing', `the processor refuses: ${reasonOf(error)}`, 'look at PAYMENT_SECRET_KEY, and at the way to the processor'),
      secret,
    ];
  }
}

function webhookFinding(endpoints: Awaited<ReturnType<Processor['endpoints']>>, origin: string): Finding {
  const address = new URL(WEBHOOK_PATH, origin).href;
  const what = 'webhook';
  const own = endpoints.filter(({ url }) => url === address);
  if (own.length === 0)
    return bad(
      what,
      `the processor sends no events to ${address}`,
      'add an endpoint with that address at the processor, and set its secret',
    );
  if (!own.some(({ isOn }) => isOn)) return bad(what, `the endpoint ${address} is switched off`, 'switch it on at the processor');
  const heard = own.filter(({ isOn }) => isOn).flatMap(({ events }) => events);
  const missing = heard.includes('*') ? [] : NEEDED_EVENTS.filter((event) => !heard.includes(event));
  return missing.length === 0
    ? good(what, `events come to ${address}`)
    : bad(what, `${address} does not hear ${missing.join(', ')}`, 'add these events to the endpoint at the processor');
}

async function priceFinding(processor: Processor, plan: PlanSettings, currency: string): Promise<Finding> {
  const what = `plan ${plan.name}`;
  const remedy = 'run "quern accounts plans push"';
  if (!plan.payment_price_id) return bad(what, 'it has no price at the processor', remedy);
  const price = await withinTime(processor.price(plan.payment_price_id), ANSWER_MS, 'it');
  if (!price)
    return bad(what, `the processor has no price ${plan.payment_price_id}`, `${remedy}; is the key of the same account and mode?`);
  if (!price.isOn) return bad(what, `the price ${plan.payment_price_id} is archived`, remedy);
  const [told, wanted] = [price, { ...plan, amount: plan.price, currency }].map(
    (each) => `${each.amount} ${each.currency} a ${each.interval}`,
  );
  return told === wanted ? good(what, told!) : bad(what, `it costs ${wanted} in the file and ${told} at the processor`, remedy);
}

/** Where a provider says what it is. Those of OAuth 2 alone have no such document: that their site answers must do. */
function documentOf({ name, tenant = 'common' }: SocialSettings): { url: string; issuer?: string } {
  const document = '.well-known/openid-configuration';
  switch (name) {
    case 'google':
      return { url: `https://accounts.google.com/${document}`, issuer: 'https://accounts.google.com' };
    case 'apple':
      return { url: `https://appleid.apple.com/${document}`, issuer: 'https://appleid.apple.com' };
    case 'microsoft':
      return { url: `https://login.microsoftonline.com/${tenant}/v2.0/${document}`, issuer: 'https://login.microsoftonline.com/' };
    case 'twitter':
      return { url: 'https://x.com/' };
    default:
      return { url: `https://${name}.com/login` };
  }
}

async function providerFindings(provider: SocialSettings, origin: string): Promise<Finding[]> {
  const what = `provider ${provider.name}`;
  const { url, issuer } = documentOf(provider);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: issuer ? 'error' : 'follow' });
    if (issuer ? !response.ok : response.status >= 500)
      return [
        bad(
          what,
          `${url} answers ${response.status}`,
          provider.tenant ? `look at auth.methods.${provider.name}.tenant` : 'try again later',
        ),
      ];
    const named = issuer === undefined ? undefined : ((await response.json()) as { issuer?: unknown }).issuer;
    if (issuer !== undefined && !(typeof named === 'string' && named.startsWith(issuer)))
      return [bad(what, `${url} names the issuer ${JSON.stringify(named)}`, 'something on the way answers in its place: look at proxies')];
    return [good(what, `answers; the address to come back to, which it must know, is ${origin}${AUTH_PATH}/callback/${provider.name}`)];
  } catch (error) {
    return [bad(what, `${url} cannot be reached: ${reasonOf(error)}`, 'let this server reach it: look at DNS, firewall and proxies')];
  }
}

/** What went wrong, in one line: the cause of a failed request says more than "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return (cause instanceof Error && cause.message !== '' ? cause.message : message).split('\n')[0]!.slice(0, 300);
}

/** `validate` reads the file, `doctor` asks all that it names, and `migrate` makes the tables. */
export const checkCommands: readonly Command[] = [
  {
    name: 'validate',
    summary: 'check the module file',
    async run({ config, environment }) {
      const { app, plans, meters, features } = await readSettings(config, environment);
      const result = { app: app.id, plans: plans.map(({ name }) => name), features: Object.keys(features), meters: Object.keys(meters) };
      return {
        lines: [
          `${config} is right: plans ${result.plans.join(', ')}; features ${result.features.join(', ') || 'none'}; meters ${result.meters.join(', ') || 'none'}.`,
        ],
        result,
      };
    },
  },
  doctorCommand,
  {
    name: 'migrate',
    summary: 'make or change the tables',
    async run({ config, databaseFolder, environment }) {
      const { database } = await readSettings(config, environment, databaseFolder);
      const opened = await openDatabase(database);
      try {
        await migrate(opened, true);
      } finally {
        await opened.close();
      }
      return { lines: [`The tables have version ${TABLES_VERSION}.`], result: { version: TABLES_VERSION } };
    },
  },
];
