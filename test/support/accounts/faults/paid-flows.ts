import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../../../../accounts/commands/command.js';
import { COMMANDS } from '../../../../accounts/commands/commands.js';
import type { StripeStandIn } from '../stripe-stand-in.js';
import type { Flow } from './flows.js';
import { signedIn } from './identity-flows.js';
import { deliver, type State, visitorOf, type World } from './world.js';

type Subscription = ReturnType<StripeStandIn['pay']>;

/** How long an event that was not finished is left to the process that took it. */
const LEASE_MS = 60_000;

const status = async (asked: Promise<{ status: number }>): Promise<number> => (await asked).status;
const as = (world: World, state: State) => visitorOf(world.accounts, state);
const planOf = async (world: World, state: State): Promise<string> => (await world.accounts.plans.of(state.userId!)).name;
const subscriptionOf = (world: World, state: State): Subscription => world.standIn.subscriptions.get(state.subscription!)!;

/** A user who has paid; the processor's word of it has come, or is still to come. */
async function payer(world: World, id: string, planId: 'pro' | 'team' = 'team', isTold = true): Promise<State> {
  const state = await signedIn(world, id);
  const { sessionId } = (await as(world, state).post('/api/module/checkout', { planId })).body;
  const subscription = world.standIn.pay(sessionId);
  const told = isTold && deliver(world.accounts, world.standIn.event('customer.subscription.created', subscription, { at: world.now() }));
  if (told) assert.equal((await told).status, 200);
  return { ...state, subscription: subscription.id };
}

/** The event of a state as the processor signs it now. */
const signed = (world: World, state: State): State => ({
  ...state,
  ...world.standIn.event(state.type!, subscriptionOf(world, state), { id: `evt_of_${state.id}`, at: world.now() }),
});

/** What each kind of event tells, what had happened, and the plan after it. */
const EVENTS: readonly [type: string, happened: Partial<Subscription>, plan: string][] = [
  ['checkout.session.completed', {}, 'team'],
  ['checkout.session.async_payment_succeeded', {}, 'team'],
  ['checkout.session.async_payment_failed', { status: 'incomplete' }, 'free'],
  ['checkout.session.expired', { status: 'incomplete_expired' }, 'free'],
  ['customer.subscription.created', {}, 'team'],
  ['customer.subscription.updated', { price: 'price_pro' }, 'pro'],
  ['customer.subscription.deleted', { status: 'canceled' }, 'free'],
  ['customer.subscription.paused', { status: 'paused' }, 'free'],
  ['customer.subscription.resumed', {}, 'team'],
  ['customer.subscription.trial_will_end', { status: 'trialing' }, 'team'],
  ['customer.subscription.pending_update_applied', { price: 'price_pro' }, 'pro'],
  ['invoice.paid', {}, 'team'],
  ['invoice.payment_failed', { status: 'past_due' }, 'team'],
  ['invoice.payment_action_required', { status: 'incomplete' }, 'free'],
  ['invoice.finalization_failed', { status: 'unpaid' }, 'free'],
  ['customer.deleted', { status: 'canceled' }, 'free'],
];

const eventFlows = EVENTS.map(
  ([type, happened, plan]): Flow => ({
    name: `the event ${type}`,
    async prepare(world, id) {
      const state = await payer(world, id, 'team', false);
      Object.assign(subscriptionOf(world, state), happened);
      return signed(world, { ...state, type });
    },
    act: (world, state) => status(deliver(world.accounts, { body: state.body!, signature: state.signature! })),
    async again(world, state) {
      const code = await this.act(world, state);
      if (code !== 409) return code;
      world.advance(LEASE_MS);
      return this.act(world, signed(world, state));
    },
    ends: [200],
    async check(world, state) {
      assert.equal(await planOf(world, state), plan);
      const rows = await world.database.tables
        .selectFrom('accounts_event')
        .select('state')
        .where('id', '=', `evt_of_${state.id}`)
        .execute();
      assert.deepEqual(rows, [{ state: 'done' }]);
    },
  }),
);

/** Buying, cancelling and the events of the processor. */
export const paidFlows: readonly Flow[] = [
  {
    name: 'open a page of payment',
    prepare: signedIn,
    async act(world, state) {
      const { status: code, body } = await as(world, state).post('/api/module/checkout', { planId: 'pro' });
      if (code === 200) state.url = body.url;
      return code;
    },
    ends: [200],
    async check(world, state) {
      const customers = [...world.standIn.customers.values()].filter(({ email }) => email === state.email);
      assert.equal(customers.length, 1, 'one customer');
      const pages = [...world.standIn.checkouts.values()].filter(({ customer }) => customer === customers[0]!.id);
      assert.equal(pages.length, 1, 'one page');
      assert.ok(state.url!.includes(pages[0]!.id));
      assert.equal((await as(world, state).post('/api/module/checkout', { planId: 'pro' })).body.url, state.url);
    },
  },
  {
    name: 'have a trial once',
    async prepare(world, id) {
      const state = await payer(world, id, 'pro', false);
      subscriptionOf(world, state).status = 'canceled';
      return signed(world, { ...state, type: 'customer.subscription.deleted' });
    },
    act: (world, state) => eventFlows[0]!.act(world, state),
    again: (world, state) => eventFlows[0]!.again!(world, state),
    ends: [200],
    async check(world, state) {
      const { sessionId } = (await as(world, state).post('/api/module/checkout', { planId: 'pro' })).body;
      assert.equal(world.standIn.checkouts.get(sessionId)!.trialDays, 0);
    },
  },
  {
    name: 'cancel',
    prepare: (world, id) => payer(world, id),
    act: (world, state) => status(as(world, state).post('/api/module/cancel')),
    ends: [200],
    async check(world, state) {
      assert.equal(subscriptionOf(world, state).cancel_at_period_end, true);
      assert.equal((await as(world, state).get('/api/module/billing')).body.subscription.cancelAtPeriodEnd, true);
      assert.equal(await planOf(world, state), 'team');
    },
  },
  {
    name: 'reactivate',
    async prepare(world, id) {
      const state = await payer(world, id);
      await as(world, state).post('/api/module/cancel');
      return state;
    },
    act: (world, state) => status(as(world, state).post('/api/module/reactivate')),
    ends: [200],
    async check(world, state) {
      assert.equal(subscriptionOf(world, state).cancel_at_period_end, false);
      assert.equal((await as(world, state).get('/api/module/billing')).body.subscription.cancelAtPeriodEnd, false);
    },
  },
  {
    name: 'ask the processor for all',
    async prepare(world, id) {
      const state = await payer(world, id);
      subscriptionOf(world, state).status = 'canceled';
      return state;
    },
    act: (world) =>
      world.accounts.reconcile().then(
        () => 200,
        () => 500,
      ),
    ends: [200],
    check: async (world, state) => assert.equal(await planOf(world, state), 'free'),
  },
  {
    name: 'push a plan at another price',
    async prepare(world, id) {
      const config = join(mkdtempSync(join(tmpdir(), 'quern-push-')), 'module.yaml');
      const text = (price: number) =>
        `app: { name: Demo, id: ${id} }\nbilling: { provider: stripe }\nplans:\n  - { name: pro, price: ${price} }\n`;
      writeFileSync(config, text(20));
      await push(world, config);
      writeFileSync(config, text(25));
      return { id, config };
    },
    act: (world, { config }) => push(world, config!),
    ends: [200],
    async check(world, { id, config }) {
      const active = [...world.standIn.prices.values()].filter((price) => price.product === `mod_${id}_pro` && price.active);
      assert.deepEqual(
        active.map(({ unit_amount }) => unit_amount),
        [2500],
      );
      assert.ok(readFileSync(config!, 'utf8').includes(active[0]!.id), 'its id is in the file');
      rmSync(dirname(config!), { recursive: true });
    },
  },
  ...eventFlows,
];

/** Runs `quern accounts plans push`. */
async function push({ standIn }: World, config: string): Promise<number> {
  const words = ['plans', 'push', '--config', config, '--api', standIn.url.href];
  const code = await runCommand(COMMANDS, words, () => {}, { AUTH_URL: 'http://localhost:3000', PAYMENT_SECRET_KEY: 'sk_test' });
  return code === 0 ? 200 : 500;
}
