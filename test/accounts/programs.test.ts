import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { AccountsClient } from '../../accounts/client.js';
import { runCommand } from '../../accounts/commands/command.js';
import { COMMANDS } from '../../accounts/commands/commands.js';
import { expressGuard } from '../../accounts/mounts/guards.js';
import { nodeHandler } from '../../accounts/mounts/node.js';
import { optionsFor } from '../support/accounts/database-servers.js';
import { LateServer } from '../support/accounts/late-server.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';
import { Visitor } from '../support/accounts/visitor.js';

const SECRET = 'k4Jw9rQ2xVb7LmZ1tYp8sNc5dFg3hRe6';
const folder = mkdtempSync(join(tmpdir(), 'quern-accounts-programs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a command-line program with accounts', () => {
  let accounts: Accounts;
  let server: LateServer;
  let url: string;
  let ann: Visitor;
  const file = join(folder, 'client', 'credentials.json');
  let shown: string[] = [];
  const client = (): AccountsClient =>
    new AccountsClient({ app: 'demo-cli', url, file, show: (...what) => (shown = what), sleep: async () => void (await confirm()) });
  let confirm: () => Promise<unknown> = async () => {};
  before(async () => {
    server = await LateServer.start();
    url = server.url;
    accounts = await createAccounts(
      optionsFor(
        { name: 'sqlite', fields: { adapter: 'sqlite', url: join(folder, 'a.db') } },
        {
          config: {
            plans: [{ name: 'free' }, { name: 'pro', price: 5 }],
            billing: { provider: 'stripe' },
            features: { export: ['pro'], look: ['*'] },
            meters: { calls: { limits: { free: 2 } } },
          },
          environment: { AUTH_URL: url, PAYMENT_SECRET_KEY: 'sk_test' },
        },
      ),
    );
    const handle = nodeHandler(accounts);
    const guards = Object.entries({
      '/export': { feature: 'export' },
      '/look': { feature: 'look' },
      '/calls': { meter: 'calls' },
      '/admins': { role: 'admin' },
      '/read': { scope: 'read' },
    }).map(([path, wanted]) => [path, expressGuard(accounts, wanted)] as const);
    server.serve((request, response) => {
      const guard = guards.find(([path]) => path === request.url)?.[1];
      if (guard) guard(request, response, (error) => response.writeHead(error ? 500 : 200).end());
      else handle(request, response);
    });
    ann = new Visitor(accounts);
    ann.headers = { origin: url };
    await ann.signUp('ann@example.com');
    await ann.signIn('ann@example.com');
  });
  after(async () => {
    server?.close();
    await accounts?.close();
  });

  it('signs in by a browser, keeps its credentials to itself, and asks', async () => {
    let asked = 0;
    confirm = async () => {
      asked += 1;
      if (asked === 1) await ann.post('/api/module/device/verify', { userCode: shown[1], action: 'approve' });
    };
    await client().login();
    assert.match(shown[0]!, /\/api\/module\/device\?user_code=/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(await client().isAuthenticated(), true);
    assert.deepEqual(await client().getSubscription(), { plan: 'free', role: 'user' });
    await assert.rejects(client().requirePlan('pro'), { code: 'wrong_plan' });
    await client().track('calls', 2);
    assert.equal(await client().checkUsage('calls'), false);
    await assert.rejects(client().track('calls'), { code: 'meter_exceeded', status: 429 });
  });

  it('makes its tokens new when their hour is over, once for all that ask at once', async () => {
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...kept, expires: 0 }));
    const one = client();
    await Promise.all(Array.from({ length: 5 }, () => one.getSubscription()));
    const now = JSON.parse(readFileSync(file, 'utf8'));
    assert.notEqual(now.refreshToken, kept.refreshToken);
    assert.equal(await client().isAuthenticated(), true);
  });

  it('takes a key, or the environment, and forgets', async () => {
    const { key } = (await ann.post('/api/module/apikeys', { name: 'cli' })).body;
    await assert.rejects(client().loginWithKey('sk_wrong'), { status: 401 });
    await client().logout();
    assert.equal(existsSync(file), false);
    await assert.rejects(client().getSubscription(), { code: 'not_signed_in' });
    process.env.DEMO_CLI_TOKEN = key;
    assert.equal((await client().getSubscription()).plan, 'free');
    delete process.env.DEMO_CLI_TOKEN;
    await client().loginWithKey(key);
    assert.equal(await client().checkPlan('free', 'pro'), true);
  });

  it('is let through by the guards of a server, or told why not', async () => {
    const { userId } = (await accounts.callerOf(new Headers({ cookie: ann.cookie })))!;
    const get = (path: string, headers: Record<string, string> = { cookie: ann.cookie }) => fetch(url + path, { headers });
    for (const path of ['/export', '/calls', '/admins', '/read']) assert.equal((await get(path, {})).status, 401, path);
    assert.equal((await get('/look', {})).status, 200);
    const refused = await get('/export');
    assert.equal(refused.status, 403);
    const body = (await refused.json()) as Record<string, unknown>;
    assert.deepEqual(
      [body.error, body.feature, body.reason, body.required_plan, body.current_plan],
      ['feature_not_available', 'export', 'wrong_plan', 'pro', 'free'],
    );
    assert.equal((await get('/admins')).status, 403);
    assert.equal((await get('/calls')).status, 429);
    await accounts.plans.grant(userId, 'pro');
    assert.equal((await get('/export')).status, 200);
    const { key } = (await ann.post('/api/module/apikeys', { name: 'narrow', scopes: ['write'] })).body;
    assert.equal((await get('/read', { 'x-api-key': key })).status, 403);
    assert.equal((await get('/read')).status, 200);
    assert.throws(() => expressGuard(accounts, { feature: 'exprot' }), /no feature/);
  });
});

describe('quern accounts', () => {
  const config = join(folder, 'module.yaml');
  const run = async (args: readonly string[], environment: Record<string, string> = {}) => {
    let out = '';
    const code = await runCommand(
      COMMANDS,
      args.includes('--config') ? args : [...args, '--config', config],
      (text) => {
        out += text;
      },
      { AUTH_SECRET: SECRET, AUTH_URL: 'http://localhost:3000', ...environment },
    );
    return { code, out, json: () => JSON.parse(out) };
  };

  it('is a command of quern', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve('build/bundle/main.js'), 'accounts', 'help', '--json']);
    assert.ok(JSON.parse(stdout).result.length > 10);
  });

  it('writes a file that is right, and never over one', async () => {
    assert.equal((await run(['init'])).code, 0);
    const { status, result } = (await run(['validate', '--json'])).json();
    assert.deepEqual([status, result.plans], ['ok', ['free', 'pro']]);
    const again = (await run(['init', '--json'])).json();
    assert.deepEqual([again.status, again.error.code], ['error', 'conflict']);
  });

  it('finds the database of a daemon in its data directory', async () => {
    const dataDir = join(folder, 'of a daemon');
    mkdirSync(join(dataDir, 'accounts'), { recursive: true });
    assert.equal((await run(['migrate', '--data-dir', dataDir])).code, 0);
    assert.equal((await run(['doctor'], { DATA_DIR: dataDir })).code, 0);
    assert.deepEqual(readdirSync(dataDir), ['accounts']);
    assert.equal(readdirSync(join(dataDir, 'accounts')).filter((name) => name.endsWith('.db')).length, 1);
  });

  it('names each path that is wrong (A15)', async () => {
    const broken = join(folder, 'broken.yaml');
    writeFileSync(
      broken,
      'app: { name: A, id: "A B" }\nplans: [{ name: free }, { name: free }]\ndatabase: { adapter: oracle }\nauth: { secret: "${NOT_SET}" }\n',
    );
    const first = await run(['validate', '--config', broken]);
    assert.equal(first.code, 1);
    assert.match(first.out, /auth\.secret.*NOT_SET/);
    const second = await run(['validate', '--config', broken], { NOT_SET: SECRET });
    assert.match(second.out, /app\.id/);
    assert.match(second.out, /database\.adapter/);
    writeFileSync(broken, 'app: { name: A, id: a }\nplans: [{ name: free }, { name: free }]\nfeatures: { export: [gold] }\n');
    const third = await run(['validate', '--config', broken]);
    assert.match(third.out, /plans\.1\.name/);
    assert.match(third.out, /features\.export\.0.*no plan "gold"/);
    const misspelt = {
      'meters.calls.limitz': 'did you mean limits',
      'admin.require_rule': 'did you mean require_role',
      'quern.namespaces.library.role': 'did you mean roles',
      'quern.namespaces.library.wrote': 'did you mean write',
      quernn: 'did you mean quern',
      'plans.0.prize': 'did you mean price',
      'auth.methods.github.client': 'did you mean client_id',
      'nudges.trial.zzz': 'the keys here are color, cta',
    };
    writeFileSync(
      broken,
      `app: { name: A, id: a, x-owner: me }
x-notes: { anything: { goes: here } }
plans: [{ name: free, prize: 3 }]
auth: { methods: { github: { client: a, client_id: a, client_secret: b } } }
nudges: { trial: { trigger: trial_ending, message: m, zzz: 1 } }
meters: { calls: { limitz: { free: 1 } } }
admin: { require_rule: boss }
quernn: {}
quern: { namespaces: { library: { role: [user], wrote: [editor] } } }
`,
    );
    const fourth = await run(['validate', '--config', broken]);
    for (const [path, remedy] of Object.entries(misspelt))
      assert.ok(fourth.out.includes(`${path}: is no key of a module file; ${remedy}`), path);
    assert.doesNotMatch(fourth.out, /x-|goes/);
    for (const secret of ['', 'short', 'a'.repeat(40), 'password'.repeat(5)]) {
      const weak = await run(['validate'], { NODE_ENV: 'production', AUTH_SECRET: secret });
      assert.equal(weak.code, 1, secret);
      assert.match(weak.out, /AUTH_SECRET/);
    }
    assert.equal((await run(['validate'], { NODE_ENV: 'production' })).code, 0);
  });

  it('says what is to be done, and does it', async () => {
    assert.match((await run(['doctor'])).out, /note database: tables of version 0/);
    assert.equal((await run(['migrate'])).code, 0);
    assert.match((await run(['doctor'])).out, /ok {3}database/);
    const production = await run(['doctor'], { NODE_ENV: 'production' });
    assert.equal(production.code, 1);
    assert.match(production.out, /BAD {2}address/);
    assert.equal((await run(['nonsense'])).code, 1);
    assert.equal((await run(['validate', '--colour'])).code, 1);
  });

  it('makes users, plans, roles and keys', async () => {
    writeFileSync(
      config,
      `${readFileSync(config, 'utf8')}\nseed:\n  test_users:\n    - { email: Ann@example.com, password: correct horse 7 battery, plan: pro }\n`,
    );
    assert.deepEqual((await run(['seed', '--json'])).json().result.made, ['ann@example.com']);
    assert.deepEqual((await run(['seed', '--json'])).json().result.made, []);
    const made = (await run(['users', 'create', 'new@example.com', '--json'])).json().result;
    assert.ok(made.id && made.password.length >= 20);
    assert.equal((await run(['users', 'create', 'new@example.com'])).code, 1, 'there already');
    assert.equal((await run(['users', 'create', 'weak@example.com', '--password', 'password'])).code, 1);
    assert.equal((await run(['users', 'set-role', 'ann@example.com', 'admin'])).code, 0);
    const { users } = (await run(['users', 'list', 'ann', '--json'])).json().result;
    assert.deepEqual([users[0].plan, users[0].roles], ['pro', ['admin']]);
    const { id, key } = (await run(['keys', 'create', 'ann@example.com', 'deploy', '--json'])).json().result;
    const list = await run(['keys', 'list', 'ann@example.com']);
    assert.ok(list.out.includes(id) && !list.out.includes(key));
    assert.equal((await run(['keys', 'revoke', 'ann@example.com', id])).code, 0);
    assert.equal((await run(['keys', 'revoke', 'ann@example.com', id])).code, 1);
    assert.equal((await run(['users', 'ban', 'nobody@example.com'])).code, 1);
  });

  it('makes plans at the processor, again without a change, and at another price; comments stay (B14)', async () => {
    const standIn = await StripeStandIn.start();
    const push = () => run(['plans', 'push', '--api', standIn.url.href, '--json'], { PAYMENT_SECRET_KEY: 'sk_test_of_a_test' });
    try {
      writeFileSync(config, readFileSync(config, 'utf8').replace('provider: none', 'provider: stripe'));
      assert.deepEqual(
        (await push()).json().result.map(({ change }: { change: string }) => change),
        ['created'],
      );
      const text = readFileSync(config, 'utf8');
      assert.match(text, /payment_price_id: price_/);
      assert.match(text, /# Which plans have a feature/);
      assert.deepEqual(
        (await push()).json().result.map(({ change }: { change: string }) => change),
        ['none'],
      );
      assert.equal(readFileSync(config, 'utf8'), text);
      writeFileSync(config, text.replace('price: 20', 'price: 25').replace(/\n.*payment_price_id.*/, ''));
      assert.deepEqual(
        (await push()).json().result.map(({ change }: { change: string }) => change),
        ['repriced'],
      );
      const prices = [...standIn.prices.values()];
      assert.deepEqual(
        prices.map(({ active, unit_amount }) => [active, unit_amount]),
        [
          [false, 2000],
          [true, 2500],
        ],
      );
      assert.match((await run(['plans', 'push', '--dry-run'], { PAYMENT_SECRET_KEY: 'sk' })).out, /pro: 25 usd, price_/);
      standIn.isDown = true;
      assert.equal((await push()).json().status, 'error');
    } finally {
      standIn.close();
    }
  });

  it('sends an event to a running server', async () => {
    const environment = { PAYMENT_SECRET_KEY: 'sk_test_of_a_test', PAYMENT_WEBHOOK_SECRET: 'whsec_of_a_test' };
    // Nobody listens there.
    assert.match((await run(['webhook', 'test', '--url', 'http://127.0.0.1:1'], environment)).out, /cannot be reached/);
    const server = await LateServer.start();
    const { url } = server;
    const accounts = await createAccounts({ config, environment: { AUTH_SECRET: SECRET, AUTH_URL: url, ...environment }, print: () => {} });
    server.serve(nodeHandler(accounts));
    try {
      assert.equal((await run(['webhook', 'test', '--url', url], environment)).code, 0);
      const wrong = await run(['webhook', 'test', '--url', url], { ...environment, PAYMENT_WEBHOOK_SECRET: 'whsec_other' });
      assert.match(wrong.out, /answered 400/);
    } finally {
      server.close();
      await accounts.close();
    }
  });
});
