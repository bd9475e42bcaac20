import { type Accounts, type AccountsOptions, accountsOn } from '../../../../accounts/accounts.js';
import { readSettings } from '../../../../accounts/config/module-file.js';
import { type Database, databaseOf, driverOf, openDatabase } from '../../../../accounts/database/database.js';
import type { Mail } from '../../../../accounts/mail.js';
import { optionsFor, type ReadyDatabase } from '../database-servers.js';
import type { StripeStandIn } from '../stripe-stand-in.js';
import { type Reply, Visitor } from '../visitor.js';
import { type Cuts, cuttable } from './cuts.js';

/** What a flow has to do with. */
export interface World {
  readonly accounts: Accounts;
  readonly standIn: StripeStandIn;
  readonly mails: Mail[];
  /** The same database, to look into; it is never cut. */
  readonly database: Database;
  /** A new, empty database. */
  empty(): Promise<ReadyDatabase>;
  /** What the accounts were made with, on a database of their own choice. */
  start(config?: object, ready?: ReadyDatabase): Promise<Accounts>;
  /** The accounts' clock. */
  now(): number;
  /** Lets time go by. */
  advance(ms: number): void;
  close(): Promise<void>;
}

/** How the accounts of a world are set up, in JSON, so that another process can have the same. */
export interface WorldPlan {
  readonly ready: Omit<ReadyDatabase, 'd1'>;
  readonly paymentApi: string;
  readonly webhookSecret: string;
  readonly offset: number;
}

const PLANS = [
  { name: 'free' },
  { name: 'pro', price: 20, trial_days: 14, payment_price_id: 'price_pro' },
  { name: 'team', price: 50, payment_price_id: 'price_team' },
];

/** The settings of every world. */
const CONFIG = {
  app: { name: 'Demo', id: 'demo', domain: 'https://demo.example' },
  plans: PLANS,
  billing: { provider: 'stripe', grace_days: 3 },
  meters: { calls: { limits: { free: 1000, pro: 1000, team: 1000 }, warning_at: 0.5 } },
  seed: { admin: { email: 'root@example.com', password: 'a password for root 1' } },
  auth: { methods: { email_password: true, github: { client_id: 'github-client', client_secret: 'github-secret' } } },
};

/** Makes the plans of a world at the processor. */
export function stock(standIn: StripeStandIn): void {
  for (const { name, price = 0, payment_price_id: id } of PLANS) {
    if (id === undefined) continue;
    standIn.products.set(`mod_demo_${name}`, { id: `mod_demo_${name}`, name });
    standIn.prices.set(id, {
      id,
      product: `mod_demo_${name}`,
      unit_amount: 100 * price,
      lookup_key: null,
      active: true,
      recurring: { interval: 'month' },
    });
  }
}

/** Accounts whose statements, questions to the processor and mails are steps of `cuts`. */
export async function makeWorld(
  plan: WorldPlan,
  standIn: StripeStandIn | undefined,
  cuts: Cuts,
  { d1, empty }: { d1?: NonNullable<ReadyDatabase['d1']>; empty: World['empty'] },
): Promise<World> {
  const mails: Mail[] = [];
  let { offset } = plan;
  const now = (): number => Date.now() + offset;
  const ready = { ...plan.ready, ...(d1 ? { d1 } : {}) };
  if (standIn) standIn.around = (path, work) => cuts.step(path, work);
  const start = async (config: object = {}, on: ReadyDatabase = ready): Promise<Accounts> => {
    const options: AccountsOptions = {
      ...optionsFor(on, {
        config: { ...CONFIG, ...config },
        environment: { PAYMENT_SECRET_KEY: 'sk_test_of_a_test', PAYMENT_WEBHOOK_SECRET: plan.webhookSecret },
        now,
      }),
      paymentApi: new URL(plan.paymentApi),
      sendMail: (mail) => cuts.step('mail', async () => void mails.push(mail)),
      print: () => {},
    };
    const settings = await readSettings(options.config, options.environment!);
    const driver = cuttable(await driverOf(settings.database, on.d1), cuts);
    return accountsOn(databaseOf(settings.database.adapter, driver), settings, options);
  };
  const accounts = await start();
  const database = await openDatabase(accounts.settings.database, d1);
  return {
    accounts,
    standIn: standIn!,
    mails,
    database,
    empty,
    start,
    now,
    advance: (ms) => {
      offset += ms;
    },
    async close() {
      await accounts.close();
      await database.close();
    },
  };
}

/** What a flow remembers between its parts. */
export type State = Record<string, string>;

/** Who has the cookies and the address of a state. */
export function visitorOf(accounts: Accounts, { cookie = '', ip = '203.0.113.7' }: State): Visitor {
  const visitor = new Visitor(accounts, ip);
  for (const pair of cookie.split('; ').filter(Boolean))
    visitor.setCookie(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  return visitor;
}

/** Hands an event of the processor over. */
export async function deliver(
  accounts: Accounts,
  { body, signature }: { body: string; signature: string },
): Promise<Pick<Reply, 'status'>> {
  const headers = { 'stripe-signature': signature };
  return accounts.handle(new Request('http://localhost:3000/api/module/webhook', { method: 'POST', headers, body }), { ip: '192.0.2.1' });
}
