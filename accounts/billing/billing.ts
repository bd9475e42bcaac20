import { Failure } from '../../schemas/errors.js';
import type { Ground } from '../database/database.js';
import type { Plans } from '../gates/plans.js';
import type { Caller } from '../identity/sessions.js';
import type { Processor } from './processor.js';
import type { Subscriptions } from './subscriptions.js';

/** How long one process may work on an event before another takes it over. */
const LEASE_MS = 60_000;
/** Seconds after which a client may ask again while the processor does not answer. */
const RETRY_AFTER_S = 10;
/** How long events are known, and shown to the admin. */
const REMEMBERED_MS = 90 * 24 * 3600 * 1000;

/** Checkout, cancelling and what is paid, by a payment processor; its events change the local copy and nothing else does. */
export class Billing {
  readonly #ground: Ground;
  readonly #processor: Processor;
  readonly #subscriptions: Subscriptions;
  readonly #plans: Plans;

  constructor(ground: Ground, parts: { processor: Processor; subscriptions: Subscriptions; plans: Plans }) {
    this.#ground = ground;
    this.#processor = parts.processor;
    this.#subscriptions = parts.subscriptions;
    this.#plans = parts.plans;
  }

  /**
   * A page on which the caller pays for a plan; however often it is asked for, one customer and one open page. `Failure('bad_request')` for
   * a plan that is not there or costs nothing, `conflict` for one who pays already, `unavailable` when the processor does not answer.
   */
  async checkout(caller: Caller, planId: string): Promise<{ url: string; sessionId: string }> {
    const plan = this.#plans.named(planId);
    if (!plan || plan.price === 0) {
      const sold = this.#ground.settings.plans.filter(({ price }) => price > 0).map(({ name }) => name);
      throw new Failure(
        'bad_request',
        `there is no plan ${JSON.stringify(planId)} to pay for; choose one of ${sold.join(', ') || 'none'}`,
        { code: 'unknown_plan' },
      );
    }
    if (await this.#subscriptions.current(caller.userId))
      throw new Failure('conflict', 'you have a subscription; change it on the page of POST /api/module/billing-portal', {
        code: 'already_subscribed',
      });
    return this.#asking(async () => {
      const customer = await this.#customer(caller);
      if (
        customer.checkoutUrl &&
        customer.checkoutPlan === plan.name &&
        Number(customer.checkoutExpires) > this.#ground.now() &&
        (await this.#processor.isOpen(customer.checkoutId!))
      )
        return { url: customer.checkoutUrl, sessionId: customer.checkoutId! };
      const attempt = `${caller.userId}:${plan.name}:${customer.checkouts}`;
      const page = await this.#processor.checkout({
        customerId: customer.customerId,
        userId: caller.userId,
        plan,
        trialDays: customer.trialUsed ? 0 : plan.trial_days,
        attempt,
      });
      await this.#ground.database.tables
        .updateTable('accounts_customer')
        .set({
          checkouts: Number(customer.checkouts) + 1,
          checkoutPlan: plan.name,
          checkoutUrl: page.url,
          checkoutId: page.id,
          checkoutExpires: page.expires,
        })
        .where('userId', '=', caller.userId)
        .where('checkouts', '=', customer.checkouts)
        .execute();
      return { url: page.url, sessionId: page.id };
    });
  }

  /** What the caller has: from the local copy, with invoices where the processor answers. */
  async overview({ userId }: Caller): Promise<object> {
    const [row, plan, customer] = await Promise.all([this.#subscriptions.current(userId), this.#plans.of(userId), this.#row(userId)]);
    let stale = false;
    const invoices = customer
      ? await this.#processor.invoices(customer.customerId).catch((error: Error) => {
          this.#ground.print(`accounts: invoices cannot be read: ${error.message}`);
          stale = true;
          return [];
        })
      : [];
    const iso = (ms: number | null): string | null => (ms === null ? null : new Date(Number(ms)).toISOString());
    return {
      subscription: row
        ? {
            id: row.id,
            status: row.status,
            currentPeriodStart: iso(row.periodStart),
            currentPeriodEnd: iso(row.periodEnd),
            cancelAtPeriodEnd: row.cancelAt !== null,
            cancelAt: iso(row.cancelAt),
            trialEnd: iso(row.trialEnd),
            paymentMethod: row.cardBrand ? { brand: row.cardBrand, last4: row.cardLast4 } : null,
          }
        : null,
      invoices,
      plan: {
        id: plan.name,
        name: plan.display_name,
        price: plan.price,
        period: plan.interval,
        features: plan.features ?? [],
        highlighted: plan.highlighted ?? false,
        trialDays: plan.trial_days,
      },
      stale,
    };
  }

  /** Ends the caller's subscription as the module file says; the same again changes nothing. */
  async cancel({ userId }: Caller): Promise<object> {
    const row = await this.#subscriptions.current(userId);
    if (!row) throw new Failure('not_found', 'you have no subscription', { code: 'no_subscription' });
    const when = this.#ground.settings.billing.cancelBehavior;
    if (row.cancelAt === null) await this.#asking(async () => this.#subscriptions.keep(await this.#processor.cancel(row.id, when)));
    const after = await this.#subscriptions.current(userId);
    const cancelAt = after?.cancelAt ?? null;
    return {
      canceled: true,
      cancelAt: cancelAt === null ? null : new Date(Number(cancelAt)).toISOString(),
      message:
        cancelAt === null
          ? 'The subscription has ended.'
          : `The subscription ends on ${new Date(Number(cancelAt)).toISOString().slice(0, 10)}; you have your plan until then.`,
    };
  }

  /** Takes a cancellation back. `Failure('conflict')` for a subscription that is over. */
  async reactivate({ userId }: Caller): Promise<object> {
    const row = await this.#subscriptions.current(userId);
    if (!row) throw new Failure('conflict', 'there is no subscription that could go on; choose a plan again', { code: 'no_subscription' });
    if (row.cancelAt !== null) await this.#asking(async () => this.#subscriptions.keep(await this.#processor.reactivate(row.id)));
    return { reactivated: true };
  }

  /** A page of the processor for cards and invoices. */
  async portal({ userId }: Caller): Promise<{ url: string }> {
    const customer = await this.#row(userId);
    if (!customer) throw new Failure('not_found', 'you have paid for nothing yet', { code: 'no_customer' });
    return { url: await this.#asking(() => this.#processor.portal(customer.customerId)) };
  }

  /**
   * Takes an event of the processor. Any order and any repetition end in what the processor has: an event says only what to ask for.
   * Rejects when that fails, so that the processor sends it again.
   */
  async event(body: Uint8Array, signature: string | null): Promise<{ received: true; note: string }> {
    const event = this.#processor.event(body, signature, this.#ground.now());
    const { tables } = this.#ground.database;
    if (!(await this.#claim(event.id, event.type))) return { received: true, note: 'known' };
    try {
      const note = await this.#take(event.customerId, event.subscriptionId);
      await tables.updateTable('accounts_event').set({ state: 'done', note }).where('id', '=', event.id).execute();
      return { received: true, note };
    } catch (error) {
      await tables
        .deleteFrom('accounts_event')
        .where('id', '=', event.id)
        .where('state', '=', 'working')
        .execute()
        .catch(() => {});
      throw error;
    }
  }

  /** Forgets events that the processor, which tries for three days, will not send again. */
  async sweep(): Promise<void> {
    const { tables } = this.#ground.database;
    await tables
      .deleteFrom('accounts_event')
      .where('state', '=', 'done')
      .where('received', '<', this.#ground.now() - REMEMBERED_MS)
      .execute();
  }

  async #take(customerId: string | undefined, subscriptionId: string | undefined): Promise<string> {
    const known =
      customerId &&
      (await this.#ground.database.tables
        .selectFrom('accounts_customer')
        .select('userId')
        .where('customerId', '=', customerId)
        .executeTakeFirst());
    if (!known) return 'a customer of nobody here';
    if (subscriptionId === undefined) {
      await this.#subscriptions.refreshAll(customerId);
      return 'all subscriptions of the customer were read';
    }
    return (await this.#subscriptions.refresh(subscriptionId, customerId))
      ? 'the subscription was read'
      : 'a subscription of another customer';
  }

  /** True for the one who is to work on an event; false for one that was done. `Failure('conflict')` while another works on it. */
  async #claim(id: string, type: string): Promise<boolean> {
    const { tables } = this.#ground.database;
    const now = this.#ground.now();
    try {
      await tables
        .insertInto('accounts_event')
        .values({ id, type, state: 'working', lease: now + LEASE_MS, received: now, note: null })
        .execute();
      return true;
    } catch (error) {
      if (!this.#ground.database.isDuplicate(error)) throw error;
    }
    const row = await tables.selectFrom('accounts_event').select('state').where('id', '=', id).executeTakeFirst();
    if (row?.state === 'done') return false;
    const { numUpdatedRows } = await tables
      .updateTable('accounts_event')
      .set({ lease: now + LEASE_MS })
      .where('id', '=', id)
      .where('state', '=', 'working')
      // One that lies further ahead than any, also of those who came a moment later, was taken before the clock was set back.
      .where((row) => row.or([row('lease', '<=', now), row('lease', '>', now + 2 * LEASE_MS)]))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return true;
    throw new Failure('conflict', 'this event is being read; send it again', { code: 'event_in_work' });
  }

  async #customer({ userId, email, name }: Caller) {
    const row = await this.#row(userId);
    if (row) return row;
    const customerId = await this.#processor.customer({ id: userId, email, name });
    await this.#ground.database.tables
      .insertInto('accounts_customer')
      .values({
        userId,
        customerId,
        trialUsed: 0,
        checkouts: 0,
        checkoutPlan: null,
        checkoutUrl: null,
        checkoutId: null,
        checkoutExpires: 0,
      })
      .execute()
      .catch((error: unknown) => {
        if (!this.#ground.database.isDuplicate(error)) throw error;
      });
    return (await this.#row(userId))!;
  }

  #row(userId: string) {
    return this.#ground.database.tables.selectFrom('accounts_customer').selectAll().where('userId', '=', userId).executeTakeFirst();
  }

  async #asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Failure) throw error;
      this.#ground.print(`accounts: the payment processor: ${(error as Error).message}`);
      throw new Failure('unavailable', 'the payment processor does not answer; try again, nothing is done twice', {
        code: 'processor_unavailable',
        retryAfterS: RETRY_AFTER_S,
        cause: error,
      });
    }
  }
}
