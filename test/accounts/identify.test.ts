import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { openDatabase } from '../../accounts/database/database.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { member, PASSWORD, type Visitor } from '../support/accounts/visitor.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };

describe('who asks, told quickly', () => {
  let accounts: Accounts;
  let now = Date.now();
  let users = 0;
  before(async () => {
    const config = {
      seed: { admin: ADMIN },
      plans: [{ name: 'free' }, { name: 'pro', price: 20 }],
      billing: { provider: 'stripe' },
    };
    accounts = await createAccounts(
      optionsFor(await DATABASE_SERVERS[0]!.open(), { config, environment: { PAYMENT_SECRET_KEY: 'sk_test' }, now: () => now }),
    );
  });
  after(() => accounts?.close());

  /** A user with a session, a device and a key, and how each is told. */
  const person = async () => {
    users += 1;
    const visitor = await member(accounts, `user${users}@example.com`, `198.51.100.${users}`);
    const { userCode, deviceCode } = (await visitor.post('/api/module/device/authorize')).body;
    await visitor.post('/api/module/device/verify', { userCode, action: 'approve' });
    const { accessToken, refreshToken } = (await visitor.post('/api/module/device/token', { deviceCode })).body;
    const key = (await visitor.post('/api/module/apikeys', { name: 'one', scopes: ['read'] })).body;
    const headers: Record<string, string>[] = [
      { cookie: visitor.cookie },
      { authorization: `Bearer ${accessToken}` },
      { 'x-api-key': key.key },
    ];
    const told = () => Promise.all(headers.map((each) => accounts.identify(new Headers(each))));
    const [first] = await told();
    return { visitor, told, userId: first!.userId, key, refreshToken };
  };
  const vias = (told: readonly ({ via: string } | undefined)[]) => told.map((each) => each?.via);
  const own = async (visitor: Visitor, path: string) => (await visitor.get(path)).body[0].id as string;

  it('says user, roles, plan and by what it was proved', async () => {
    const { told, userId } = await person();
    const [session, device, key] = await told();
    assert.deepEqual(vias([session, device, key]), ['session', 'device', 'api_key']);
    assert.deepEqual([session!.email, session!.roles, session!.plan], [`user${users}@example.com`, ['user'], 'free']);
    assert.deepEqual([device!.userId, key!.userId, key!.scopes], [userId, userId, ['read']]);
    assert.equal(await accounts.identify(new Headers({ authorization: 'Bearer sk_nothing' })), undefined);
    assert.equal(await accounts.identify(new Headers()), undefined);
  });

  it('sees at once what ends a credential, or changes its user', async () => {
    const changes: [string, (one: Awaited<ReturnType<typeof person>>) => Promise<unknown>, (string | undefined)[]][] = [
      ['sign-out', ({ visitor }) => visitor.post('/api/auth/sign-out'), [undefined, 'device', 'api_key']],
      ['ban', ({ userId }) => accounts.directory.setBanned(userId, true), [undefined, undefined, undefined]],
      ['sign-out everywhere', ({ userId }) => accounts.directory.signOut(userId), [undefined, undefined, 'api_key']],
      ['a key revoked', ({ visitor, key }) => visitor.ask('DELETE', `/api/module/apikeys/${key.id}`), ['session', 'device', undefined]],
      [
        'a device removed',
        async ({ visitor }) => visitor.ask('DELETE', `/api/module/devices/${await own(visitor, '/api/module/devices')}`),
        ['session', undefined, 'api_key'],
      ],
      [
        'a new password',
        ({ visitor }) => visitor.post('/api/auth/change-password', { currentPassword: PASSWORD, newPassword: 'another horse 8 staple' }),
        ['session', undefined, 'api_key'],
      ],
    ];
    for (const [what, change, expected] of changes) {
      const one = await person();
      assert.deepEqual(vias(await one.told()), ['session', 'device', 'api_key'], what);
      await change(one);
      assert.deepEqual(vias(await one.told()), expected, what);
    }
  });

  it('sees a role and a plan at once', async () => {
    const { told, userId } = await person();
    await accounts.directory.setRole(userId, 'admin');
    assert.deepEqual((await told())[0]!.roles, ['admin']);
    await accounts.directory.setPlan(userId, 'pro', 'a test');
    assert.equal((await told())[1]!.plan, 'pro');
    await accounts.directory.setPlan(userId, '', 'a test');
    assert.equal((await told())[2]!.plan, 'free');
  });

  it('sees what another process has changed within two seconds, however the clock is set', async () => {
    const { told, userId } = await person();
    const other = await openDatabase(accounts.settings.database);
    await other.tables.updateTable('user').set({ banned: 1 }).where('id', '=', userId).execute();
    await other.close();
    now += 1999;
    assert.deepEqual(vias(await told()), ['session', 'device', 'api_key'], 'believed, without asking the database');
    now += 1;
    assert.deepEqual(vias(await told()), [undefined, undefined, undefined]);
    const second = await person();
    now -= 3600_000;
    await accounts.directory.setBanned(second.userId, true);
    assert.deepEqual(vias(await second.told()), [undefined, undefined, undefined]);
  });

  it('counts every request of a key that may make so many in a minute', async () => {
    const { visitor } = await person();
    const { key } = (await visitor.post('/api/module/apikeys', { name: 'few', perMinute: 2 })).body;
    const headers = new Headers({ 'x-api-key': key });
    for (let index = 0; index < 2; index++) assert.equal((await accounts.identify(headers))?.via, 'api_key');
    await assert.rejects(accounts.identify(headers), { kind: 'too_many' });
  });
});
