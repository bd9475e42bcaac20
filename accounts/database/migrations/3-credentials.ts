import type { Migration } from '../migration.js';

/** Devices that ask to be let in, the tokens of those that are, and API keys; all of them as hashes. */
export const credentials: Migration = {
  version: 3,
  async up({ table, index }, type) {
    await table('accounts_device_request', (t) =>
      t
        .addColumn('deviceCode', type.key, (c) => c.primaryKey())
        .addColumn('userCode', type.key, (c) => c.notNull().unique())
        .addColumn('clientId', type.key)
        .addColumn('state', type.key, (c) => c.notNull())
        .addColumn('userId', type.key)
        .addColumn('expires', type.whole, (c) => c.notNull())
        .addColumn('intervalS', type.whole, (c) => c.notNull())
        .addColumn('polled', type.whole, (c) => c.notNull()),
    );
    await table('accounts_device', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('clientId', type.key)
        .addColumn('created', type.whole, (c) => c.notNull())
        .addColumn('lastUsed', type.whole, (c) => c.notNull())
        .addForeignKeyConstraint('accounts_device_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('accounts_device_token', (t) =>
      t
        .addColumn('refresh', type.key, (c) => c.primaryKey())
        .addColumn('access', type.key, (c) => c.notNull().unique())
        .addColumn('deviceId', type.key, (c) => c.notNull())
        .addColumn('accessExpires', type.whole, (c) => c.notNull())
        .addColumn('refreshExpires', type.whole, (c) => c.notNull())
        .addColumn('replaced', type.whole)
        .addForeignKeyConstraint('accounts_device_token_device', ['deviceId'], 'accounts_device', ['id'], (key) => key.onDelete('cascade')),
    );
    await table('accounts_key', (t) =>
      t
        .addColumn('id', type.key, (c) => c.primaryKey())
        .addColumn('userId', type.key, (c) => c.notNull())
        .addColumn('hash', type.key, (c) => c.notNull().unique())
        .addColumn('prefix', type.key, (c) => c.notNull())
        .addColumn('name', type.text, (c) => c.notNull())
        .addColumn('scopes', type.text)
        .addColumn('perMinute', type.whole)
        .addColumn('created', type.whole, (c) => c.notNull())
        .addColumn('expires', type.whole)
        .addColumn('lastUsed', type.whole)
        .addForeignKeyConstraint('accounts_key_user', ['userId'], 'user', ['id'], (key) => key.onDelete('cascade')),
    );
    await index('accounts_device_userId_idx', 'accounts_device', ['userId']);
    await index('accounts_device_token_deviceId_idx', 'accounts_device_token', ['deviceId']);
    await index('accounts_key_userId_idx', 'accounts_key', ['userId']);
  },
};
