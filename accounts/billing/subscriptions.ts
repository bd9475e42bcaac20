import type { Ground } from '../database/database.js';
import type { SubscriptionRow } from '../database/tables.js';
import type { Processor, ProcessorSubscription } from './processor.js';

/** Statuses with which a plan is had, and those that end a subscription. */
const PAID = new Set(['active', 'trialing']);
const OVER = new Set(['canceled', 'incomplete_expired']);
const DAY_MS = 24 * 3600 * 1000;

/** The local copy of what the processor says, which answers while the processor does not. */
export class Subscriptions {
  readonly #ground: Ground;
  readonly #processor: Processor;

  constructor(ground: Ground, processor: Processor) {
    this.#ground = ground;
    this.#processor = processor;
  }

  /** The plan that a user pays for now; undefined for none. */
  async paidPlan(userId: string): Promise<string | undefined> {
    const rows = await this.#of(userId);
    return rows.find((row) => this.#isPaid(row))?.plan;
  }

  /** The subscription that counts: one that is paid, else one that is not over; undefined for none. */
  async current(userId: string): Promise<SubscriptionRow | undefined> {
    const rows = await this.#of(userId);
    return rows.find((row) => this.#isPaid(row)) ?? rows.find(({ status }) => !OVER.has(status));
  }

  /**
   * Asks the processor for a subscription, and keeps the answer unless a later question was answered already: whatever the order in which
   * events arrive and answers come, the last state wins. False for a customer of nobody here.
   */
  async refresh(id: string, customerId: string | undefined): Promise<boolean> {
    const ticket = await this.#ticket(id, customerId ?? '');
    const state = await this.#processor.subscription(id);
    return this.#apply(id, state, ticket);
  }

  /** Keeps an answer that the processor gave to a change of ours. */
  async keep(state: ProcessorSubscription): Promise<void> {
    await this.#apply(state.id, state, await this.#ticket(state.id, state.customerId));
  }

  /** `refresh` for all subscriptions of a customer. */
  async refreshAll(customerId: string): Promise<void> {
    const local = await this.#ground.database.tables
      .selectFrom('accounts_subscription')
      .select('id')
      .where('customerId', '=', customerId)
      .execute();
    const there = await this.#processor.subscriptions(customerId);
    for (const id of new Set([...local.map((row) => row.id), ...there.map((state) => state.id)])) await this.refresh(id, customerId);
  }

  /** Asks for everything that is not over, until `isOver`; rejects when the processor does not answer. */
  async reconcile(isOver = (): boolean => false): Promise<void> {
    const rows = await this.#ground.database.tables.selectFrom('accounts_subscription').select(['id', 'customerId', 'status']).execute();
    for (const { id, customerId, status } of rows) if (!OVER.has(status) && !isOver()) await this.refresh(id, customerId);
  }

  #of(userId: string): Promise<SubscriptionRow[]> {
    return this.#ground.database.tables
      .selectFrom('accounts_subscription')
      .innerJoin('accounts_customer', 'accounts_customer.customerId', 'accounts_subscription.customerId')
      .selectAll('accounts_subscription')
      .where('accounts_customer.userId', '=', userId)
      .where('accounts_subscription.applied', '>', 0)
      .orderBy('accounts_subscription.created', 'desc')
      .limit(20)
      .execute() as Promise<SubscriptionRow[]>;
  }

  #isPaid({ status, pastDueSince, plan }: SubscriptionRow): boolean {
    if (plan === '') return false;
    if (PAID.has(status)) return true;
    return status === 'past_due' && this.#ground.now() < Number(pastDueSince ?? 0) + this.#ground.settings.billing.graceDays * DAY_MS;
  }

  /** The number of a question, larger than all before it. */
  async #ticket(id: string, customerId: string): Promise<number> {
    const { tables } = this.#ground.database;
    while (true) {
      const row = await tables.selectFrom('accounts_subscription').select('ticket').where('id', '=', id).executeTakeFirst();
      if (!row) {
        const fresh = {
          plan: '',
          status: 'unknown',
          periodStart: null,
          periodEnd: null,
          cancelAt: null,
          trialEnd: null,
          pastDueSince: null,
          cardBrand: null,
          cardLast4: null,
        };
        await tables
          .insertInto('accounts_subscription')
          .values({ id, customerId, ...fresh, created: this.#ground.now(), ticket: 0, applied: 0 })
          .execute()
          .catch((error: unknown) => {
            if (!this.#ground.database.isDuplicate(error)) throw error;
          });
        continue;
      }
      const next = Number(row.ticket) + 1;
      const { numUpdatedRows } = await tables
        .updateTable('accounts_subscription')
        .set({ ticket: next })
        .where('id', '=', id)
        .where('ticket', '=', next - 1)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return next;
    }
  }

  async #apply(id: string, state: ProcessorSubscription | undefined, ticket: number): Promise<boolean> {
    const { tables } = this.#ground.database;
    const customer =
      state &&
      (await tables.selectFrom('accounts_customer').select('userId').where('customerId', '=', state.customerId).executeTakeFirst());
    if (state && !customer) {
      await tables.deleteFrom('accounts_subscription').where('id', '=', id).where('applied', '=', 0).execute();
      return false;
    }
    const before = await tables.selectFrom('accounts_subscription').select('pastDueSince').where('id', '=', id).executeTakeFirst();
    const pastDueSince = state?.status === 'past_due' ? Number(before?.pastDueSince ?? this.#ground.now()) : null;
    await tables
      .updateTable('accounts_subscription')
      .set(
        state
          ? {
              customerId: state.customerId,
              plan: state.plan,
              status: state.status,
              periodStart: state.periodStart,
              periodEnd: state.periodEnd,
              cancelAt: state.cancelAt,
              trialEnd: state.trialEnd,
              pastDueSince,
              cardBrand: state.card?.brand ?? null,
              cardLast4: state.card?.last4 ?? null,
              created: state.created,
              applied: ticket,
            }
          : { status: 'canceled', cancelAt: null, applied: ticket },
      )
      .where('id', '=', id)
      .where('applied', '<', ticket)
      .execute();
    // Whoever has had a trial has had it, whatever becomes of the subscription.
    if (state && state.trialEnd !== null)
      await tables.updateTable('accounts_customer').set({ trialUsed: 1 }).where('customerId', '=', state.customerId).execute();
    return true;
  }
}
