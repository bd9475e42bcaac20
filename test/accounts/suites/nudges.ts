import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { openDatabase } from '../../../accounts/database/database.js';
import { type DatabaseServer, optionsFor, type ReadyDatabase } from '../../support/accounts/database-servers.js';
import { member, type Visitor } from '../../support/accounts/visitor.js';

const DAY_MS = 24 * 3600 * 1000;
const NOON = Date.UTC(2026, 10, 27, 12);
const CONFIG = {
  app: { name: 'Demo', id: 'demo', domain: 'https://demo.example' },
  plans: [{ name: 'free' }, { name: 'pro', price: 20 }],
  billing: { provider: 'stripe' },
  meters: {
    calls: {
      limits: { free: 10 },
      warning_at: 0.5,
      nudge: { message: '{used} of {limit} calls, {remaining} left on {plan}', cta: 'More calls' },
    },
    seats: { limits: { free: 2 } },
  },
  nudges: {
    welcome: {
      trigger: 'free_plan',
      message: 'You are on {plan}.',
      style: 'banner',
      show_once_per: 'ever',
      link: '/plans',
      color: '#aa00ff',
    },
    full: { trigger: 'limit_reached:seats', message: 'No {meter} left.', show_once_per: 'day', discount_code: 'MORE' },
    trial: { trigger: 'trial_ending', message: '{days} days of {plan} left.', style: 'modal', position: 'center' },
    failed: { trigger: 'payment_failed', message: 'Your card was refused.', dismissible: false },
    leaving: { trigger: 'subscription_ending', message: 'Stay?' },
  },
};

/** Words to users about what they have used and paid. */
export function nudgesSuite(server: DatabaseServer): void {
  describe(`nudges in ${server.name}`, { skip: server.missing }, () => {
    let database: ReadyDatabase;
    let accounts: Accounts;
    let ann: Visitor;
    let userId: string;
    let now = NOON;
    before(async () => {
      database = await server.open();
      accounts = await createAccounts(
        optionsFor(database, { config: CONFIG, environment: { PAYMENT_SECRET_KEY: 'sk_test' }, now: () => now }),
      );
      ann = await member(accounts, 'ann@example.com');
      userId = (await accounts.callerOf(new Headers({ cookie: ann.cookie })))!.userId;
    });
    after(() => accounts?.close());
    const shown = async (who = ann): Promise<Record<string, string>> => {
      const { body } = await who.get('/api/module/nudges');
      return Object.fromEntries(body.map(({ id, message }: { id: string; message: string }) => [id, message]));
    };
    const away = (id: string, who = ann): Promise<{ status: number }> => who.post(`/api/module/nudges/${encodeURIComponent(id)}/dismiss`);
    const use = (meterId: string, count: number): Promise<unknown> => accounts.meters.track(userId, meterId, count);

    it('tell of a limit that is near or reached, and of the free plan', async () => {
      assert.deepEqual(await shown(), { welcome: 'You are on free.' });
      await use('calls', 4);
      await use('seats', 1);
      assert.deepEqual(Object.keys(await shown()), ['welcome']);
      await use('calls', 1);
      await use('seats', 1);
      assert.deepEqual(await shown(), {
        welcome: 'You are on free.',
        full: 'No seats left.',
        'meter:calls': '5 of 10 calls, 5 left on free',
      });
      const { body } = await ann.get('/api/module/nudges');
      assert.deepEqual(body[0], {
        id: 'welcome',
        trigger: 'free_plan',
        message: 'You are on free.',
        cta: 'Upgrade',
        link: 'https://demo.example/plans',
        style: 'banner',
        position: 'bottom',
        dismissible: true,
        show_once_per: 'ever',
        discount_code: null,
        color: '#aa00ff',
        meter: null,
      });
      assert.deepEqual([body[1].discount_code, body[1].meter, body[2].cta], ['MORE', 'seats', 'More calls']);
      assert.equal(body[2].link, 'https://demo.example/pricing');
    });

    it('stay away for a session, a day or ever, once they were put away', async () => {
      const elsewhere = await member(accounts, 'ann@example.com', '192.0.2.40');
      for (const id of ['welcome', 'full', 'meter:calls']) assert.equal((await away(id)).status, 200, id);
      assert.equal((await away('welcome')).status, 200, 'once more');
      assert.deepEqual(await shown(), {});
      assert.deepEqual(Object.keys(await shown(elsewhere)), ['meter:calls'], 'another session');
      now += DAY_MS;
      assert.deepEqual(Object.keys(await shown()), ['full'], 'another day');
      now = NOON;
      assert.equal((await away('nothing')).status, 404);
      assert.equal((await away('__proto__')).status, 404);
      assert.equal((await away('failed')).status, 409);
    });

    it('tell nobody of another, and nobody who is not there', async () => {
      const bob = await member(accounts, 'bob@example.com', '192.0.2.41');
      assert.deepEqual(Object.keys(await shown(bob)), ['welcome']);
      bob.headers = {};
      const stranger = await accounts.handle(new Request('http://localhost:3000/api/module/nudges'), { ip: '203.0.113.9' });
      assert.equal(stranger.status, 401);
    });

    it('tell of a trial that ends, a payment that failed and a plan that was cancelled', async () => {
      const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
      const customer = { checkouts: 0, checkoutPlan: null, checkoutUrl: null, checkoutId: null, checkoutExpires: 0 };
      await tables
        .insertInto('accounts_customer')
        .values({ userId, customerId: 'cus_1', trialUsed: 1, ...customer })
        .execute();
      const fields = {
        periodStart: null,
        periodEnd: null,
        pastDueSince: now,
        cardBrand: null,
        cardLast4: null,
        created: now,
        ticket: 1,
        applied: 1,
      };
      await tables
        .insertInto('accounts_subscription')
        .values({
          id: 'sub_1',
          customerId: 'cus_1',
          plan: 'pro',
          status: 'trialing',
          cancelAt: null,
          trialEnd: now + 2.5 * DAY_MS,
          ...fields,
        })
        .execute();
      assert.equal((await shown()).trial, '3 days of pro left.');
      now -= DAY_MS;
      assert.equal((await shown()).trial, undefined, 'more than three days before');
      now = NOON;
      await tables.updateTable('accounts_subscription').set({ status: 'past_due' }).execute();
      assert.equal((await shown()).failed, 'Your card was refused.');
      await tables
        .updateTable('accounts_subscription')
        .set({ status: 'active', cancelAt: now + DAY_MS })
        .execute();
      assert.equal((await shown()).leaving, 'Stay?');
      await close();
    });
  });
}
