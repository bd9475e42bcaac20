import { createAccounts } from '../../../accounts/accounts.js';
import { optionsFor, type ReadyDatabase } from './database-servers.js';
import type { StripeStandIn } from './stripe-stand-in.js';
import { member } from './visitor.js';

/** How a storm went. */
export interface Stormed {
  readonly payers: number;
  readonly delivered: number;
  readonly perSecond: number;
  /** Users whose plan is not the one that the processor has them in. */
  readonly wrong: readonly string[];
}

const TYPES = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'checkout.session.completed',
  'invoice.paid',
  'invoice.payment_failed',
];
/** What may happen to a subscription, and the plan that its user has then. */
const HAPPENINGS = [
  { status: 'active', price: 'price_pro', plan: 'pro' },
  { status: 'active', price: 'price_team', plan: 'team' },
  { status: 'past_due', price: 'price_pro', plan: 'pro' },
  { status: 'unpaid', price: 'price_team', plan: 'free' },
  { status: 'canceled', price: 'price_pro', plan: 'free' },
] as const;
const AT_ONCE = 8;
let storms = 0;

/**
 * Lets subscriptions change at the processor while its events arrive eight at once, in random order, some of them twice and some refused at
 * first; those that are refused are sent again, as the processor does. Then everybody must have the plan that the processor says.
 */
export async function storm(
  ready: ReadyDatabase,
  standIn: StripeStandIn,
  { events, payers }: { events: number; payers: number },
): Promise<Stormed> {
  for (const name of ['pro', 'team'])
    standIn.prices.set(`price_${name}`, {
      id: `price_${name}`,
      product: `mod_demo_${name}`,
      unit_amount: 2000,
      lookup_key: null,
      active: true,
      recurring: { interval: 'month' },
    });
  const paid = ['pro', 'team'].map((name) => ({ name, price: 20, payment_price_id: `price_${name}` }));
  const config = { plans: [{ name: 'free' }, ...paid], billing: { provider: 'stripe' } };
  const environment = { PAYMENT_SECRET_KEY: 'sk_test_of_a_test', PAYMENT_WEBHOOK_SECRET: standIn.secret };
  const accounts = await createAccounts({ ...optionsFor(ready, { config, environment }), paymentApi: standIn.url, print: () => {} });
  storms += 1;
  const users: { userId: string; subscription: ReturnType<StripeStandIn['pay']>; plan: string }[] = [];
  for (let index = 0; index < payers; index++) {
    const visitor = await member(accounts, `storm${storms}-${index}@example.com`, `10.6.${storms & 255}.${index}`);
    const { sessionId } = (await visitor.post('/api/module/checkout', { planId: 'pro' })).body;
    const { userId } = (await accounts.callerOf(new Headers({ cookie: visitor.cookie })))!;
    users.push({ userId, subscription: standIn.pay(sessionId), plan: 'pro' });
  }
  const any = <Value>(list: readonly Value[]): Value => list[Math.floor(Math.random() * list.length)]!;
  const sent: ReturnType<StripeStandIn['event']>[] = [];
  let delivered = 0;
  const deliver = async (event: (typeof sent)[number]): Promise<void> => {
    for (;;) {
      const headers = { 'stripe-signature': event.signature };
      const request = new Request('http://localhost:3000/api/module/webhook', { method: 'POST', headers, body: event.body });
      const { status } = await accounts.handle(request, { ip: '192.0.2.1' });
      delivered += 1;
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  standIn.delay = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  const began = performance.now();
  let made = 0;
  const one = async (): Promise<void> => {
    while (made++ < events) {
      const user = any(users);
      const { plan, ...state } = any(HAPPENINGS);
      Object.assign(user.subscription, state);
      user.plan = plan;
      sent.push(standIn.event(any(TYPES), user.subscription));
      // One of those that wait arrives now, not always the newest; one of four comes once more.
      const at = Math.floor(Math.random() * sent.length);
      const event = sent.splice(at, 1)[0]!;
      await Promise.all(Math.random() < 0.25 ? [deliver(event), deliver(event)] : [deliver(event)]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  await Promise.all(sent.splice(0).map(deliver));
  const perSecond = (delivered * 1000) / (performance.now() - began);
  standIn.delay = async () => {};
  const wrong: string[] = [];
  for (const { userId, plan } of users) {
    const has = (await accounts.plans.of(userId)).name;
    if (has !== plan) wrong.push(`${userId} has ${has}, not ${plan}`);
  }
  await accounts.close();
  return { payers, delivered, perSecond, wrong };
}
