import type { Migration } from '../migration.js';

/** Who is which customer of the payment processor, what the processor last said of subscriptions, and which of its events were read. */
export const billing: Migration = {
  version: 4,
  async up({ table, index }, type) {
    await table('accounts_customer', (t) =>
      t
        .addColumn('userId', type.key, (c) => c.primaryKey())
        .addColumn('customerId', type.key, (c) => c.notNull().unique())
        .addColumn('trialUsed', type.whole, (c) => c.notNull())
        .addColumn('checkouts', type.whole, (c) => c.notNull())
        .addColumn('checkoutPlan', type.key)
        .addColumn('checkoutUrl', type.text)
        .addColumn('checkoutId', type.key)
        .addColumn('checkoutExpires', type.whole, (c) => c.notNull())
        .addForeignKeyConstraint('accounts_customer_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('accounts_subscription', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('customerId', type.key, (c) => c.notNull())
        .addColumn('plan', type.key, (c) => c.notNull())
        .addColumn('status', type.key, (c) => c.notNull())
        .addColumn('periodStart', type.whole)
        .addColumn('periodEnd', type.whole)
        .addColumn('cancelAt', type.whole)
        .addColumn('trialEnd', type.whole)
        .addColumn('pastDueSince', type.whole)
        .addColumn('cardBrand', type.key)
        .addColumn('cardLast4', type.key)
        .addColumn('created', type.whole, (c) => c.notNull())
        .addColumn('ticket', type.whole, (c) => c.notNull())
        .addColumn('applied', type.whole, (c) => c.notNull()),
    );
    await table('accounts_event', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('type', type.key, (c) => c.notNull())
        .addColumn('state', type.key, (c) => c.notNull())
        .addColumn('lease', type.whole, (c) => c.notNull())
        .addColumn('received', type.whole, (c) => c.notNull())
        .addColumn('note', type.text),
    );
    await index('accounts_subscription_customerId_idx', 'accounts_subscription', ['customerId']);
    await index('accounts_event_received_idx', 'accounts_event', ['received']);
  },
};
