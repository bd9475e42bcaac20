import type { Migration } from '../migration.js';

/** What users have of plans by gift, what they have used of meters, and what was counted by name. */
export const plans: Migration = {
  version: 2,
  async up({ table, index }, type) {
    await table('accounts_grant', (t) =>
      t
        .addColumn('userId', type.key, (c) => c.primaryKey())
        .addColumn('plan', type.key, (c) => c.notNull())
        .addColumn('until', type.whole)
        .addColumn('reason', type.text)
        .addForeignKeyConstraint('accounts_grant_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('accounts_usage', (t) =>
      t
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('meter', type.key, (c) => c.notNull())
        .addColumn('started', type.whole, (c) => c.notNull())
        .addColumn('used', type.whole, (c) => c.notNull())
        .addColumn('warned', type.whole, (c) => c.notNull())
        .addPrimaryKeyConstraint('accounts_usage_key', ['userId', 'meter', 'started'])
        .addForeignKeyConstraint('accounts_usage_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('accounts_tracked', (t) =>
      t
        .addColumn('name', type.key, (c) => c.primaryKey())
        .addColumn('meter', type.key, (c) => c.notNull())
        .addColumn('count', type.whole, (c) => c.notNull())
        .addColumn('at', type.whole, (c) => c.notNull()),
    );
    await index('accounts_tracked_at_idx', 'accounts_tracked', ['at']);
  },
};
