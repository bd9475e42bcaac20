import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { openDatabase } from '../../accounts/database/database.js';
import { DATABASE_SERVERS, optionsFor, type ReadyDatabase } from '../support/accounts/database-servers.js';
import { member, PASSWORD, type Reply, Visitor } from '../support/accounts/visitor.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const CONFIG = {
  seed: { admin: ADMIN },
  plans: [{ name: 'free' }, { name: 'pro', price: 20 }],
  features: { export: ['pro'] },
  meters: { calls: { limits: { free: 5 } } },
};
const [sqlite] = DATABASE_SERVERS;
const SECRETS = { old: 'the first secret of a test, 40 letters!!', next: 'another secret of a test, 40 characters?' };

/** How many passwords are hashed or compared while `work` runs. */
async function hashesOf(work: () => Promise<unknown>): Promise<number> {
  const { scrypt } = crypto;
  let calls = 0;
  crypto.scrypt = ((...given: Parameters<typeof scrypt>) => {
    calls++;
    scrypt(...given);
  }) as typeof scrypt;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    crypto.scrypt = scrypt;
    syncBuiltinESMExports();
  }
  return calls;
}

describe('accounts that strangers try', () => {
  let database: ReadyDatabase;
  let accounts: Accounts;
  before(async () => {
    database = await sqlite!.open();
    accounts = await createAccounts(optionsFor(database, { config: CONFIG }));
  });
  after(() => accounts?.close());

  it('hash once for an address that is known and for one that is not (A1, A2)', async () => {
    await new Visitor(accounts).signUp('ann@example.com');
    assert.equal(await hashesOf(() => new Visitor(accounts).signIn('ann@example.com', 'not the one 123')), 1);
    assert.equal(await hashesOf(() => new Visitor(accounts).signIn('nobody@example.com')), 1);
    assert.equal(await hashesOf(() => new Visitor(accounts).signUp('ann@example.com')), 1);
    assert.equal(await hashesOf(() => new Visitor(accounts).signUp('new@example.com')), 1);
  });

  it('let the owner in on a known browser while strangers guess (A6)', async () => {
    const owner = await member(accounts, 'bob@example.com');
    await owner.post('/api/auth/sign-out');
    const guesses: number[] = [];
    for (let index = 0; index < 10; index++)
      guesses.push((await new Visitor(accounts, `198.51.100.${index}`).signIn('bob@example.com', `guess number ${index}`)).status);
    assert.deepEqual(guesses.slice(-2), [429, 429]);
    const stranger = await new Visitor(accounts, '198.51.100.99').signIn('bob@example.com');
    assert.equal(stranger.status, 429);
    assert.ok(Number(stranger.headers.get('retry-after')) > 0);
    assert.equal((await owner.signIn('bob@example.com')).status, 200);
  });

  it('count by the address of the connection, whatever X-Forwarded-For says (A7)', async () => {
    const replies: number[] = [];
    for (let index = 0; index < 52; index++) {
      const visitor = new Visitor(accounts, '192.0.2.1');
      visitor.headers = { 'x-forwarded-for': `198.51.100.${index}` };
      replies.push((await visitor.signIn(`nobody${index}@example.com`)).status);
    }
    assert.deepEqual([replies[0], replies.at(-1)], [401, 429]);
  });

  it('count by the last address that no trusted proxy has, without its port (A7)', async () => {
    const proxied = await createAccounts(
      optionsFor(await sqlite!.open(), { config: { auth: { trusted_proxies: ['10.0.0.0/8', '::1'] } } }),
    );
    const from = async (forwarded: string, email: string): Promise<number> => {
      const visitor = new Visitor(proxied, '10.0.0.1');
      visitor.headers = { 'x-forwarded-for': forwarded };
      return (await visitor.signIn(email)).status;
    };
    for (let index = 0; index < 51; index++) await from(`1.2.3.${index}, 203.0.113.9:${index + 1024}, 10.0.0.7`, `x${index}@example.com`);
    assert.equal(await from('203.0.113.9', 'y@example.com'), 429);
    assert.equal(await from('203.0.113.10:80', 'y@example.com'), 401);
    assert.equal(await from('[2001:db8::1]:443', 'z@example.com'), 401);
    await proxied.close();
  });

  it('give a new token at each sign-in, and never take a planted one (A8)', async () => {
    const thief = await member(accounts, 'thief@example.com');
    await new Visitor(accounts).signUp('cat@example.com');
    const victim = new Visitor(accounts);
    const planted = thief.cookie.split('; ').find((pair) => pair.startsWith('demo.session_token='))!;
    victim.setCookie('demo.session_token', planted.slice(planted.indexOf('=') + 1));
    const first = (await victim.signIn('cat@example.com')).body.token;
    const second = (await victim.signIn('cat@example.com')).body.token;
    assert.notEqual(first, second);
    assert.ok(!decodeURIComponent(planted).includes(first));
    assert.notEqual((await thief.get('/api/auth/get-session')).body?.user.email, 'cat@example.com');
  });

  it('take the first credential that holds, of those that a request carries', async () => {
    const [ended, other] = [await member(accounts, 'old@example.com'), await member(accounts, 'new@example.com')];
    const { cookie } = ended;
    const { token } = (await other.get('/api/auth/get-session')).body.session;
    const both = { cookie, authorization: `Bearer ${token}` };
    const seen = async (headers: Record<string, string>): Promise<unknown[]> => [
      (await new Visitor(accounts).get('/api/auth/get-session', headers)).body?.user.email,
      (await new Visitor(accounts).get('/api/module/me', headers)).body.email,
      (await accounts.identify(new Headers(headers)))?.email,
    ];
    assert.deepEqual(await seen(both), Array(3).fill('new@example.com'), 'what a program sends on purpose goes first');
    await ended.post('/api/auth/sign-out');
    assert.deepEqual(await seen(both), Array(3).fill('new@example.com'));
    assert.deepEqual(await seen({ cookie: `${cookie}; ${other.cookie}` }), Array(3).fill('new@example.com'));
    await other.post('/api/auth/sign-out');
    const again = new Visitor(accounts);
    await again.signIn('old@example.com');
    for (const dead of [token, 'sk_of_nobody', 'dat_of_nobody', 'x.y'])
      assert.deepEqual(await seen({ cookie: again.cookie, authorization: `Bearer ${dead}` }), Array(3).fill('old@example.com'), dead);
    assert.deepEqual(await seen(both), Array(3).fill(undefined));
  });

  it('count by the address that a proxy tells that comes by a Unix socket, where the file says so', async () => {
    const lines: string[] = [];
    for (const trusted of [[], ['unix']]) {
      const config = { auth: { trusted_proxies: trusted } };
      const own = await createAccounts({ ...optionsFor(await sqlite!.open(), { config }), print: (line) => lines.push(line) });
      const statuses: number[] = [];
      for (let index = 0; index < 51; index += 1) {
        const visitor = new Visitor(own, '');
        visitor.headers = { 'x-forwarded-for': `198.51.100.${index}` };
        statuses.push((await visitor.signIn(`nobody${index}@example.com`)).status);
      }
      assert.equal(statuses.at(-1), trusted.length === 0 ? 429 : 401);
      await own.close();
    }
    assert.equal(lines.filter((line) => line.includes('trusted_proxies')).length, 1);
  });

  it('take the session cookie that is ours among several of its name', async () => {
    const visitor = await member(accounts, 'dan@example.com');
    const ours = visitor.cookie;
    const planted = new Visitor(accounts);
    for (const cookie of [`demo.session_token=planted; ${ours}`, `${ours}; demo.session_token=planted`])
      assert.equal((await planted.get('/api/auth/get-session', { cookie })).body?.user.email, 'dan@example.com', cookie.slice(0, 40));
  });

  it('are no means to sign a browser in from a foreign page (A12)', async () => {
    await new Visitor(accounts).signUp('eve@example.com');
    for (const origin of ['https://evil.example', 'null', 'http://localhost:3000.evil.example', 'http://localhost:30001']) {
      const visitor = new Visitor(accounts);
      visitor.headers = { origin };
      assert.equal((await visitor.signIn('eve@example.com')).status, 403, origin);
      const form = await visitor.ask('POST', '/api/auth/sign-in/email', `email=eve%40example.com&password=${PASSWORD}`, {
        'content-type': 'application/x-www-form-urlencoded',
      });
      assert.equal(form.status, 403, origin);
      assert.deepEqual(form.headers.getSetCookie(), []);
    }
  });

  it('answer bad values with 4xx, and do not fail', async () => {
    const visitor = await member(accounts, 'fay@example.com');
    const admin = new Visitor(accounts);
    await admin.signIn(ADMIN.email, ADMIN.password);
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const odd = { toString: 1, valueOf: 1 };
    const asked: [Visitor, string, string, unknown?][] = [];
    for (const id of ['__proto__', 'constructor', 'toString', 'no%00pe', '%E0%A4%A', '..%2f..']) {
      asked.push([visitor, 'GET', `/api/module/usage/${id}`], [visitor, 'DELETE', `/api/module/devices/${id}`]);
      asked.push([visitor, 'DELETE', `/api/module/apikeys/${id}`], [admin, 'POST', `/admin/data/users/${id}/sign-out`, {}]);
    }
    for (const value of ['__proto__', 'constructor', '\u0000', odd, [], null, 1.5, 'x'.repeat(60_000)])
      asked.push(
        [visitor, 'POST', '/api/module/usage/track', { meterId: value }],
        [visitor, 'POST', '/api/module/usage/track', { meterId: 'calls', count: value }],
        [visitor, 'POST', '/api/module/device/token', { deviceCode: value }],
        [visitor, 'POST', '/api/module/device/refresh', { refreshToken: value }],
        [visitor, 'POST', '/api/module/device/verify', { userCode: value, action: 'approve' }],
        [visitor, 'POST', '/api/module/apikeys', { name: 'a', expiresAt: value ?? 'no' }],
        [admin, 'POST', '/admin/data/users/x/plan', { plan: value }],
        [new Visitor(accounts, '192.0.2.77'), 'POST', '/api/auth/sign-in/email', { email: value, password: PASSWORD }],
      );
    for (const value of ['', '\u0000', odd, [], null, 5, 'x'.repeat(60_000)])
      asked.push(
        [visitor, 'POST', '/api/auth/update-user', { name: value }],
        [visitor, 'POST', '/api/auth/update-user', { image: value ?? 'javascript:alert(1)' }],
        [visitor, 'POST', '/api/module/apikeys', { name: value }],
        [visitor, 'POST', '/api/module/apikeys', { name: 'a', scopes: [value] }],
        [
          new Visitor(accounts, '192.0.2.77'),
          'POST',
          '/api/auth/sign-up/email',
          { email: 'q@example.com', password: PASSWORD, name: value },
        ],
      );
    for (const body of [`{"meterId":"calls","count":${deep}}`, `{"name":"a","expiresAt":${deep}}`, deep, '{', '[]', '"x"', '\u0000'])
      for (const path of ['/api/module/usage/track', '/api/module/apikeys', '/api/auth/sign-in/email', '/api/module/device/verify'])
        asked.push([visitor, 'POST', path, body]);
    const mine = (await admin.get('/admin/data/users?search=fay')).body.users[0].id;
    for (const body of [`{"plan":${deep}}`, { plan: odd }, { plan: '__proto__' }])
      asked.push([admin, 'POST', `/admin/data/users/${mine}/plan`, body], [admin, 'POST', `/admin/data/users/${mine}/role`, body]);
    asked.push([admin, 'POST', `/admin/data/users/${mine}/role`, { role: odd }]);
    const wrong: string[] = [];
    for (const [who, method, path, body] of asked) {
      const { status, text } = await who.ask(method, path, body);
      if (status < 400 || status >= 500)
        wrong.push(`${method} ${path} ${JSON.stringify(body ?? null).slice(0, 80)}: ${status} ${text.slice(0, 90)}`);
    }
    assert.deepEqual(wrong, []);
  });

  it('list nothing beyond the end, however far the offset', async () => {
    const admin = new Visitor(accounts);
    await admin.signIn(ADMIN.email, ADMIN.password);
    for (const offset of ['1e300', 'Infinity', '9007199254740993', '-1', '0x10', 'NaN', '__proto__']) {
      for (const path of ['/api/auth/admin/list-users?', '/admin/data/users?']) {
        const { status, text } = await admin.get(`${path}offset=${offset}&limit=${offset}`);
        assert.equal(status, 200, `${path}${offset}: ${text}`);
      }
    }
  });

  it('refuse a body of 1 MB unread (A14)', async () => {
    const visitor = new Visitor(accounts);
    for (const path of ['/api/auth/sign-in/email', '/api/module/usage/track'])
      assert.equal((await visitor.ask('POST', path, `"${'x'.repeat(1_000_000)}"`)).status, 413, path);
  });

  it('take an address with capitals as the same, and none that is not plain (A4)', async () => {
    await new Visitor(accounts, '192.0.2.5').signUp('gus@example.com');
    assert.equal((await new Visitor(accounts).signIn('GUS@Example.com')).status, 200);
    for (const email of ['ünï@exämple.com', 'a b@example.com', 'a@', '<b>@example.com', `${'x'.repeat(300)}@example.com`])
      assert.equal((await new Visitor(accounts, '192.0.2.5').signUp(email)).status, 400, email);
  });

  it('answer HEAD as GET without a body, and other methods with 405', async () => {
    const head = await new Visitor(accounts).ask('HEAD', '/api/module/config');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal((await new Visitor(accounts).ask('HEAD', '/api/auth/ok')).status, 200);
    assert.equal((await new Visitor(accounts).ask('PUT', '/api/module/config')).status, 405);
  });

  it('keep sessions, keys and codes when the secret is changed, as long as the one before it is named (A15)', async () => {
    const fresh = await sqlite!.open();
    const start = (environment: Record<string, string>): Promise<Accounts> => createAccounts(optionsFor(fresh, { environment }));
    const first = await start({ AUTH_SECRET: SECRETS.old });
    const visitor = await member(first, 'ann@example.com');
    const { key } = (await visitor.post('/api/module/apikeys', { name: 'one' })).body;
    const { userCode, deviceCode } = (await visitor.post('/api/module/device/authorize')).body;
    await first.close();
    const second = await start({ AUTH_SECRET: SECRETS.next, AUTH_PREVIOUS_SECRET: SECRETS.old });
    const again = new Visitor(second);
    const cookie = { cookie: visitor.cookie };
    assert.equal((await again.get('/api/auth/get-session', cookie)).body?.user.email, 'ann@example.com');
    assert.equal((await again.get('/api/module/subscription/status', { 'x-api-key': key })).status, 200);
    assert.equal((await again.post('/api/module/device/verify', { userCode, action: 'approve' }, cookie)).status, 200);
    assert.equal((await again.post('/api/module/device/token', { deviceCode })).status, 200);
    await second.close();
    // A key that was used meanwhile stands under the new secret alone.
    const third = await start({ AUTH_SECRET: SECRETS.next });
    assert.equal((await new Visitor(third).get('/api/auth/get-session', cookie)).body, null);
    assert.equal((await new Visitor(third).get('/api/module/subscription/status', { 'x-api-key': key })).status, 200);
    await third.close();
  });

  it('shut nobody out for longer when the clock is set back', async () => {
    let now = Date.now();
    const timed = await createAccounts(optionsFor(await sqlite!.open(), { now: () => now }));
    await new Visitor(timed).signUp('ann@example.com');
    for (let index = 0; index < 10; index++) await new Visitor(timed, `198.51.100.${index}`).signIn('ann@example.com', 'a wrong guess');
    assert.equal((await new Visitor(timed).signIn('ann@example.com')).status, 429);
    now -= 365 * 24 * 3600 * 1000;
    assert.equal((await new Visitor(timed).signIn('ann@example.com')).status, 200);
    await timed.close();
  });

  it('let as many of fifty in that come at once as may', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => new Visitor(accounts, '192.0.2.50').signUp(`many${index}@example.com`)),
    );
    assert.equal(replies.filter(({ status }) => status === 200).length, 20);
  });

  it('count nothing twice and lose nothing when the server dies in between', async () => {
    const ann = await member(accounts, 'hal@example.com', '192.0.2.11');
    const userId = (await ann.get('/api/auth/get-session')).body.user.id;
    const { tables, close } = await openDatabase(accounts.settings.database);
    const dying = async (statement: string, work: () => Promise<unknown>): Promise<void> => {
      const name = sql.raw(statement.replaceAll(' ', '_'));
      await sql`create trigger ${name} before ${sql.raw(statement)} begin select raise(abort, 'the server has died'); end`.execute(tables);
      await work();
      await sql`drop trigger ${name}`.execute(tables);
    };
    await ann.post('/api/module/usage/track', { meterId: 'calls' });
    const track = (): Promise<Reply> => ann.post('/api/module/usage/track', { meterId: 'calls', idempotencyKey: 'one' });
    const uncounted = async (): Promise<void> => assert.equal((await track()).status, 503);
    // A server that is gone takes nothing back either.
    await dying('update on accounts_usage', () => dying('delete on accounts_tracked', uncounted));
    assert.equal((await track()).body.used, 2);
    assert.equal((await track()).body.used, 2);

    const { userCode, deviceCode } = (await ann.post('/api/module/device/authorize')).body;
    await ann.post('/api/module/device/verify', { userCode, action: 'approve' });
    const poll = (): Promise<Reply> => ann.post('/api/module/device/token', { deviceCode });
    await dying('insert on accounts_device_token', async () => assert.equal((await poll()).status, 500));
    const { refreshToken } = (await poll()).body;
    const refresh = (): Promise<Reply> => ann.post('/api/module/device/refresh', { refreshToken });
    await dying('insert on accounts_device_token', async () => assert.equal((await refresh()).status, 500));
    assert.equal((await refresh()).status, 200);
    assert.equal((await ann.get('/api/module/devices')).body.length, 1);

    await dying('insert on account', async () =>
      assert.equal((await new Visitor(accounts, '192.0.2.12').signUp('ida@example.com')).status, 500),
    );
    assert.equal((await tables.selectFrom('user').select('id').where('email', '=', 'ida@example.com').execute()).length, 0);
    assert.equal((await accounts.meters.look(userId, 'calls')).used, 2);
    await close();
  });

  it('have their old records removed at the start', async () => {
    const { tables, close } = await openDatabase(accounts.settings.database);
    await tables.insertInto('accounts_attempt').values({ key: 'of last year', count: 1, started: 1 }).execute();
    await tables.insertInto('accounts_tracked').values({ name: 'of last year', meter: 'calls', count: 1, at: 1 }).execute();
    await (await createAccounts(optionsFor(database, { config: CONFIG }))).close();
    assert.deepEqual(await tables.selectFrom('accounts_tracked').select('name').where('at', '=', 1).execute(), []);
    assert.deepEqual(await tables.selectFrom('accounts_attempt').select('key').where('started', '=', 1).execute(), []);
    await close();
  });
});
