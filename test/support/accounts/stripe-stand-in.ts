import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

type Fields = Record<string, unknown>;
interface Customer {
  id: string;
  email: string;
}
interface Price {
  id: string;
  product: string;
  unit_amount: number;
  lookup_key: string | null;
  active: boolean;
  recurring: { interval: string };
  currency?: string;
}
interface Checkout {
  id: string;
  customer: string;
  price: string;
  trialDays: number;
  status: 'open' | 'complete' | 'expired';
}
interface Subscription {
  id: string;
  customer: string;
  status: Stripe.Subscription.Status;
  price: string;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  trial_end: number | null;
  created: number;
}

/** A request as it came. */
export interface MirroredRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const MONTH_S = 30 * 24 * 3600;

/**
 * A payment processor with a memory: customers, products, prices, checkouts, subscriptions and invoices, in the shapes of the SDK's types.
 * It honours idempotency keys, moves lookup keys, and signs its events as the real one does.
 */
export class StripeStandIn {
  readonly secret = 'whsec_of_a_test';
  readonly customers = new Map<string, Customer>();
  readonly products = new Map<string, { id: string; name: string }>();
  readonly prices = new Map<string, Price>();
  readonly checkouts = new Map<string, Checkout>();
  readonly subscriptions = new Map<string, Subscription>();
  /** Requests by method and path, in order. */
  readonly asked: string[] = [];
  /** Answers with 503 while set, and asks for no other try, which would wait. */
  isDown = false;
  /** Where events are sent, as the owner has said at the processor. */
  readonly endpoints: { url: string; status: 'enabled' | 'disabled'; enabled_events: string[] }[] = [];
  /** Is handed each request too, while set. */
  mirror: ((request: MirroredRequest) => Promise<void>) | undefined;
  /** Runs around each request, so that a test can lose it or its answer: a rejection is sent as 503. */
  around: <Answer>(path: string, work: () => Promise<Answer>) => Promise<Answer> = (_path, work) => work();
  /** Called before each answer that reads a subscription, so that a test can let answers overtake each other. */
  delay: () => Promise<void> = async () => {};
  #count = 0;
  readonly #answers = new Map<string, unknown>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ([status, body]) =>
          response.writeHead(status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' }).end(JSON.stringify(body)),
        (error: Error & { code?: string }) =>
          response
            .writeHead(error.code === 'ECONNRESET' ? 503 : 500, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
            .end(JSON.stringify({ error: { type: 'api_error', message: error.stack } })),
      );
    });
  }

  static async start(): Promise<StripeStandIn> {
    const standIn = new StripeStandIn();
    await new Promise<void>((resolve) => standIn.#server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The customer pays on a page: its subscription begins. */
  pay(checkoutId: string): Subscription {
    const checkout = this.checkouts.get(checkoutId)!;
    checkout.status = 'complete';
    const now = Math.floor(Date.now() / 1000);
    const subscription: Subscription = {
      id: this.#id('sub'),
      customer: checkout.customer,
      status: checkout.trialDays > 0 ? 'trialing' : 'active',
      price: checkout.price,
      cancel_at_period_end: false,
      cancel_at: null,
      trial_end: checkout.trialDays > 0 ? now + checkout.trialDays * 24 * 3600 : null,
      created: now + this.#count,
    };
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  /** An event as it is sent: its body and its signature. */
  event(
    type: string,
    subscription: Subscription,
    { id = this.#id('evt'), secret = this.secret, at = Date.now() }: { id?: string; secret?: string; at?: number } = {},
  ): { body: string; signature: string } {
    const object = type.startsWith('invoice.')
      ? {
          object: 'invoice',
          id: 'in_1',
          customer: subscription.customer,
          parent: { subscription_details: { subscription: subscription.id } },
        }
      : type.startsWith('checkout.')
        ? { object: 'checkout.session', id: 'cs_1', customer: subscription.customer, subscription: subscription.id }
        : type.startsWith('customer.subscription')
          ? this.#shown(subscription)
          : { object: 'customer', id: subscription.customer };
    const body = JSON.stringify({
      id,
      object: 'event',
      type,
      api_version: '2026-10-28.endive',
      created: Math.floor(at / 1000),
      data: { object },
    });
    return { body, signature: Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: Math.floor(at / 1000) }) };
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#count}`;
  }

  async #answer(request: IncomingMessage): Promise<[number, unknown]> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const path = `${request.method} ${url.pathname.replace('/v1', '')}`;
    this.asked.push(path);
    await this.mirror?.({ method: request.method!, path: request.url!, headers: request.headers, body: Buffer.concat(pieces) });
    if (request.headers.authorization?.includes('wrong'))
      return [401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_*****rong' } }];
    if (this.isDown) return [503, { error: { type: 'api_error', message: 'down' } }];
    const fields = parsed(Buffer.concat(pieces).toString() || url.search.slice(1));
    return this.around(path, () => this.#once(path, fields, request.headers['idempotency-key'] as string | undefined));
  }

  /** Runs a request, or gives the answer that one of the same key got. */
  async #once(path: string, fields: Fields, key: string | undefined): Promise<[number, unknown]> {
    if (key !== undefined && this.#answers.has(key)) return [200, this.#answers.get(key)];
    const body = await this.#run(path, fields);
    if (body === undefined)
      return [404, { error: { type: 'invalid_request_error', code: 'resource_missing', message: `no such object: ${path}` } }];
    if (key !== undefined) this.#answers.set(key, body);
    return [200, body];
  }

  async #run(path: string, fields: Fields): Promise<unknown> {
    const [, id = ''] = /\/([^/]+)$/.exec(path) ?? [];
    const list = (data: unknown[]): object => ({ object: 'list', data, has_more: false, url: '/' });
    switch (path.replace(/\/(?:cus|sub|price|cs|mod)_[^/]+/, '/:id')) {
      case 'POST /customers': {
        const customer = { id: this.#id('cus'), object: 'customer', email: String(fields.email) };
        this.customers.set(customer.id, customer);
        return customer;
      }
      case 'GET /products/:id':
        return this.products.get(id);
      case 'POST /products': {
        const product = { id: String(fields.id), object: 'product', name: String(fields.name) };
        this.products.set(product.id, product);
        return product;
      }
      case 'GET /prices':
        return list(
          [...this.prices.values()].filter(
            ({ active, lookup_key, product }) =>
              active && (fields.product === product || (fields.lookup_keys as unknown[] | undefined)?.includes(lookup_key)),
          ),
        );
      case 'GET /prices/:id':
        return this.prices.get(id);
      case 'GET /webhook_endpoints':
        return list(this.endpoints.map((each, index) => ({ id: `we_${index}`, object: 'webhook_endpoint', ...each })));
      case 'POST /prices': {
        const lookupKey = (fields.lookup_key as string) ?? null;
        for (const price of this.prices.values()) if (lookupKey !== null && price.lookup_key === lookupKey) price.lookup_key = null;
        const price = {
          id: this.#id('price'),
          object: 'price',
          product: String(fields.product),
          unit_amount: Number(fields.unit_amount),
          currency: String(fields.currency),
          lookup_key: lookupKey,
          active: true,
          recurring: fields.recurring as { interval: string },
          metadata: (fields.metadata as Record<string, string> | undefined) ?? {},
        };
        this.prices.set(price.id, price);
        return price;
      }
      case 'POST /prices/:id':
        return Object.assign(this.prices.get(id)!, { active: fields.active === 'true' });
      case 'POST /checkout/sessions': {
        const [item] = Object.values(fields.line_items as Record<string, { price: string }>);
        const data = fields.subscription_data as { trial_period_days?: string } | undefined;
        const checkout: Checkout = {
          id: this.#id('cs'),
          customer: String(fields.customer),
          price: item!.price,
          trialDays: Number(data?.trial_period_days ?? 0),
          status: 'open',
        };
        this.checkouts.set(checkout.id, checkout);
        return {
          ...checkout,
          object: 'checkout.session',
          url: `https://pay.example/${checkout.id}?to=${encodeURIComponent(String(fields.success_url))}`,
          expires_at: Math.floor(Date.now() / 1000) + 24 * 3600,
        };
      }
      case 'GET /checkout/sessions/:id':
        return this.checkouts.get(id);
      case 'POST /billing_portal/sessions':
        return { object: 'billing_portal.session', url: `https://portal.example/${fields.customer}` };
      case 'GET /subscriptions':
        return list(
          [...this.subscriptions.values()].filter(({ customer }) => customer === fields.customer).map((each) => this.#shown(each)),
        );
      case 'GET /subscriptions/:id': {
        const found = this.subscriptions.get(id);
        const shown = found && this.#shown(found);
        await this.delay();
        return shown;
      }
      case 'POST /subscriptions/:id': {
        const found = this.subscriptions.get(id);
        if (found && 'cancel_at_period_end' in fields) found.cancel_at_period_end = fields.cancel_at_period_end === 'true';
        if (found && fields.cancel_at === '') found.cancel_at = null;
        return found && this.#shown(found);
      }
      case 'DELETE /subscriptions/:id': {
        const found = this.subscriptions.get(id);
        if (found) found.status = 'canceled';
        return found && this.#shown(found);
      }
      case 'GET /invoices':
        return list(
          [...this.subscriptions.values()]
            .filter(({ customer }) => customer === fields.customer)
            .map(({ id: of, created }) => ({
              id: `in_${of}`,
              object: 'invoice',
              created,
              amount_paid: 2000,
              currency: 'usd',
              status: 'paid',
              invoice_pdf: 'https://pay.example/in.pdf',
              hosted_invoice_url: 'https://pay.example/in',
            })),
        );
    }
    throw new Error(`the stand-in has no ${path}`);
  }

  #shown(subscription: Subscription): object {
    const price = this.prices.get(subscription.price);
    const period = { current_period_start: subscription.created, current_period_end: subscription.created + MONTH_S };
    return {
      object: 'subscription',
      ...subscription,
      items: { object: 'list', data: [{ id: 'si_1', price: { ...price, object: 'price' }, ...period }] },
      default_payment_method: { id: 'pm_1', object: 'payment_method', card: { brand: 'visa', last4: '4242' } },
    };
  }
}

/** Fields of a form as the SDK writes them: `a[b][0]=c`. */
function parsed(text: string): Fields {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/\[|\]\[|\]/).filter((part) => part !== '');
    const last = path.pop()!;
    let holder = fields;
    for (const part of path) {
      holder[part] ??= {};
      holder = holder[part] as Fields;
    }
    holder[last] = value;
  }
  if (fields.lookup_keys) fields.lookup_keys = Object.values(fields.lookup_keys as object);
  return fields;
}
