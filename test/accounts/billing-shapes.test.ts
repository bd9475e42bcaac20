import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import type { Processor } from '../../accounts/billing/processor.js';
import { stripeProcessor } from '../../accounts/billing/stripe.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { StripeMock } from '../support/accounts/stripe-mock.js';
import { type MirroredRequest, StripeStandIn } from '../support/accounts/stripe-stand-in.js';
import { member } from '../support/accounts/visitor.js';

const PRO = { name: 'pro', display_name: 'Pro', price: 20, interval: 'month', trial_days: 14 } as const;

describe('the processor’s description of its interface', { skip: StripeMock.missing }, () => {
  let mock: StripeMock;
  let standIn: StripeStandIn;
  let accounts: Accounts;
  /** Requests by method and path, and what the description says against them. */
  const sent = new Set<string>();
  const refused: string[] = [];
  const environment = { PAYMENT_SECRET_KEY: 'sk_test_123', PAYMENT_WEBHOOK_SECRET: 'whsec_of_a_test' };
  const processorAt = (api: URL): Processor => stripeProcessor(accounts.settings, api);
  before(async () => {
    [mock, standIn] = await Promise.all([StripeMock.start(), StripeStandIn.start()]);
    standIn.mirror = async (request) => {
      sent.add(`${request.method} ${request.path.split('?')[0]!.replace(/\/(?:cus|sub|price|cs|mod)_[^/]+/, '/:id')}`);
      const refusal = await mock.refusalOf(request);
      if (refusal) refused.push(refusal);
    };
    standIn.prices.set('price_pro', {
      id: 'price_pro',
      product: 'mod_demo_pro',
      unit_amount: 2000,
      lookup_key: null,
      active: true,
      recurring: { interval: 'month' },
    });
    const config = { plans: [{ name: 'free' }, { ...PRO, payment_price_id: 'price_pro' }], billing: { provider: 'stripe' } };
    const options = optionsFor(await DATABASE_SERVERS[0]!.open(), { config, environment });
    accounts = await createAccounts({ ...options, paymentApi: standIn.url });
  });
  after(async () => {
    await accounts?.close();
    standIn?.close();
    mock?.close();
  });

  it('takes every request that billing makes', async () => {
    const visitor = await member(accounts, 'ann@example.com');
    const { sessionId } = (await visitor.post('/api/module/checkout', { planId: 'pro' })).body;
    await visitor.post('/api/module/checkout', { planId: 'pro' });
    const subscription = standIn.pay(sessionId);
    const { body, signature } = standIn.event('customer.subscription.created', subscription);
    const webhook = new Request('http://localhost:3000/api/module/webhook', {
      method: 'POST',
      headers: { 'stripe-signature': signature },
      body,
    });
    assert.equal((await accounts.handle(webhook, { ip: '192.0.2.1' })).status, 200);
    for (const path of ['cancel', 'reactivate', 'billing-portal'])
      assert.equal((await visitor.post(`/api/module/${path}`)).status, 200, path);
    assert.equal((await visitor.get('/api/module/billing')).body.subscription.status, 'trialing');
    subscription.cancel_at = 1_900_000_000;
    await accounts.reconcile();
    assert.equal((await visitor.post('/api/module/reactivate')).status, 200);
    const processor = processorAt(standIn.url);
    await processor.subscriptions(subscription.customer);
    await processor.cancel(subscription.id, 'immediate');
    for (const price of [20, 25]) await processor.push({ ...PRO, price });
    await processor.endpoints();
    await processor.price('price_pro');
    assert.deepEqual(refused, []);
    assert.deepEqual([...sent].sort(), [
      'DELETE /v1/subscriptions/:id',
      'GET /v1/checkout/sessions/:id',
      'GET /v1/invoices',
      'GET /v1/prices',
      'GET /v1/prices/:id',
      'GET /v1/products/:id',
      'GET /v1/subscriptions',
      'GET /v1/subscriptions/:id',
      'GET /v1/webhook_endpoints',
      'POST /v1/billing_portal/sessions',
      'POST /v1/checkout/sessions',
      'POST /v1/customers',
      'POST /v1/prices',
      'POST /v1/prices/:id',
      'POST /v1/products',
      'POST /v1/subscriptions/:id',
    ]);
  });

  it('refuses what it has not, so that its consent means something', async () => {
    const ask = (path: string, body: string): Promise<string | undefined> =>
      mock.refusalOf({
        method: 'POST',
        path,
        headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(body),
      } satisfies MirroredRequest);
    assert.equal(await ask('/v1/customers', 'email=a%40b.example'), undefined);
    assert.match((await ask('/v1/customers', 'mail=a%40b.example')) ?? '', /additional properties are not allowed/);
    assert.match((await ask('/v1/checkout/sessions', 'mode=nope')) ?? '', /mode/);
    assert.match((await ask('/v1/custom', 'email=x')) ?? '', /Unrecognized request URL/);
  });

  it('gives examples of answers that we read whole', async () => {
    const processor = processorAt(mock.url);
    const subscription = (await processor.subscription('sub_1'))!;
    assert.match(subscription.id, /^sub_/);
    assert.match(subscription.customerId, /^cus_/);
    // The examples' times are made up, each by itself.
    for (const at of [subscription.periodStart, subscription.periodEnd, subscription.created])
      assert.ok(at !== null && at > 0 && at % 1000 === 0, JSON.stringify(subscription));
    assert.equal((await processor.subscriptions('cus_1')).length, 1);
    const [invoice] = await processor.invoices('cus_1');
    assert.ok(invoice?.id.startsWith('in_') && invoice.currency === 'usd' && invoice.amount >= 0, JSON.stringify(invoice));
    assert.match(await processor.customer({ id: 'u', email: 'a@b.example', name: 'A' }), /^cus_/);
    const page = await processor.checkout({
      customerId: 'cus_1',
      userId: 'u',
      plan: { ...PRO, payment_price_id: 'price_1' },
      trialDays: 3,
      attempt: '1',
    });
    assert.ok(page.id.startsWith('cs_') && page.expires > 0, JSON.stringify(page));
    assert.match(await processor.portal('cus_1'), /^https:/);
    assert.match((await processor.push(PRO)).priceId, /^price_/);
    const price = await processor.price('price_1');
    assert.ok(price && price.currency === 'usd' && typeof price.isOn === 'boolean', JSON.stringify(price));
    const [endpoint] = await processor.endpoints();
    assert.ok(endpoint && URL.canParse(endpoint.url) && Array.isArray(endpoint.events), JSON.stringify(endpoint));
  });
});
