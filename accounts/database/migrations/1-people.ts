import type { Migration } from '../migration.js';

/** People and their sessions, in the names that better-auth 1.7 reads, and counters of attempts. */
export const people: Migration = {
  version: 1,
  async up({ table, index }, type) {
    await table('user', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('name', type.text, (c) => c.notNull())
        .addColumn('email', type.key, (c) => c.notNull().unique())
        .addColumn('emailVerified', type.yesOrNo, (c) => c.notNull())
        .addColumn('image', type.text)
        .addColumn('createdAt', type.moment, (c) => c.notNull())
        .addColumn('updatedAt', type.moment, (c) => c.notNull())
        .addColumn('role', type.key)
        .addColumn('banned', type.yesOrNo)
        .addColumn('banReason', type.text)
        .addColumn('banExpires', type.moment),
    );
    await table('session', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('expiresAt', type.moment, (c) => c.notNull())
        .addColumn('token', type.key, (c) => c.notNull().unique())
        .addColumn('createdAt', type.moment, (c) => c.notNull())
        .addColumn('updatedAt', type.moment, (c) => c.notNull())
        .addColumn('ipAddress', type.text)
        .addColumn('userAgent', type.text)
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('impersonatedBy', type.text)
        .addForeignKeyConstraint('session_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('account', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('accountId', type.text, (c) => c.notNull())
        .addColumn('providerId', type.text, (c) => c.notNull())
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('accessToken', type.text)
        .addColumn('refreshToken', type.text)
        .addColumn('idToken', type.text)
        .addColumn('accessTokenExpiresAt', type.moment)
        .addColumn('refreshTokenExpiresAt', type.moment)
        .addColumn('scope', type.text)
        .addColumn('password', type.text)
        .addColumn('createdAt', type.moment, (c) => c.notNull())
        .addColumn('updatedAt', type.moment, (c) => c.notNull())
        .addForeignKeyConstraint('account_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('verification', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('identifier', type.key, (c) => c.notNull())
        .addColumn('value', type.text, (c) => c.notNull())
        .addColumn('expiresAt', type.moment, (c) => c.notNull())
        .addColumn('createdAt', type.moment, (c) => c.notNull())
        .addColumn('updatedAt', type.moment, (c) => c.notNull()),
    );
    await table('accounts_attempt', (t) =>
      t
        .addColumn('key', type.key, (c) => c.primaryKey())
        .addColumn('count', type.whole, (c) => c.notNull())
        .addColumn('started', type.whole, (c) => c.notNull()),
    );
    await index('session_userId_idx', 'session', ['userId']);
    await index('account_userId_idx', 'account', ['userId']);
    await index('verification_identifier_idx', 'verification', ['identifier']);
  },
};
