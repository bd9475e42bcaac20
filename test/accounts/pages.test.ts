import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { nodeHandler } from '../../accounts/mounts/node.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { LateServer } from '../support/accounts/late-server.js';
import { PASSWORD, Visitor } from '../support/accounts/visitor.js';
import { Browser, CHROMIUM, clicked, focused } from '../support/browser.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };

describe('pages of accounts in a browser', { skip: CHROMIUM ? false : 'no Chromium is installed' }, () => {
  let accounts: Accounts;
  let server: LateServer;
  let browser: Browser;
  let base: string;
  before(async () => {
    server = await LateServer.start();
    base = server.url;
    accounts = await createAccounts(
      optionsFor(await DATABASE_SERVERS[0]!.open(), {
        config: { seed: { admin: ADMIN }, plans: [{ name: 'free' }, { name: 'pro', price: 20 }], meters: { calls: { label: 'Calls' } } },
        environment: { AUTH_URL: base },
      }),
    );
    server.serve(nodeHandler(accounts));
    const visitor = new Visitor(accounts);
    visitor.headers = {};
    for (const name of ['ann', 'bob']) await visitor.signUp(`${name}@example.com`);
    await visitor.post('/api/auth/sign-up/email', {
      email: 'mallory@example.com',
      password: PASSWORD,
      name: '<img src=x onerror=alert(1)>',
    });
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    server?.close();
    await accounts?.close();
  });

  it('let the admin in, and show people, plans and a picture of sign-ups', async () => {
    await browser.open(`${base}/admin`);
    await browser.fill('#email', ADMIN.email);
    await browser.fill('#password', ADMIN.password);
    await browser.press('Enter');
    await browser.until(`document.querySelectorAll('#panel-users tbody tr').length === 4`);
    assert.match(await browser.value('document.querySelector("svg.chart").getAttribute("aria-label")'), /^4 sign-ups in 30 days/);
    assert.equal(await browser.value('document.querySelectorAll("#panel-users img").length'), 0, 'a name is text');
    if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/admin.png`);
  });

  it('find a user, and change its plan, role and freedom', async () => {
    await browser.fill('#search', 'ann@');
    await browser.press('Enter');
    await browser.until(`document.querySelectorAll('#panel-users tbody tr').length === 1`);
    await browser.choose('[aria-label="Plan of ann@example.com"]', 'pro');
    await browser.until(`document.getElementById('status').textContent === 'ann@example.com has the plan pro.'`);
    await browser.until(clicked(`document.querySelector('[aria-label="Ban ann@example.com"]')`));
    await browser.until(`document.querySelector('[aria-label="Unban ann@example.com"]')`);
    assert.equal((await new Visitor(accounts).signIn('ann@example.com')).status, 403);
    const [user] = (await accounts.directory.users({ search: 'ann@' })).users;
    assert.deepEqual([user!.plan, user!.banned], ['pro', true]);
  });

  it('work by the keyboard, and tell a screen reader what everything is', async () => {
    await browser.until(focused(`document.getElementById('tab-users')`));
    await browser.press('ArrowRight');
    assert.equal(await browser.value('document.activeElement.id'), 'tab-subscriptions');
    await browser.until(`!document.getElementById('panel-subscriptions').hidden && document.querySelector('#panel-subscriptions table')`);
    const nodes = await browser.accessible();
    const nameless = nodes.filter(
      ({ role, name }) => ['button', 'tab', 'textbox', 'combobox', 'searchbox', 'image', 'link'].includes(role) && name === '',
    );
    assert.deepEqual(nameless, []);
    assert.deepEqual(browser.complaints, [], 'the policy of the page stopped nothing');
  });

  it('let a device in, for one who is signed in', async () => {
    const { body } = await new Visitor(accounts).post('/api/module/device/authorize', {}, { origin: '' });
    await browser.open(body.verificationUrlComplete);
    await browser.until(clicked(`document.querySelector('button[value=approve]')`));
    await browser.until(`document.getElementById('status').textContent.startsWith('The device is signed in')`);
    if (process.env.PICTURES) await browser.picture(`${process.env.PICTURES}/device.png`);
    const tokens = await new Visitor(accounts).post('/api/module/device/token', { deviceCode: body.deviceCode }, { origin: '' });
    assert.equal(tokens.status, 200);
  });

  it('refuse who is no admin, and the last admin to shut itself out', async () => {
    const bob = new Visitor(accounts);
    bob.headers = { origin: base };
    await bob.signIn('bob@example.com');
    for (const path of ['overview', 'users', 'subscriptions', 'meters', 'events', 'sign-ups'])
      assert.equal((await bob.get(`/admin/data/${path}`)).status, 403, path);
    assert.equal((await new Visitor(accounts).get('/admin/data/users')).status, 401);
    const root = new Visitor(accounts);
    root.headers = { origin: base };
    await root.signIn(ADMIN.email, ADMIN.password);
    const { users } = (await root.get('/admin/data/users?search=root')).body;
    for (const [what, body] of [
      ['role', { role: 'user' }],
      ['ban', {}],
    ] as const)
      assert.equal((await root.post(`/admin/data/users/${users[0].id}/${what}`, body)).status, 409);
    assert.equal((await root.post('/admin/data/users/nobody/plan', { plan: 'pro' })).status, 404);
    assert.equal((await root.post(`/admin/data/users/${users[0].id}/plan`, { plan: 'gold' })).status, 400);
    assert.equal(
      (await root.post(`/admin/data/users/${users[0].id}/plan`, { plan: 'pro' }, { origin: 'https://evil.example' })).status,
      403,
    );
  });
});
