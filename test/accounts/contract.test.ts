import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { adminRoutes } from '../../accounts/admin/routes.js';
import { billingRoutes } from '../../accounts/billing/routes.js';
import { openDatabase } from '../../accounts/database/database.js';
import type { Mail } from '../../accounts/mail.js';
import { moduleRoutes } from '../../accounts/module-routes.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';
import { member, PASSWORD, Visitor } from '../support/accounts/visitor.js';
import { until } from '../support/until.js';

const SOURCES = join(import.meta.dirname, '../../../test/accounts');
/** How many cases each part of the contract has. */
const CASES = { A: 19, D: 5, K: 2, B: 14, M: 9 };
const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const PREFIXES = ['https://evil.example', 'null', 'http://localhost:3000.evil.example', 'http://localhost:30001', ''];

describe('the contract of accounts', () => {
  let accounts: Accounts;
  const lines: string[] = [];
  const mails: Mail[] = [];
  /** The link of the mail to somebody, which leaves after the answer. */
  const linkTo = async (to: string): Promise<string> => {
    const found = (): Mail | undefined => mails.findLast((mail) => mail.to === to);
    await until(found, `there is a mail to ${to}`);
    return /http\S+/.exec(found()!.text)![0];
  };
  before(async () => {
    const options = optionsFor(await DATABASE_SERVERS[0]!.open(), {
      config: { plans: [{ name: 'free' }, { name: 'pro', price: 20 }], meters: { calls: { limits: { free: 5 } } }, seed: { admin: ADMIN } },
    });
    accounts = await createAccounts({ ...options, print: (line) => lines.push(line), sendMail: async (mail) => void mails.push(mail) });
  });
  after(() => accounts?.close());

  it('has a test for each of its cases', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const names = files.flatMap((name) => [
      ...readFileSync(join(SOURCES, name), 'utf8').matchAll(/it\(\s*['`](.*?)\(((?:[ABDKM]\d+(?:, )?)+)\)['`]/gs),
    ]);
    const tested = new Set(names.flatMap(([, , cases = '']) => cases.split(', ')));
    const all = Object.entries(CASES).flatMap(([part, count]) => Array.from({ length: count }, (_, index) => `${part}${index + 1}`));
    assert.deepEqual(
      all.filter((name) => !tested.has(name)),
      [],
    );
    assert.deepEqual(
      [...tested].filter((name) => !all.includes(name)),
      [],
    );
  });

  it('tells twelve at once that an address is taken, where the file lets it (A3)', async () => {
    const open = await createAccounts(
      optionsFor(await DATABASE_SERVERS[0]!.open(), { config: { auth: { reveal_existing_accounts: true } } }),
    );
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => new Visitor(open, `198.51.100.${index}`).signUp('dan@example.com')),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(11).fill(422)]);
    const { tables, close } = await openDatabase(open.settings.database);
    assert.equal((await tables.selectFrom('account').select('id').execute()).length, 1);
    await close();
    await open.close();
  });

  it('takes a password in each form of its letters, and all of it (A4, A14)', async () => {
    const visitor = new Visitor(accounts, '192.0.2.1');
    const email = (index: number): string => `letters${index}@example.com`;
    const composed = 'Ünïcödé ﬁsh №5';
    assert.equal((await visitor.signUp(email(0), composed)).status, 200);
    assert.equal((await visitor.signIn(email(0), composed.normalize('NFKD'))).status, 200);
    const long = 'correct horse battery '.repeat(6).slice(0, 128);
    const good = ['eight8ch', 'with spaces in it', '🐎🔋📎🐎🔋📎🐎🔋', long.slice(0, 64), long];
    for (const [index, password] of good.entries()) {
      assert.equal((await visitor.signUp(email(index + 1), password)).status, 200, password);
      assert.equal((await visitor.signIn(email(index + 1), password)).status, 200, password);
    }
    assert.equal((await visitor.signIn(email(5), long.slice(0, 127))).status, 401, 'nothing is cut off');
    for (const password of ['seven7c', 'password', 'PassWord', '12345678', 'qwertyuiop', `${long}x`, 'x'.repeat(60_000)])
      assert.equal((await visitor.signUp('new@example.com', password)).status, 400, password.slice(0, 20));
  });

  it('counts a household of IPv6 as one visitor (A7)', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 52; index += 1)
      statuses.push((await new Visitor(accounts, `2001:db8:7:7:${index}::${index}`).signIn(`six${index}@example.com`)).status);
    assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
    assert.equal((await new Visitor(accounts, '2001:db8:7:8::1').signIn('six@example.com')).status, 401, 'a neighbour');
  });

  it('keeps the token that sets a new password as a hash (A10)', async () => {
    await new Visitor(accounts, '192.0.2.2').signUp('reset@example.com');
    await new Visitor(accounts).post('/api/auth/request-password-reset', { email: 'reset@example.com', redirectTo: '/reset' });
    const token = /reset-password\/([^?\s]+)/.exec(await linkTo('reset@example.com'))![1]!;
    const { tables, close } = await openDatabase(accounts.settings.database);
    const kept = await tables.selectFrom('verification').selectAll().execute();
    await close();
    assert.ok(kept.length > 0 && !JSON.stringify(kept).includes(token));
    for (const { identifier, value } of kept)
      for (const stolen of [identifier, value, identifier.replace('reset-password:', '')])
        assert.equal(
          (await new Visitor(accounts).post('/api/auth/reset-password', { newPassword: `${PASSWORD}!`, token: stolen })).status,
          400,
        );
  });

  it('sets a new password on a page of its own where a mail was asked for without another', async () => {
    const visitor = new Visitor(accounts, '192.0.2.4');
    await visitor.signUp('page@example.com');
    await visitor.post('/api/auth/request-password-reset', { email: 'page@example.com' });
    const link = await linkTo('page@example.com');
    const open = (url: string) => accounts.handle(new Request(new URL(url, 'http://localhost:3000')), { ip: '192.0.2.4' });
    const page = (await open(link)).headers.get('location')!;
    const shown = await open(page);
    assert.equal(shown.status, 200);
    assert.match(shown.headers.get('content-security-policy')!, /default-src 'none'/);
    const script = await open(/src="([^"]+)"/.exec(await shown.text())![1]!);
    assert.match(await script.text(), /fetch\('\/api\/auth\/reset-password'/);
    const token = new URL(page, 'http://localhost:3000').searchParams.get('token');
    assert.equal((await visitor.post('/api/auth/reset-password', { token, newPassword: 'a new horse 9 battery' })).status, 200);
    assert.equal((await visitor.signIn('page@example.com', 'a new horse 9 battery')).status, 200);
    const used = (await open(link)).headers.get('location')!;
    assert.equal((await open(used)).status, 400);
  });

  it('names what went wrong in every refusal', async () => {
    const visitor = new Visitor(accounts, '192.0.2.5');
    const refused = [
      await visitor.signIn('nobody@example.com', 'a wrong horse 9'),
      await visitor.post('/api/auth/reset-password', { token: 'x', newPassword: 'a new horse 9 battery' }),
      await visitor.get('/api/auth/nothing'),
      await visitor.post('/api/auth/revoke-sessions', {}),
      await visitor.get('/api/module/me'),
    ];
    for (const { status, body } of refused) {
      assert.ok(status >= 400);
      assert.deepEqual([typeof body.error, typeof body.message], ['string', 'string'], JSON.stringify(body));
    }
  });

  it('changes nothing for a page of another origin, at every path (A12)', async () => {
    const admin = new Visitor(accounts, '192.0.2.3');
    await admin.signIn(ADMIN.email, ADMIN.password);
    const { key: _, id: keyId } = (await admin.post('/api/module/apikeys', { name: 'mine' })).body;
    const parts = { settings: accounts.settings } as never;
    const routes = [...moduleRoutes(parts), ...billingRoutes(undefined, []), ...adminRoutes(accounts.settings, accounts.directory)];
    const own = routes
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => [method, path.replace('/apikeys/:id', `/apikeys/${keyId}`)]);
    const library = [
      'sign-up/email',
      'sign-in/email',
      'sign-out',
      'change-password',
      'update-user',
      'revoke-sessions',
      'admin/ban-user',
      'sign-in/social',
    ];
    const all = [...own, ...library.map((path) => ['POST', `/api/auth/${path}`])] as [string, string][];
    assert.ok(all.length > 20);
    for (const origin of PREFIXES)
      for (const [method, path] of all) {
        const { status } = await admin.ask(
          method,
          path,
          { name: 'x', action: 'approve', userCode: 'AAAA-AAAA', email: ADMIN.email },
          { origin },
        );
        assert.equal(status, 403, `${method} ${path} from ${JSON.stringify(origin)}`);
      }
    assert.notEqual((await admin.get('/api/auth/get-session')).body, null);
    assert.equal((await admin.get('/api/module/apikeys')).body.length, 1);
  });

  it('writes no password of the file into the log (A16)', () => {
    assert.ok(lines.some((line) => line.includes(ADMIN.email)));
    assert.ok(!lines.join('\n').includes(ADMIN.password));
  });

  it('believes no event while no secret is set (B1)', async () => {
    const standIn = await StripeStandIn.start();
    for (const secret of [undefined, '', ' , ']) {
      const environment = { PAYMENT_SECRET_KEY: 'sk_test', ...(secret === undefined ? {} : { PAYMENT_WEBHOOK_SECRET: secret }) };
      const config = { billing: { provider: 'stripe' } };
      const unset = await createAccounts({
        ...optionsFor(await DATABASE_SERVERS[0]!.open(), { config, environment }),
        paymentApi: standIn.url,
      });
      const { body, signature } = standIn.event('customer.created', { customer: 'cus_1' } as never, { secret: secret ?? '' });
      const request = new Request('http://localhost:3000/api/module/webhook', {
        method: 'POST',
        headers: { 'stripe-signature': signature },
        body,
      });
      const answer = await unset.handle(request, { ip: '192.0.2.1' });
      assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [400, 'invalid_signature']);
      assert.deepEqual(await unset.directory.events(), []);
      await unset.close();
    }
    standIn.close();
  });

  it('ends the tokens of a device with the device and with its user (D5)', async () => {
    const tokensOf = async (visitor: Visitor): Promise<{ accessToken: string; refreshToken: string }> => {
      const { deviceCode, userCode } = (await visitor.post('/api/module/device/authorize')).body;
      await visitor.post('/api/module/device/verify', { userCode, action: 'approve' });
      return (await visitor.post('/api/module/device/token', { deviceCode })).body;
    };
    const visitor = await member(accounts, 'leaving@example.com', '192.0.2.4');
    const refresh = async (refreshToken: string): Promise<number> =>
      (await new Visitor(accounts).post('/api/module/device/refresh', { refreshToken })).status;
    const first = await tokensOf(visitor);
    const [device] = (await visitor.get('/api/module/devices')).body;
    await visitor.ask('DELETE', `/api/module/devices/${device.id}`);
    assert.equal(await refresh(first.refreshToken), 400);
    const second = await tokensOf(visitor);
    const { id } = (await visitor.get('/api/auth/get-session')).body.user;
    const { tables, close } = await openDatabase(accounts.settings.database);
    await tables.deleteFrom('user').where('id', '=', id).execute();
    await close();
    assert.equal(await refresh(second.refreshToken), 400);
    assert.equal(await accounts.callerOf(new Headers({ authorization: `Bearer ${second.accessToken}` })), undefined);
  });
});
