import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { openDatabase } from '../../../accounts/database/database.js';
import { type DatabaseServer, optionsFor, type ReadyDatabase } from '../../support/accounts/database-servers.js';
import { StripeStandIn } from '../../support/accounts/stripe-stand-in.js';
import { member, type Reply, type Visitor } from '../../support/accounts/visitor.js';

const DAY_MS = 24 * 3600 * 1000;
const configOf = (standIn: StripeStandIn): object => ({
  app: { name: 'Demo', id: 'demo', domain: 'https://demo.example' },
  plans: [
    { name: 'free' },
    {
      name: 'pro',
      price: 20,
      trial_days: 14,
      payment_price_id: [...standIn.prices.values()].find(({ product }) => product === 'mod_demo_pro')?.id,
    },
    { name: 'team', price: 50, payment_price_id: [...standIn.prices.values()].find(({ product }) => product === 'mod_demo_team')?.id },
  ],
  billing: { provider: 'stripe', grace_days: 3 },
});

/** Checkout, events in any order, cancelling, and a processor that is down. */
export function billingSuite(server: DatabaseServer): void {
  describe(`billing in ${server.name}`, { skip: server.missing }, () => {
    let standIn: StripeStandIn;
    let database: ReadyDatabase;
    let accounts: Accounts;
    let offset = 0;
    let users = 0;
    const lines: string[] = [];
    before(async () => {
      standIn = await StripeStandIn.start();
      for (const [name, amount] of [
        ['pro', 2000],
        ['team', 5000],
      ] as const) {
        standIn.products.set(`mod_demo_${name}`, { id: `mod_demo_${name}`, name });
        standIn.prices.set(`price_${name}`, {
          id: `price_${name}`,
          product: `mod_demo_${name}`,
          unit_amount: amount,
          lookup_key: null,
          active: true,
          recurring: { interval: 'month' },
        });
      }
      database = await server.open();
      const options = optionsFor(database, {
        config: configOf(standIn),
        environment: { PAYMENT_SECRET_KEY: 'sk_test_of_a_test', PAYMENT_WEBHOOK_SECRET: `whsec_old,${standIn.secret}` },
        now: () => Date.now() + offset,
      });
      accounts = await createAccounts({ ...options, paymentApi: standIn.url, print: (line) => lines.push(line) });
    });
    after(async () => {
      await accounts?.close();
      standIn?.close();
    });
    const user = (): Promise<Visitor> => {
      users += 1;
      return member(accounts, `user${users}@example.com`, `198.51.100.${users}`);
    };
    const deliver = async (
      { body, signature }: { body: string; signature: string },
      headers: Record<string, string> = {},
    ): Promise<Reply> => {
      const request = new Request('http://localhost:3000/api/module/webhook', {
        method: 'POST',
        headers: { 'stripe-signature': signature, ...headers },
        body,
      });
      const response = await accounts.handle(request, { ip: '192.0.2.1' });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    };
    const planOf = async (visitor: Visitor): Promise<string> => (await visitor.get('/api/module/subscription/status')).body.plan;
    /** A user who has paid, told by one event. */
    const payer = async (planId = 'pro') => {
      const visitor = await user();
      const { sessionId } = (await visitor.post('/api/module/checkout', { planId })).body;
      const subscription = standIn.pay(sessionId);
      await deliver(standIn.event('customer.subscription.created', subscription));
      return { visitor, subscription };
    };

    it('gives five requests at once one customer and one page, which comes back to our address (B6, B9)', async () => {
      const visitor = await user();
      const replies = await Promise.all(
        Array.from({ length: 5 }, () =>
          visitor.post('/api/module/checkout', { planId: 'pro' }, { host: 'evil.example', referer: 'https://evil.example' }),
        ),
      );
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
      assert.equal(new Set(replies.map(({ body }) => body.url)).size, 1);
      assert.equal([...standIn.customers.values()].filter(({ email }) => email === `user${users}@example.com`).length, 1);
      assert.ok(decodeURIComponent(replies[0]!.body.url).includes('to=https://demo.example/'));
      assert.equal((await visitor.post('/api/module/checkout', { planId: 'pro' })).body.url, replies[0]!.body.url);
      for (const planId of ['free', 'nothing', '', 7])
        assert.equal((await visitor.post('/api/module/checkout', { planId })).status, 400, String(planId));
    });

    it('gives the plan once the processor says so, and no second subscription (B6)', async () => {
      const { visitor } = await payer();
      assert.equal(await planOf(visitor), 'pro');
      const { body } = await visitor.get('/api/module/billing');
      assert.deepEqual(
        [body.subscription.status, body.subscription.paymentMethod, body.plan.id, body.invoices[0].amount],
        ['trialing', { brand: 'visa', last4: '4242' }, 'pro', 20],
      );
      assert.equal((await visitor.post('/api/module/checkout', { planId: 'team' })).status, 409);
      assert.match((await visitor.post('/api/module/billing-portal')).body.url, /^https:\/\/portal\.example\/cus_/);
    });

    it('ends in the state of the processor, whatever the order of its events (B3, B4)', async () => {
      const types = [
        'customer.subscription.created',
        'customer.subscription.updated',
        'checkout.session.completed',
        'invoice.paid',
        'customer.subscription.deleted',
      ];
      const orders = server.name === 'sqlite' ? 12 : 4;
      for (let order = 0; order < orders; order += 1) {
        const visitor = await user();
        const subscription = standIn.pay((await visitor.post('/api/module/checkout', { planId: 'team' })).body.sessionId);
        const kinds = types.toSorted(() => Math.random() - 0.5);
        const events = kinds.map((type) => standIn.event(type, subscription));
        standIn.delay = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
        // The state changes while its events are under way, and old answers come after new ones.
        const sent = events.map((event, index) =>
          deliver(event).then(() => {
            if (index === 1) subscription.status = order % 2 === 0 ? 'canceled' : 'active';
          }),
        );
        await Promise.all(sent);
        standIn.delay = async () => {};
        await deliver(standIn.event('customer.subscription.updated', subscription));
        assert.equal(await planOf(visitor), order % 2 === 0 ? 'free' : 'team', kinds.join(', '));
        for (const event of events) await deliver(event);
        assert.equal(await planOf(visitor), order % 2 === 0 ? 'free' : 'team', kinds.join(', '));
      }
    });

    it('takes an event once, however often it comes at once (B2)', async () => {
      const { subscription } = await payer();
      const event = standIn.event('customer.subscription.updated', subscription);
      const asked = standIn.asked.length;
      const statuses = (await Promise.all(Array.from({ length: 8 }, () => deliver(event)))).map(({ status }) => status);
      assert.ok(statuses.every((status) => status === 200 || status === 409) && statuses.includes(200), String(statuses));
      assert.equal(standIn.asked.length - asked, 1);
      assert.equal((await deliver(event)).body.note, 'known');
    });

    it('refuses events that the processor has not signed, or not lately (B1)', async () => {
      const { subscription } = await payer();
      const type = 'customer.subscription.updated';
      const good = standIn.event(type, subscription);
      for (const [why, event] of Object.entries({
        unsigned: { ...good, signature: '' },
        bad: { ...good, signature: `${good.signature.slice(0, -4)}0000` },
        changed: { ...good, body: `${good.body.replace('active', 'paused')} ` },
        otherSecret: standIn.event(type, subscription, { secret: 'whsec_of_nobody' }),
        old: standIn.event(type, subscription, { at: Date.now() - 600_000 }),
        future: standIn.event(type, subscription, { at: Date.now() + 600_000 }),
        twoHeaders: { ...good, signature: `${good.signature}, t=1,v1=00` },
      }))
        assert.equal((await deliver(event)).status, 400, why);
      assert.equal((await deliver(standIn.event(type, subscription, { secret: 'whsec_old' }))).status, 200, 'the secret before');
    });

    it('takes an event again whose state could not be kept (B5)', async () => {
      const { visitor, subscription } = await payer('team');
      subscription.status = 'canceled';
      const event = standIn.event('customer.subscription.deleted', subscription);
      const opened = await openDatabase(accounts.settings.database, database.d1);
      await opened.tables.schema.alterTable('accounts_subscription').renameTo('accounts_subscription_away').execute();
      assert.ok((await deliver(event)).status >= 500);
      await opened.tables.schema.alterTable('accounts_subscription_away').renameTo('accounts_subscription').execute();
      await opened.close();
      assert.equal(await planOf(visitor), 'team');
      assert.deepEqual([(await deliver(event)).status, await planOf(visitor)], [200, 'free']);
    });

    it('ignores customers of nobody here, also where an event names one of ours (B10)', async () => {
      const { visitor, subscription } = await payer('team');
      const stolen = { ...subscription, id: 'sub_foreign', customer: 'cus_foreign', metadata: { userId: 'whoever' } };
      standIn.subscriptions.set('sub_foreign', stolen);
      assert.equal((await deliver(standIn.event('customer.subscription.updated', stolen))).body.note, 'a customer of nobody here');
      assert.equal(await planOf(visitor), 'team');
    });

    it('keeps a plan for three days after a payment that failed, and none in a state that it does not know (B11)', async () => {
      const { visitor, subscription } = await payer('team');
      subscription.status = 'past_due';
      await deliver(standIn.event('invoice.payment_failed', subscription));
      assert.equal(await planOf(visitor), 'team');
      offset = 3 * DAY_MS + 1000;
      assert.equal(await planOf(visitor), 'free');
      offset = 0;
      for (const status of ['unpaid', 'incomplete', 'paused', 'something_new'] as const) {
        subscription.status = status as 'unpaid';
        await deliver(standIn.event('customer.subscription.updated', subscription));
        assert.equal(await planOf(visitor), 'free', status);
      }
    });

    it('cancels and takes it back, twice each, also what the page of the processor has cancelled (B12)', async () => {
      const { visitor, subscription } = await payer('team');
      for (let time = 0; time < 2; time += 1) assert.equal((await visitor.post('/api/module/cancel')).body.canceled, true);
      assert.equal(subscription.cancel_at_period_end, true);
      assert.equal(await planOf(visitor), 'team');
      for (let time = 0; time < 2; time += 1) assert.deepEqual((await visitor.post('/api/module/reactivate')).body, { reactivated: true });
      assert.equal(subscription.cancel_at_period_end, false);
      subscription.cancel_at = Math.floor(Date.now() / 1000) + 1000;
      await deliver(standIn.event('customer.subscription.updated', subscription));
      assert.equal((await visitor.get('/api/module/billing')).body.subscription.cancelAtPeriodEnd, true);
      assert.equal((await visitor.post('/api/module/reactivate')).status, 200);
      assert.equal(subscription.cancel_at, null);
      subscription.status = 'canceled';
      await deliver(standIn.event('customer.subscription.deleted', subscription));
      assert.equal((await visitor.post('/api/module/reactivate')).status, 409);
      assert.equal((await visitor.post('/api/module/cancel')).status, 404);
      assert.equal((await (await user()).post('/api/module/cancel')).status, 404);
    });

    it('forgets its events after three months', async () => {
      const { subscription } = await payer('team');
      const event = standIn.event('customer.subscription.updated', subscription);
      await deliver(event);
      const opened = await openDatabase(accounts.settings.database, database.d1);
      const left = async () => (await opened.tables.selectFrom('accounts_event').select('id').execute()).length;
      assert.ok((await left()) > 1);
      await opened.tables.updateTable('accounts_event').set({ received: 1 }).where('state', '=', 'done').execute();
      const second = await createAccounts({
        ...optionsFor(database, { config: configOf(standIn), environment: { PAYMENT_SECRET_KEY: 'sk_test_of_a_test' } }),
        paymentApi: standIn.url,
      });
      await second.close();
      assert.equal(await left(), 0);
      await opened.close();
    });

    it('gives a trial once for ever (B7)', async () => {
      const { visitor, subscription } = await payer('pro');
      subscription.status = 'canceled';
      await deliver(standIn.event('customer.subscription.deleted', subscription));
      const { sessionId } = (await visitor.post('/api/module/checkout', { planId: 'pro' })).body;
      assert.equal(standIn.checkouts.get(sessionId)!.trialDays, 0);
    });

    it('shows nobody what another pays, whatever the mail address (B8)', async () => {
      const { subscription } = await payer('team');
      const thief = await user();
      const opened = await openDatabase(accounts.settings.database, database.d1);
      const caller = await accounts.callerOf(new Headers({ cookie: thief.cookie }));
      await opened.tables
        .updateTable('user')
        .set({ email: `victim${users}@example.com` })
        .where('id', '=', caller!.userId)
        .execute();
      await opened.close();
      standIn.customers.get(subscription.customer)!.email = `victim${users}@example.com`;
      const { body } = await thief.get('/api/module/billing');
      assert.deepEqual([body.subscription, body.invoices], [null, []]);
    });

    it('answers from its own copy while the processor is down, and catches up (B13)', async () => {
      const { visitor, subscription } = await payer('team');
      standIn.isDown = true;
      assert.equal(await planOf(visitor), 'team');
      const { body } = await visitor.get('/api/module/billing');
      assert.deepEqual([body.subscription.status, body.stale], ['active', true]);
      assert.equal((await visitor.post('/api/module/cancel')).status, 503);
      const event = standIn.event('customer.subscription.deleted', subscription);
      assert.equal((await deliver(event)).status, 500);
      await assert.rejects(accounts.reconcile());
      standIn.isDown = false;
      subscription.status = 'canceled';
      assert.equal((await deliver(event)).status, 200);
      assert.equal(await planOf(visitor), 'free');
      const other = await payer('team');
      other.subscription.status = 'canceled';
      await accounts.reconcile();
      assert.equal(await planOf(other.visitor), 'free');
    });
  });
}
