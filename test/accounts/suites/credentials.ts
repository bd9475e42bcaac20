import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { openDatabase } from '../../../accounts/database/database.js';
import { type DatabaseServer, optionsFor, type ReadyDatabase } from '../../support/accounts/database-servers.js';
import { member, PASSWORD, type Reply, Visitor } from '../../support/accounts/visitor.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const CONFIG = { seed: { admin: ADMIN }, meters: { calls: { limits: {} } }, auth: { device_auth: { client_ids: ['cli', 'tool'] } } };

/** Devices and API keys. */
export function credentialsSuite(server: DatabaseServer): void {
  describe(`devices and keys in ${server.name}`, { skip: server.missing }, () => {
    let database: ReadyDatabase;
    let accounts: Accounts;
    let now = Date.UTC(2026, 10, 27);
    let ann: Visitor;
    let visitors = 0;
    const stranger = (): Visitor => {
      visitors += 1;
      const visitor = new Visitor(accounts, `198.51.100.${visitors}`);
      visitor.headers = {};
      return visitor;
    };
    const bearer = (token: string): Visitor => {
      const visitor = stranger();
      visitor.headers = { authorization: `Bearer ${token}` };
      return visitor;
    };
    const begin = async (): Promise<{ deviceCode: string; userCode: string }> =>
      (await stranger().post('/api/module/device/authorize', { clientId: 'cli' })).body;
    const poll = (deviceCode: string): Promise<Reply> => stranger().post('/api/module/device/token', { deviceCode });
    const approve = (userCode: string, by = ann): Promise<Reply> => by.post('/api/module/device/verify', { userCode, action: 'approve' });
    const device = async (by = ann): Promise<{ accessToken: string; refreshToken: string }> => {
      const { deviceCode, userCode } = await begin();
      await approve(userCode, by);
      return (await poll(deviceCode)).body;
    };
    const refresh = (refreshToken: string): Promise<Reply> => stranger().post('/api/module/device/refresh', { refreshToken });
    const isIn = async (token: string): Promise<boolean> => (await bearer(token).get('/api/module/usage')).status === 200;
    before(async () => {
      database = await server.open();
      accounts = await createAccounts(optionsFor(database, { config: CONFIG, now: () => now }));
      ann = await member(accounts, 'ann@example.com');
    });
    after(() => accounts?.close());

    it('lets a device in once its user has said so, and answers eight questions with one pair of tokens (D1)', async () => {
      const { deviceCode, userCode } = await begin();
      assert.match(userCode, /^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/);
      assert.equal((await poll(deviceCode)).body.error, 'authorization_pending');
      assert.equal((await poll(deviceCode)).body.error, 'slow_down');
      now += 6000;
      assert.equal((await poll(deviceCode)).body.error, 'slow_down', 'the interval has grown by five seconds');
      assert.deepEqual((await approve(userCode.toLowerCase().replace('-', ' '))).body, { approved: true });
      const replies = await Promise.all(Array.from({ length: 8 }, () => poll(deviceCode)));
      const [given] = replies;
      assert.equal(new Set(replies.map(({ body }) => body.accessToken + body.refreshToken)).size, 1);
      assert.ok(given!.body.access_token === given!.body.accessToken && given!.body.tokenType === 'Bearer');
      assert.equal(await isIn(given!.body.accessToken), true);
      now += 11_000;
      assert.equal((await poll(deviceCode)).body.error, 'invalid_grant');
    });

    it('refuses a device as its user says, once, and codes that are wrong or over (D2, D3, D5)', async () => {
      const first = await begin();
      assert.deepEqual((await ann.post('/api/module/device/verify', { userCode: first.userCode, action: 'deny' })).body, { denied: true });
      assert.equal((await approve(first.userCode)).status, 409);
      assert.equal((await poll(first.deviceCode)).body.error, 'access_denied');
      assert.equal((await poll(first.deviceCode)).body.error, 'invalid_grant');
      const late = await begin();
      now += 11 * 60_000;
      assert.equal((await approve(late.userCode)).status, 404);
      assert.equal((await poll(late.deviceCode)).body.error, 'expired_token');
      assert.equal((await stranger().post('/api/module/device/authorize', { clientId: 'other' })).status, 401);
    });

    it('stops one who guesses codes (D2)', async () => {
      const guesser = await member(accounts, 'guesser@example.com', '192.0.2.66');
      const statuses: number[] = [];
      for (let guess = 0; guess < 7; guess += 1) statuses.push((await approve(`AAAA-AAA${guess + 2}`, guesser)).status);
      assert.deepEqual(statuses, [404, 404, 404, 404, 404, 429, 429]);
    });

    it('takes the word of a session alone (D3)', async () => {
      const { userCode } = await begin();
      assert.equal((await approve(userCode, stranger())).status, 401);
      const { accessToken } = await device();
      assert.equal((await approve(userCode, bearer(accessToken))).status, 403);
      const { key } = (await ann.post('/api/module/apikeys', { name: 'mine' })).body;
      assert.equal((await approve(userCode, bearer(key))).status, 403);
      const foreign = await ann.ask(
        'POST',
        '/api/module/device/verify',
        { userCode, action: 'approve' },
        { origin: 'https://evil.example' },
      );
      assert.equal(foreign.status, 403);
      const other = await member(accounts, 'other@example.com');
      assert.equal((await approve(userCode)).status, 200);
      assert.equal((await approve(userCode, other)).status, 409);
    });

    it('gives one pair of new tokens for a refresh token, and ends a device whose old one comes back (D4)', async () => {
      const { refreshToken, accessToken } = await device();
      const replies = await Promise.all(Array.from({ length: 10 }, () => refresh(refreshToken)));
      const [given] = replies;
      assert.equal(new Set(replies.map(({ body }) => body.accessToken + body.refreshToken)).size, 1);
      assert.equal(await isIn(given!.body.accessToken), true, 'within ten seconds a second try is no theft');
      now += 11_000;
      assert.equal((await refresh(refreshToken)).body.error, 'invalid_grant');
      for (const token of [accessToken, given!.body.accessToken]) assert.equal(await isIn(token), false);
      assert.equal((await refresh(given!.body.refreshToken)).body.error, 'invalid_grant');
    });

    it('lists devices and ends them; a new password ends them all (D5, A11)', async () => {
      const eve = await member(accounts, 'eve@example.com');
      const [first, second] = [await device(eve), await device(eve)];
      const { body } = await eve.get('/api/module/devices');
      assert.equal(body.length, 2);
      assert.equal((await ann.ask('DELETE', `/api/module/devices/${body[0].id}`)).status, 404);
      assert.equal((await eve.ask('DELETE', `/api/module/devices/${body[0].id}`)).status, 200);
      assert.equal([await isIn(first.accessToken), await isIn(second.accessToken)].filter(Boolean).length, 1);
      await eve.post('/api/auth/change-password', { currentPassword: PASSWORD, newPassword: 'another horse 8 battery' });
      assert.deepEqual([await isIn(first.accessToken), await isIn(second.accessToken)], [false, false]);
    });

    it('shows a key once, and its prefix ever after (K1)', async () => {
      const made = (await ann.post('/api/module/apikeys', { name: 'deploy', scopes: ['chat:read'] })).body;
      assert.ok(made.key.startsWith('sk_') && made.key.length > 40 && made.key.startsWith(made.prefix));
      const list = await ann.get('/api/module/apikeys');
      assert.ok(!list.text.includes(made.key) && list.body.some(({ prefix }: { prefix: string }) => prefix === made.prefix));
      assert.equal(await isIn(made.key), true);
      assert.equal((await stranger().get('/api/module/usage', { 'x-api-key': made.key })).status, 200);
      assert.deepEqual((await accounts.callerOf(new Headers({ 'x-api-key': made.key })))?.scopes, ['chat:read']);
      const other = await member(accounts, 'thief@example.com');
      assert.equal((await other.ask('DELETE', `/api/module/apikeys/${made.id}`)).status, 404);
      assert.equal((await ann.ask('DELETE', `/api/module/apikeys/${made.id}`)).status, 200);
      assert.equal(await isIn(made.key), false);
    });

    it('lets a user have a hundred keys, however many are made at once', async () => {
      const max = await member(accounts, 'max@example.com');
      const { userId } = (await accounts.callerOf(new Headers({ cookie: max.cookie })))!;
      const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
      const rest = { prefix: 'sk_', scopes: null, perMinute: null, created: now, expires: null, lastUsed: null };
      const rows = Array.from({ length: 97 }, (_, index) => ({
        id: `${userId}${index}`,
        userId,
        hash: `${userId}${index}`,
        name: 'old',
        ...rest,
      }));
      // D1 takes at most 100 values in one statement.
      for (const row of rows) await tables.insertInto('accounts_key').values(row).execute();
      await close();
      const replies = await Promise.all(Array.from({ length: 8 }, () => max.post('/api/module/apikeys', { name: 'new' })));
      const statuses = replies.map(({ status }) => status);
      assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 409).length], [3, 5]);
      assert.equal((await max.get('/api/module/apikeys')).body.length, 100);
    });

    it('ends keys at their time, with their user, and above what they may do in a minute (K2, D5)', async () => {
      const short = (await ann.post('/api/module/apikeys', { name: 'short', expiresAt: new Date(now + 60_000).toISOString() })).body;
      const slow = (await ann.post('/api/module/apikeys', { name: 'slow', perMinute: 2 })).body;
      assert.equal(await isIn(short.key), true);
      now += 61_000;
      assert.equal(await isIn(short.key), false);
      const statuses = [];
      for (let request = 0; request < 3; request += 1) statuses.push((await bearer(slow.key).get('/api/module/usage')).status);
      assert.deepEqual(statuses, [200, 200, 429]);
      const gus = await member(accounts, 'gus@example.com');
      const [{ key }, { accessToken, refreshToken }] = [(await gus.post('/api/module/apikeys', { name: 'mine' })).body, await device(gus)];
      const admin = new Visitor(accounts);
      await admin.signIn(ADMIN.email, ADMIN.password);
      const { userId } = (await accounts.callerOf(new Headers({ 'x-api-key': key })))!;
      assert.equal((await admin.post('/api/auth/admin/ban-user', { userId })).status, 200);
      assert.deepEqual([await isIn(key), await isIn(accessToken), (await refresh(refreshToken)).status], [false, false, 400]);
    });

    it('lets a key make no keys, and no admin of its user (K2)', async () => {
      const { key } = (await ann.post('/api/module/apikeys', { name: 'mine' })).body;
      assert.equal((await bearer(key).post('/api/module/apikeys', { name: 'more' })).status, 403);
      assert.equal((await bearer(key).get('/api/auth/get-session')).body, null);
      assert.ok([401, 403].includes((await bearer(key).get('/api/auth/admin/list-users')).status));
      for (const body of [
        {},
        { name: '' },
        { name: 7 },
        { name: 'x'.repeat(200) },
        { name: 'a', scopes: 'all' },
        { name: 'a', expiresAt: 'soon' },
        { name: 'a', perMinute: -1 },
      ])
        assert.equal((await ann.post('/api/module/apikeys', body)).status, 400, JSON.stringify(body));
    });

    it('keeps no code, token or key in clear (A10, K1)', async () => {
      const { deviceCode, userCode } = await begin();
      const { accessToken, refreshToken } = await device();
      const { key } = (await ann.post('/api/module/apikeys', { name: 'mine' })).body;
      const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
      const kept = JSON.stringify(
        await Promise.all(
          (['accounts_device_request', 'accounts_device_token', 'accounts_key'] as const).map((table) =>
            tables.selectFrom(table).selectAll().execute(),
          ),
        ),
      );
      const stored = await tables.selectFrom('accounts_key').select('hash').execute();
      await close();
      for (const secret of [deviceCode, userCode, userCode.replace('-', ''), accessToken, refreshToken, key])
        assert.ok(!kept.includes(secret));
      for (const { hash } of stored.slice(0, 2)) assert.equal(await isIn(`sk_${hash}`), false);
    });
  });
}
