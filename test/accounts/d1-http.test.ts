import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { d1OverHttp } from '../../accounts/database/dialects/d1.js';
import { D1Service } from '../support/accounts/d1-service.js';
import { optionsFor } from '../support/accounts/database-servers.js';
import { member, type Reply, Visitor } from '../support/accounts/visitor.js';

describe('D1 by its query interface, which is played here and is not the service', () => {
  let service: D1Service;
  let accounts: Accounts;
  const start = (fields: object = {}): Promise<Accounts> =>
    createAccounts(
      optionsFor(
        { name: 'd1', fields: { ...service.fields, ...fields } },
        {
          config: {
            database: { ...service.fields, ...fields },
            plans: [{ name: 'free' }, { name: 'pro', price: 9 }],
            meters: { calls: { limits: { free: 25 } } },
            billing: { provider: 'stripe' },
          },
          environment: { PAYMENT_SECRET_KEY: 'sk_test' },
        },
      ),
    );
  before(async () => {
    service = await D1Service.start();
    accounts = await start();
  });
  after(async () => {
    await accounts?.close();
    service?.close();
  });

  it('makes one user of twelve sign-ups, and lets 25 of 60 uses through', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => new Visitor(accounts, `198.51.100.${index}`).signUp('dan@example.com')),
    );
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    assert.equal((await accounts.directory.users({})).total, 1);
    const dan = await member(accounts, 'dan@example.com');
    const uses = await Promise.all(Array.from({ length: 60 }, () => dan.post('/api/module/usage/track', { meterId: 'calls', count: 1 })));
    assert.equal(uses.filter(({ status }) => status === 200).length, 25);
    const named = await Promise.all(
      Array.from({ length: 4 }, () => dan.post('/api/module/usage/track', { meterId: 'calls', count: 1, idempotencyKey: 'one' })),
    );
    assert.deepEqual([...new Set(named.map(({ status }) => status))], [429]);
  });

  it('lets a device in, and gives its tokens anew', async () => {
    const ann = await member(accounts, 'ann@example.com');
    const { deviceCode, userCode } = (await ann.post('/api/module/device/authorize')).body;
    await ann.post('/api/module/device/verify', { userCode, action: 'approve' });
    const { refreshToken } = (await ann.post('/api/module/device/token', { deviceCode })).body;
    assert.equal((await ann.post('/api/module/device/refresh', { refreshToken })).status, 200);
    const { key } = (await ann.post('/api/module/apikeys', { name: 'mine' })).body;
    assert.equal((await new Visitor(accounts).get('/api/module/me', { 'x-api-key': key })).body.email, 'ann@example.com');
  });

  it('is found by a second start as the first has left it', async () => {
    const second = await start();
    assert.equal((await new Visitor(second).signIn('ann@example.com')).status, 200);
    await second.close();
  });

  it('asks again what the service had no room for, and no more than a few times', async () => {
    const busy = {
      status: 429,
      body: { success: false, errors: [{ code: 971, message: 'Please wait' }], result: [] },
      headers: { 'retry-after': '0' },
    };
    const ask = (): Promise<Reply> => new Visitor(accounts, '192.0.2.9').get('/api/module/me', { 'x-api-key': 'sk_of_nobody' });
    service.refusals.push(busy, busy);
    assert.equal((await ask()).status, 401);
    assert.equal(service.refusals.length, 0);
    service.refusals.push(...Array(4).fill(busy));
    const { status, headers, body } = await ask();
    assert.deepEqual([status, body.error], [503, 'database_unavailable']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.equal((await ask()).status, 401);
  });

  it('answers 503 while the service fails, and nothing was run twice', async () => {
    const source = d1OverHttp(service.fields.url, service.token);
    for (const refusal of [
      { status: 500, body: { success: false, errors: [{ code: 7500, message: 'internal error' }] } },
      { status: 502, body: '<html>Bad gateway</html>' },
    ]) {
      service.refusals.push(refusal);
      const asked = service.asked.length;
      await assert.rejects(source.run('select 1', []), { code: 'D1_UNAVAILABLE', message: new RegExp(`answered ${refusal.status}`) });
      assert.equal(service.asked.length, asked);
      service.refusals.push(refusal);
      assert.equal((await new Visitor(accounts).get('/api/module/me', { 'x-api-key': 'sk_of_nobody' })).status, 503);
    }
    await assert.rejects(d1OverHttp('http://127.0.0.1:1/x', 'token').run('select 1', []), { code: 'D1_UNAVAILABLE' });
  });

  it('says what the service says, and not the token', async () => {
    const source = d1OverHttp(service.fields.url, service.token);
    await assert.rejects(source.run('select * from absent', []), { code: 'D1_ERROR', message: /no such table: absent.*7500/ });
    await assert.rejects(source.run('insert into user (id) values (?)', ['x']), /NOT NULL|not null/i);
    service.refusals.push({ status: 200, body: { success: true, errors: [], result: [{ success: false, error: 'half of it' }] } });
    await assert.rejects(source.run('select 1', []), /half of it/);
    service.refusals.push({ status: 200, body: 'no envelope' });
    await assert.rejects(source.run('select 1', []), /no reason given/);
    const failure = await start({ token: 'a wrong token of somebody' }).then(
      () => undefined,
      (error: Error) => error,
    );
    assert.match(failure?.message ?? '', /D1 answered 401: Authentication error/);
    assert.ok(!failure!.message.includes('wrong token'));
  });

  it('runs a batch whole or not at all', async () => {
    const source = d1OverHttp(service.fields.url, service.token);
    const insert = (name: string): { statement: string; parameters: unknown[] } => ({
      statement: 'insert into accounts_fact (name, value) values (?, ?)',
      parameters: [name, '1'],
    });
    const names = async (): Promise<unknown[]> =>
      (await source.run("select name from accounts_fact where name like 'batch%'", [])).rows.map(({ name }) => name);
    await assert.rejects(source.batch!([insert('batch 1'), insert('batch 1')]), /UNIQUE/);
    assert.deepEqual(await names(), []);
    assert.deepEqual(
      (await source.batch!([insert('batch 1'), insert('batch 2')])).map(({ changed }) => changed),
      [1, 1],
    );
    assert.deepEqual(await names(), ['batch 1', 'batch 2']);
  });
});
