import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { openDatabase } from '../../../accounts/database/database.js';
import { type DatabaseServer, optionsFor, type ReadyDatabase } from '../../support/accounts/database-servers.js';
import { member, type Visitor } from '../../support/accounts/visitor.js';

const CONFIG = {
  plans: [{ name: 'free' }, { name: 'pro', price: 20 }],
  billing: { provider: 'stripe' },
  features: { export: ['pro'], look: ['*'] },
  meters: {
    calls: { type: 'cap', reset_period: 'day', limits: { free: 25, pro: 100 }, warning_at: 0.8 },
    tokens: { type: 'metered', limits: { free: 10 } },
    seats: { type: 'cap', limits: { free: 0, pro: 5 } },
  },
};
const ENVIRONMENT = { PAYMENT_SECRET_KEY: 'sk_test_of_a_test' };
const NOON = Date.UTC(2026, 10, 30, 12);

/** Features by plan, and meters that count. */
export function metersSuite(server: DatabaseServer): void {
  describe(`gates and meters in ${server.name}`, { skip: server.missing }, () => {
    let database: ReadyDatabase;
    let accounts: Accounts;
    let now = NOON;
    const warnings: string[] = [];
    const ids = new Map<string, string>();
    /** A new user by name, and what it asks with. */
    const user = async (name: string): Promise<{ visitor: Visitor; id: string }> => {
      const visitor = await member(accounts, `${name}@example.com`, `198.51.100.${ids.size}`);
      const caller = await accounts.callerOf(new Headers({ cookie: visitor.cookie }));
      ids.set(name, caller!.userId);
      return { visitor, id: caller!.userId };
    };
    const track = (visitor: Visitor, count: unknown, more: object = {}) =>
      visitor.post('/api/module/usage/track', { meterId: 'calls', count, ...more });
    before(async () => {
      database = await server.open();
      accounts = await createAccounts({
        ...optionsFor(database, { config: CONFIG, environment: ENVIRONMENT, now: () => now }),
        onWarning: ({ userId, used }) => warnings.push(`${userId} ${used}`),
      });
    });
    after(() => accounts?.close());

    it('lets 25 of 60 uses at once through a limit of 25, and warns once (M1, M6)', async () => {
      const { visitor, id } = await user('ann');
      const statuses = (await Promise.all(Array.from({ length: 60 }, () => track(visitor, 1)))).map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 25);
      assert.equal(statuses.filter((status) => status === 429).length, 35);
      assert.deepEqual((await visitor.get('/api/module/usage/calls')).body, {
        meterId: 'calls',
        used: 25,
        limit: 25,
        remaining: 0,
        resetAt: '2026-12-01T00:00:00.000Z',
      });
      assert.equal(warnings.filter((line) => line.startsWith(id)).length, 1);
      const refused = await track(visitor, 1);
      assert.equal(refused.body.error, 'meter_exceeded');
      assert.ok(refused.body.upgrade_url.startsWith('http') && Number(refused.headers.get('retry-after')) === 12 * 3600);
    });

    it('counts nothing for a count that is none, and for a meter that is not there (M2)', async () => {
      const { visitor } = await user('bob');
      for (const count of [0, -1, 1.5, '5', null, true, [1], 2 ** 60])
        assert.equal((await track(visitor, count)).status, 400, JSON.stringify(count));
      for (const body of ['{"meterId":"calls","count":1e309}', '{"meterId":"calls","count":NaN}', '[]'])
        assert.equal((await visitor.post('/api/module/usage/track', body)).status, 400, body);
      for (const meterId of ['nothing', '__proto__', 'constructor', '', 7])
        assert.equal((await visitor.post('/api/module/usage/track', { meterId })).status, 400, String(meterId));
      assert.equal((await visitor.get('/api/module/usage/calls')).body.used, 0);
    });

    it('counts a named use once, and refuses the name for another (M3)', async () => {
      const { visitor } = await user('cat');
      const replies = await Promise.all(Array.from({ length: 8 }, () => track(visitor, 3, { idempotencyKey: 'first' })));
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
      assert.equal((await visitor.get('/api/module/usage/calls')).body.used, 3);
      assert.equal((await track(visitor, 4, { idempotencyKey: 'first' })).status, 409);
      assert.equal((await track(visitor, 30, { idempotencyKey: 'too many' })).status, 429);
      assert.equal((await track(visitor, 2, { idempotencyKey: 'too many' })).status, 200);
    });

    it('keeps what is used when the plan changes (M4)', async () => {
      const { visitor, id } = await user('dan');
      await track(visitor, 20);
      await accounts.plans.grant(id, 'pro');
      assert.equal((await track(visitor, 60)).body.remaining, 20);
      await accounts.plans.grant(id, '');
      const reading = (await visitor.get('/api/module/usage/calls')).body;
      assert.deepEqual([reading.used, reading.limit, reading.remaining], [80, 25, 0]);
    });

    it('begins anew at midnight in UTC (M5)', async () => {
      const { visitor } = await user('eve');
      await track(visitor, 25);
      now = Date.UTC(2026, 11, 1) - 1;
      assert.equal((await track(visitor, 1)).status, 429);
      now += 1;
      const { status, body } = await track(visitor, 1);
      assert.deepEqual([status, body.used, body.resetAt], [200, 1, '2026-12-02T00:00:00.000Z']);
      now = NOON;
    });

    it('counts beyond the limit of a meter that only measures, and gives back', async () => {
      const { visitor, id } = await user('fay');
      assert.equal((await visitor.post('/api/module/usage/track', { meterId: 'tokens', count: 500 })).body.used, 500);
      assert.equal((await accounts.meters.refund(id, 'tokens', 200)).used, 300);
      assert.equal((await accounts.meters.refund(id, 'tokens', 1000)).used, 0);
      assert.equal((await accounts.meters.look(id, 'calls')).used, 0);
      await assert.rejects(accounts.meters.check(id, 'seats'), { code: 'meter_exceeded' });
    });

    it('shows and counts nobody else (M8)', async () => {
      const [{ visitor }, other] = [await user('gus'), await user('hal')];
      await visitor.post('/api/module/usage/track', { meterId: 'calls', count: 1, userId: other.id });
      assert.equal((await other.visitor.get('/api/module/usage/calls')).body.used, 0);
      visitor.headers = {};
      const stranger = await accounts.handle(new Request('http://localhost:3000/api/module/usage'), { ip: '203.0.113.9' });
      assert.equal(stranger.status, 401);
    });

    it('opens features to the plans that have them (M9)', async () => {
      const { visitor, id } = await user('ida');
      const caller = await accounts.callerOf(new Headers({ cookie: visitor.cookie }));
      assert.equal(await accounts.features.has(undefined, 'look'), true);
      assert.equal(await accounts.features.has(caller, 'export'), false);
      await assert.rejects(accounts.features.require(caller, 'export'), { kind: 'forbidden', code: 'feature_not_available' });
      await assert.rejects(accounts.features.require(undefined, 'export'), { kind: 'unauthorized' });
      await accounts.plans.grant(id, 'pro', now + 1000);
      await accounts.features.require(caller, 'export');
      now += 1000;
      assert.equal(await accounts.features.has(caller, 'export'), false);
      now = NOON;
      assert.throws(() => accounts.features.declare('exprot'), /no feature "exprot"/);
    });

    it('lets nothing through when it cannot be counted (M7)', async () => {
      const { id } = await user('joe');
      const opened = await openDatabase(accounts.settings.database, database.d1);
      await opened.tables.schema.alterTable('accounts_usage').renameTo('accounts_usage_away').execute();
      await assert.rejects(accounts.meters.track(id, 'calls'), { kind: 'unavailable' });
      await opened.tables.schema.alterTable('accounts_usage_away').renameTo('accounts_usage').execute();
      await opened.close();
      assert.equal((await accounts.meters.track(id, 'calls')).used, 1);
    });
  });
}
