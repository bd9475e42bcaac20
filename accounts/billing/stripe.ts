import Stripe from 'stripe';
import { Failure } from '../../schemas/errors.js';
import type { PlanSettings, Settings } from '../config/settings.js';
import type { Invoice, Processor, ProcessorEvent, ProcessorSubscription } from './processor.js';

/** Seconds that the clocks of the processor and of this machine may differ, both ways. */
const TOLERANCE_S = 300;
const TIMEOUT_MS = 8_000;

/** Stripe, asked at `api` instead of its own address where that is given. */
export function stripeProcessor({ app, billing }: Settings, api?: URL): Processor {
  const stripe = new Stripe(billing.secretKey ?? '', {
    maxNetworkRetries: 2,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(api ? { host: api.hostname, port: api.port, protocol: api.protocol === 'http:' ? ('http' as const) : ('https' as const) } : {}),
  });
  const productOf = (plan: string): string => `mod_${app.id}_${plan}`;
  const read = (subscription: Stripe.Subscription): ProcessorSubscription => {
    const [item] = subscription.items.data;
    const product = typeof item?.price.product === 'string' ? item.price.product : (item?.price.product?.id ?? '');
    const start = productOf('');
    const ms = (seconds: number | null | undefined): number | null => (seconds === null || seconds === undefined ? null : seconds * 1000);
    const method = subscription.default_payment_method;
    const card = method && typeof method === 'object' ? method.card : undefined;
    return {
      id: subscription.id,
      customerId: idOf(subscription.customer) ?? '',
      plan: product.startsWith(start) ? product.slice(start.length) : '',
      status: subscription.status,
      // The period stands at the items of a subscription in this version of the interface.
      periodStart: ms(item?.current_period_start),
      periodEnd: ms(item?.current_period_end),
      cancelAt: ms(subscription.cancel_at ?? (subscription.cancel_at_period_end ? item?.current_period_end : null)),
      trialEnd: ms(subscription.trial_end),
      card: card ? { brand: card.brand, last4: card.last4 } : null,
      created: subscription.created * 1000,
    };
  };
  const expand = ['default_payment_method'];
  return {
    async customer({ id, email, name }) {
      const customer = await stripe.customers.create(
        { email, name, metadata: { userId: id, app: app.id } },
        { idempotencyKey: `customer:${app.id}:${id}` },
      );
      return customer.id;
    },
    async checkout({ customerId, userId, plan, trialDays, attempt }) {
      const price = plan.payment_price_id;
      if (!price) throw new Failure('conflict', `the plan ${plan.name} has no price at the processor; run "quern accounts plans push"`);
      const session = await stripe.checkout.sessions.create(
        {
          mode: 'subscription',
          customer: customerId,
          client_reference_id: userId,
          line_items: [{ price, quantity: 1 }],
          success_url: billing.successUrl,
          cancel_url: billing.cancelUrl,
          subscription_data: {
            metadata: { userId, app: app.id, plan: plan.name },
            ...(trialDays > 0 ? { trial_period_days: trialDays } : {}),
          },
          ...(trialDays > 0 && !billing.needsCard ? { payment_method_collection: 'if_required' as const } : {}),
          metadata: { userId, app: app.id, plan: plan.name },
        },
        { idempotencyKey: `checkout:${app.id}:${attempt}` },
      );
      return { id: session.id, url: session.url ?? '', expires: session.expires_at * 1000 };
    },
    async isOpen(checkoutId) {
      return (await stripe.checkout.sessions.retrieve(checkoutId)).status === 'open';
    },
    async portal(customerId) {
      return (await stripe.billingPortal.sessions.create({ customer: customerId, return_url: billing.cancelUrl })).url;
    },
    async subscription(id) {
      const subscription = await unlessMissing(stripe.subscriptions.retrieve(id, { expand }));
      return subscription && read(subscription);
    },
    async subscriptions(customerId) {
      const { data } = await stripe.subscriptions.list({
        customer: customerId,
        status: 'all',
        limit: 20,
        expand: ['data.default_payment_method'],
      });
      return data.map(read);
    },
    async invoices(customerId) {
      const { data } = await stripe.invoices.list({ customer: customerId, limit: 10 });
      return data.map(
        (invoice): Invoice => ({
          id: invoice.id ?? '',
          date: invoice.created,
          amount: invoice.amount_paid / smallestUnits(invoice.currency),
          currency: invoice.currency,
          status: invoice.status ?? 'draft',
          pdfUrl: invoice.invoice_pdf ?? null,
          hostedUrl: invoice.hosted_invoice_url ?? null,
        }),
      );
    },
    async cancel(id, when) {
      return read(
        when === 'immediate'
          ? await stripe.subscriptions.cancel(id)
          : await stripe.subscriptions.update(id, { cancel_at_period_end: true, expand }),
      );
    },
    async reactivate(id) {
      const now = await stripe.subscriptions.retrieve(id);
      // A cancellation by the customer's page sets the one, a cancellation by us the other; the interface takes one change at a time.
      return read(
        await stripe.subscriptions.update(id, {
          ...(now.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' }),
          expand,
        }),
      );
    },
    event: (body, signature, now) => eventOf(body, signature, billing.webhookSecrets, now),
    push: (plan) =>
      collectPages(stripe, plan, productOf(plan.name), `${app.id}:${plan.name}:${plan.interval}:${billing.currency}`, billing.currency),
    async endpoints() {
      const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
      return data.map(({ url, status, enabled_events: events }) => ({ url, isOn: status === 'enabled', events }));
    },
    async price(id) {
      const price = await unlessMissing(stripe.prices.retrieve(id));
      return (
        price && {
          isOn: price.active,
          amount: (price.unit_amount ?? 0) / smallestUnits(price.currency),
          currency: price.currency,
          interval: price.recurring?.interval ?? 'once',
        }
      );
    },
  };
}

/** Currencies that the processor counts in whole units, and in thousandths; all others in hundredths. */
const WHOLE = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
const THOUSANDTHS = new Set('bhd jod kwd omr tnd'.split(' '));

/** How many of what the processor counts make one unit of a currency. */
function smallestUnits(currency: string): number {
  if (WHOLE.has(currency)) return 1;
  return THOUSANDTHS.has(currency) ? 1000 : 100;
}

/** A price as the processor counts it; it takes no thousandths. */
function amountOf(price: number, currency: string): number {
  const units = smallestUnits(currency);
  const counted = Math.min(units, 100);
  return Math.round(price * counted) * (units / counted);
}

/** What was asked for; undefined where the processor knows nothing of that name. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError && error.statusCode === 404) return undefined;
    throw error;
  }
}

/** An event of a customer of nobody, signed: a server that takes it gets bodies as they came, and has the right secret. */
export function signedTestEvent(secret: string): { payload: string; signature: string } {
  const object = { object: 'customer', id: 'cus_of_nobody' };
  const payload = JSON.stringify({ id: `evt_test_${crypto.randomUUID()}`, object: 'event', type: 'customer.created', data: { object } });
  return { payload, signature: Stripe.webhooks.generateTestHeaderString({ payload, secret }) };
}

function eventOf(body: Uint8Array, signature: string | null, secrets: readonly string[], now: number): ProcessorEvent {
  const refused = (why: string): Failure =>
    new Failure('bad_request', `this is no event of the processor: ${why}`, { code: 'invalid_signature' });
  if (secrets.length === 0) throw refused('PAYMENT_WEBHOOK_SECRET is not set on this server');
  if (signature === null) throw refused('the header Stripe-Signature is missing');
  const time = Number(/(?:^|,)t=(\d{1,15})(?:,|$)/.exec(signature)?.[1]);
  if (/\s/.test(signature)) throw refused('the header Stripe-Signature came twice');
  // The library looks back alone.
  if (!(Math.abs(now / 1000 - time) <= TOLERANCE_S)) throw refused('its time is more than five minutes from now');
  const checked = secrets.map((secret) => {
    try {
      return Stripe.webhooks.constructEvent(Buffer.from(body), signature, secret, TOLERANCE_S, undefined, now);
    } catch {
      return undefined;
    }
  });
  const event = checked.find((each) => each !== undefined);
  if (!event) throw refused('the signature does not fit the body; hand the body over as it came');
  const object = event.data.object as unknown as Record<string, unknown>;
  const details = (object.parent as { subscription_details?: { subscription?: unknown } } | null | undefined)?.subscription_details;
  const isSubscription = object.object === 'subscription';
  return {
    id: event.id,
    type: event.type,
    customerId: object.object === 'customer' ? String(object.id) : idOf(object.customer),
    subscriptionId: isSubscription ? String(object.id) : (idOf(object.subscription) ?? idOf(details?.subscription)),
  };
}

function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : undefined;
}

/** The mark of prices that a push has made; its value is the lookup key. */
const PRICE_OF = 'quern_price_of';

async function collectPages(
  stripe: Stripe,
  plan: PlanSettings,
  productId: string,
  lookupKey: string,
  currency: string,
): Promise<{ priceId: string; change: 'none' | 'created' | 'repriced' }> {
  const amount = amountOf(plan.price, currency);
  if (!(await unlessMissing(stripe.products.retrieve(productId)))) await stripe.products.create({ id: productId, name: plan.display_name });
  const { data } = await stripe.prices.list({ product: productId, active: true, limit: 100 });
  const present = data.find((price) => price.lookup_key === lookupKey);
  const isRight = present?.unit_amount === amount;
  const price = isRight
    ? present
    : await stripe.prices.create({
        product: productId,
        currency,
        unit_amount: amount,
        recurring: { interval: plan.interval },
        lookup_key: lookupKey,
        transfer_lookup_key: true,
        metadata: { [PRICE_OF]: lookupKey },
      });
  // Those of a push that broke off here too; prices that somebody made by hand have no such mark, and stay.
  const old = data.filter(({ id, metadata }) => id !== price.id && (id === present?.id || metadata?.[PRICE_OF] === lookupKey));
  for (const { id } of old) await stripe.prices.update(id, { active: false });
  return { priceId: price.id, change: isRight ? 'none' : present ? 'repriced' : 'created' };
}
