import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { openDatabase } from '../../accounts/database/database.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { type Endpoint, everyRoute } from '../support/accounts/every-route.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';
import { member, PASSWORD, type Reply, Visitor } from '../support/accounts/visitor.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const CONFIG = {
  seed: { admin: ADMIN },
  plans: [{ name: 'free' }, { name: 'pro', price: 20, payment_price_id: 'price_1' }],
  billing: { provider: 'stripe' },
  meters: { calls: { limits: { free: 1_000_000 } } },
};
/** Processor time that a request may take, in microseconds. */
const MOST_US = 400_000;
/** Tables that say who may do what; a request that is refused leaves them as they are. */
const TABLES = ['user', 'session', 'account', 'accounts_key', 'accounts_device', 'accounts_usage', 'accounts_grant'] as const;

describe('every endpoint of accounts', () => {
  let accounts: Accounts;
  let standIn: StripeStandIn;
  let endpoints: readonly Endpoint[];
  let addresses = 0;
  before(async () => {
    standIn = await StripeStandIn.start();
    standIn.isDown = true;
    accounts = await createAccounts({
      ...optionsFor(await DATABASE_SERVERS[0]!.open(), { config: CONFIG, environment: { PAYMENT_SECRET_KEY: 'sk_test' } }),
      paymentApi: standIn.url,
      print: () => {},
    });
    endpoints = everyRoute(accounts.settings);
  });
  after(async () => {
    await accounts?.close();
    standIn?.close();
  });

  /** Asks an endpoint from an address of its own, with an id in each of its places. */
  const ask = (visitor: Visitor, { method, path, body }: Endpoint, id = 'nobody', headers?: Record<string, string>): Promise<Reply> => {
    addresses += 1;
    visitor.ip = `10.9.${addresses >> 8}.${addresses & 255}`;
    const filled = body && (JSON.parse(JSON.stringify(body).replaceAll(':id', id)) as object);
    return visitor.ask(method, path.replace(/:\w+/, id), filled, headers);
  };
  const records = async (userIds: readonly string[]): Promise<string> => {
    const { tables, close } = await openDatabase(accounts.settings.database);
    const rows = await Promise.all(TABLES.map((table) => tables.selectFrom(table).selectAll().execute()));
    await close();
    const own = rows.flat().filter((row) => userIds.includes('userId' in row ? row.userId : (row as { id: string }).id));
    return JSON.stringify(own.map((row) => ({ ...row, lastUsed: null, updatedAt: null })));
  };
  /** A user with a key, a device and something used, and all ids of it. */
  const owner = async (name: string): Promise<{ visitor: Visitor; userId: string; ids: readonly string[] }> => {
    const visitor = await member(accounts, `${name}@example.com`, '192.0.2.30');
    const { userId, credentialId } = (await accounts.callerOf(new Headers({ cookie: visitor.cookie })))!;
    const key = (await visitor.post('/api/module/apikeys', { name: 'mine' })).body.id;
    const { userCode, deviceCode } = (await visitor.post('/api/module/device/authorize')).body;
    await visitor.post('/api/module/device/verify', { userCode, action: 'approve' });
    await visitor.post('/api/module/device/token', { deviceCode });
    const device = (await visitor.get('/api/module/devices')).body[0].id;
    const session = (await visitor.get('/api/auth/list-sessions')).body[0].token;
    await visitor.post('/api/module/usage/track', { meterId: 'calls', count: 7 });
    return { visitor, userId, ids: [userId, credentialId, key, device, session] };
  };

  it('shows and changes nothing of another user, whatever id is named', async () => {
    const ann = await owner('ann');
    const before = await records([ann.userId]);
    const eve = await member(accounts, 'eve@example.com', '192.0.2.31');
    const told: string[] = [];
    for (const endpoint of endpoints) {
      for (const id of ann.ids) {
        const withIds = { ...endpoint, ...(endpoint.body ? { body: { ...endpoint.body, userId: id, id, token: id, keyId: id } } : {}) };
        for (const each of endpoint.path.includes(':') || endpoint.body ? [endpoint, withIds] : [endpoint]) {
          if (/sign-out|revoke-(?:other-)?sessions/.test(each.path)) continue;
          const { text } = await ask(eve, each, id);
          if (/ann@example\.com|sk_[\w-]{8}.{0,9}mine/.test(text)) told.push(`${each.method} ${each.path}: ${text.slice(0, 100)}`);
        }
      }
    }
    assert.deepEqual(told, []);
    assert.equal(await records([ann.userId]), before);
  });

  it('is closed to who is not the admin, where it is the admin’s', async () => {
    const bob = await owner('bob');
    for (const endpoint of endpoints.filter(({ path }) => /^\/admin\/data|\/auth\/admin\//.test(path))) {
      const { status, text } = await ask(bob.visitor, endpoint, bob.userId);
      assert.equal(status, 403, `${endpoint.path}: ${text}`);
      assert.equal((await ask(new Visitor(accounts), endpoint, bob.userId)).status, 401, endpoint.path);
    }
  });

  it('changes nothing that a page of another origin sends with a cookie', async () => {
    const cat = await owner('cat');
    const root = new Visitor(accounts, '192.0.2.32');
    await root.signIn(ADMIN.email, ADMIN.password);
    const before = await records([cat.userId]);
    for (const endpoint of endpoints.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/webhook')))
      for (const origin of ['', 'null', 'https://evil.example', 'http://localhost:3000.evil.example'])
        for (const visitor of [cat.visitor, root]) {
          const { status } = await ask(visitor, endpoint, cat.userId, { origin });
          assert.equal(status, 403, `${endpoint.method} ${endpoint.path} from "${origin}"`);
        }
    assert.equal(await records([cat.userId]), before);
  });

  it('lets pages of other origins read nothing', async () => {
    const dan = await owner('dan');
    for (const endpoint of endpoints.filter(({ method }) => method === 'GET')) {
      const { headers } = await ask(dan.visitor, endpoint, 'nobody', { origin: 'https://evil.example' });
      assert.equal(headers.get('access-control-allow-origin'), null, endpoint.path);
      assert.equal(headers.get('access-control-allow-credentials'), null, endpoint.path);
    }
  });

  it('takes no field that is not the user’s to set', async () => {
    const fields = { role: 'admin', plan: 'pro', banned: false, emailVerified: true, id: 'x', userId: 'x', __proto__x: 1 };
    for (const [field, value] of Object.entries(fields)) {
      const email = `mass-${field.toLowerCase()}@example.com`;
      const body = { email, password: PASSWORD, name: 'Mass', [field]: value };
      const visitor = new Visitor(accounts, `192.0.2.${100 + (addresses++ % 100)}`);
      assert.equal((await visitor.post('/api/auth/sign-up/email', body)).status, 400, field);
    }
    const polluting =
      '{"email":"p@example.com","password":"correct horse 7 battery","name":"P","__proto__":{"role":"admin"},"constructor":{"prototype":{"role":"admin"}}}';
    const visitor = new Visitor(accounts, '192.0.2.33');
    assert.equal((await visitor.post('/api/auth/sign-up/email', polluting)).status, 400);
    assert.equal(({} as { role?: string }).role, undefined);
  });

  it('is the same endpoint, with its limits, by no other spelling of its path', async () => {
    await new Visitor(accounts, '192.0.2.34').signUp('hal@example.com');
    for (const path of [
      'sign-in/email/',
      '/sign-in/email',
      'sign-in//email',
      'sign-in/emai%6c',
      'Sign-In/Email',
      'sign-in%2femail',
      'sign-in/email;x',
    ]) {
      const { status, headers } = await new Visitor(accounts).post(`/api/auth/${path}`, { email: 'hal@example.com', password: PASSWORD });
      assert.deepEqual([status, headers.getSetCookie()], [404, []], path);
    }
    const root = new Visitor(accounts, '192.0.2.35');
    await root.signIn(ADMIN.email, ADMIN.password);
    for (const path of [
      'admin/create-user',
      'admin/create-user/',
      '/admin/create-user',
      'admi%6e/set-role',
      'admin//set-role',
      'admin/impersonate-user',
    ])
      assert.equal((await root.post(`/api/auth/${path}`, { userId: 'x', role: 'admin' })).status, 404, path);
  });

  it('counts wrong passwords of one account however its address is written', async () => {
    await new Visitor(accounts, '192.0.2.36').signUp('kim@example.com');
    const spellings = ['kim@example.com', 'KIM@example.com', 'Kim@Example.COM', '\u212aim@example.com'];
    let refused = 0;
    for (let index = 0; index < 12; index++) {
      const { status } = await new Visitor(accounts, `198.51.100.${index}`).signIn(spellings[index % 4]!, `a wrong guess ${index}`);
      if (status === 429) refused += 1;
      else assert.ok(status === 401 || status === 400, String(status));
    }
    assert.ok(refused >= 2, `${refused} of 12 were refused`);
  });

  it('is bounded by what a head may hold', async () => {
    const ivy = await owner('ivy');
    const bomb = Array.from({ length: 100 }, (_, index) => `demo.session_token=planted${index}.AAAA`).join('; ');
    const tricks: Record<string, string>[] = [
      { cookie: bomb },
      { cookie: `${bomb}; ${ivy.visitor.cookie}` },
      { cookie: '', authorization: `Bearer ${'x'.repeat(1_000_000)}` },
      { cookie: '', authorization: `Bearer sk_${'x'.repeat(1_000_000)}` },
      { cookie: '', 'x-api-key': `dat_${'y'.repeat(1_000_000)}` },
      { cookie: '', authorization: 'Bearer \u00e9\u00ff' },
      { 'x-forwarded-for': `${'1.2.3.4, '.repeat(5000)}::1`, 'x-forwarded-host': 'evil.example', 'x-accounts-address': '127.0.0.1' },
      { 'user-agent': 'x'.repeat(100_000), accept: '\u00ff' },
      { 'idempotency-key': 'k'.repeat(10_000) },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-length': '17000000' },
      { host: 'evil.example', referer: 'https://evil.example/', origin: 'http://localhost:3000' },
    ];
    const wrong: string[] = [];
    for (const endpoint of endpoints)
      for (const trick of tricks) {
        let [status, text, user] = [0, '', Number.POSITIVE_INFINITY];
        // What the process does beside it counts too, such as collecting garbage, but not each time.
        for (let tries = 0; tries < 3 && user > MOST_US; tries += 1) {
          const began = process.cpuUsage();
          ({ status, text } = await ask(ivy.visitor, endpoint, 'nobody', trick));
          ({ user } = process.cpuUsage(began));
        }
        const isAway = status === 503 && /processor/.test(text);
        if ((status >= 500 && !isAway) || text.includes('evil.example') || user > MOST_US)
          wrong.push(
            `${endpoint.method} ${endpoint.path} ${JSON.stringify(trick).slice(0, 60)}: ${status} ${user} µs ${text.slice(0, 80)}`,
          );
      }
    assert.deepEqual(wrong, []);
  });

  it('takes no body beyond its limit', async () => {
    const jim = await owner('jim');
    const mega = `"${'x'.repeat(1024 * 1024)}"`;
    for (const { method, path } of endpoints.filter((each) => each.method !== 'GET'))
      assert.equal((await jim.visitor.ask(method, path.replace(/:\w+/, 'x'), mega)).status, 413, path);
    for (const path of ['/api/module/webhook', '/api/module/apikeys', '/api/auth/sign-in/email'])
      assert.equal((await jim.visitor.post(path, mega.repeat(17))).status, 413, path);
  });
});
