import type { Migration } from '../migration.js';

/** Which nudges each user has put away, when, and in which session. */
export const nudges: Migration = {
  version: 5,
  async up({ table }, type) {
    await table('accounts_nudge', (t) =>
      t
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('nudge', type.key, (c) => c.notNull())
        .addColumn('session', type.key, (c) => c.notNull())
        .addColumn('at', type.whole, (c) => c.notNull())
        .addPrimaryKeyConstraint('accounts_nudge_key', ['userId', 'nudge'])
        .addForeignKeyConstraint('accounts_nudge_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
  },
};
