import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../../accounts/commands/command.js';
import { COMMANDS } from '../../accounts/commands/commands.js';
import { OidcProviders } from '../support/accounts/oidc-providers.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';

interface Finding {
  readonly what: string;
  readonly state: string;
  readonly says: string;
  readonly remedy?: string;
}
const ORIGIN = 'https://app.example';
const WEBHOOK = `${ORIGIN}/api/module/webhook`;

describe('quern accounts doctor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quern-accounts-doctor-'));
  const config = join(folder, 'module.yaml');
  const realFetch = globalThis.fetch;
  const sockets = new Set<Socket>();
  /** What the mail server says to EHLO. */
  let greeting = '250 ok';
  let mailServer: Server;
  let standIn: StripeStandIn;
  let providers: OidcProviders;
  before(async () => {
    standIn = await StripeStandIn.start();
    providers = await OidcProviders.start(ORIGIN, generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
    mailServer = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.write('220 test ESMTP\r\n');
      socket.on('data', (chunk) => socket.write(`${chunk.toString().startsWith('QUIT') ? '221 bye' : greeting}\r\n`));
    });
    await new Promise<void>((resolve) => mailServer.listen(0, '127.0.0.1', resolve));
    globalThis.fetch = async (input, init) => {
      if (new URL(new Request(input, init).url).host === 'github.com')
        throw new Error('fetch failed', { cause: new Error('no route to host') });
      return providers.fetch(input, init);
    };
  });
  after(() => {
    globalThis.fetch = realFetch;
    for (const socket of sockets) socket.destroy();
    mailServer?.close();
    standIn?.close();
    providers?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const doctor = async (change: Record<string, object> = {}, key = 'sk_test_of_a_test') => {
    const { port } = mailServer.address() as { port: number };
    const file = {
      app: { name: 'Demo', id: 'demo' },
      auth: {
        methods: Object.fromEntries(['google', 'microsoft', 'github'].map((name) => [name, { client_id: 'id', client_secret: 'secret' }])),
        email: { transport: 'smtp', smtp: { host: '127.0.0.1', port } },
      },
      plans: [{ name: 'free' }, { name: 'pro', price: 20, payment_price_id: 'price_pro' }],
      billing: { provider: 'stripe' },
      ...change,
    };
    writeFileSync(config, JSON.stringify(file));
    let out = '';
    const environment = {
      NODE_ENV: 'production',
      AUTH_URL: ORIGIN,
      AUTH_SECRET: 'k4Jw9rQ2xVb7LmZ1tYp8sNc5dFg3hRe6',
      PAYMENT_SECRET_KEY: key,
      PAYMENT_WEBHOOK_SECRET: 'whsec_of_a_test',
    };
    const args = ['doctor', '--config', config, '--api', standIn.url.href, '--json'];
    const code = await runCommand(COMMANDS, args, (text) => (out += text), environment);
    const findings = JSON.parse(out).result as Finding[];
    return { code, of: (what: string) => findings.find((finding) => finding.what === what) };
  };
  const price = (change: object = {}): unknown =>
    standIn.prices.set('price_pro', {
      id: 'price_pro',
      product: 'mod_demo_pro',
      unit_amount: 2000,
      currency: 'usd',
      lookup_key: null,
      active: true,
      recurring: { interval: 'month' },
      ...change,
    });

  it('finds nothing bad where all is well', async () => {
    price();
    standIn.endpoints.push({ url: WEBHOOK, status: 'enabled', enabled_events: ['*'] });
    const { code, of } = await doctor({
      auth: {
        email: { transport: 'smtp', smtp: { host: '127.0.0.1', port: (mailServer.address() as { port: number }).port } },
        methods: { google: { client_id: 'id', client_secret: 'secret' } },
      },
    });
    for (const what of ['billing', 'webhook secret', 'webhook', 'plan pro', 'mail', 'provider google'])
      assert.equal(of(what)?.state, 'good', `${what}: ${of(what)?.says}`);
    assert.match(of('provider google')!.says, /https:\/\/app\.example\/api\/auth\/callback\/google/);
    assert.equal(of('database')?.state, 'note');
    assert.equal(code, 0);
  });

  it('says of the processor what is missing there, and what to do', async () => {
    standIn.endpoints.length = 0;
    assert.match((await doctor()).of('webhook')!.says, /sends no events to https:\/\/app\.example/);
    standIn.endpoints.push({ url: WEBHOOK, status: 'disabled', enabled_events: ['*'] });
    assert.match((await doctor()).of('webhook')!.says, /switched off/);
    standIn.endpoints[0] = { url: WEBHOOK, status: 'enabled', enabled_events: ['invoice.paid'] };
    assert.match((await doctor()).of('webhook')!.says, /does not hear checkout\.session\.completed/);
    for (const [change, says] of [
      [{ unit_amount: 2500 }, /20 usd a month in the file and 25 usd a month/],
      [{ unit_amount: 20, currency: 'jpy' }, /20 jpy a month at the processor/],
      [{ recurring: { interval: 'year' } }, /20 usd a year at the processor/],
      [{ active: false }, /archived/],
    ] as const) {
      price(change);
      const { code, of } = await doctor();
      assert.match(of('plan pro')!.says, says);
      assert.match(of('plan pro')!.remedy!, /plans push/);
      assert.equal(code, 1);
    }
    standIn.prices.clear();
    assert.match((await doctor()).of('plan pro')!.says, /no price price_pro/);
    assert.match((await doctor({}, 'sk_wrong')).of('billing')!.says, /Invalid API Key/);
  });

  it('says which servers do not answer, or refuse', async () => {
    greeting = '421 go away';
    const { of } = await doctor();
    assert.match(of('mail')!.says, /421 go away/);
    assert.match(of('provider github')!.says, /cannot be reached: no route to host/);
    assert.match(of('provider microsoft')!.says, /answers 404/);
    assert.match(
      (await doctor({ database: { adapter: 'pg', url: 'postgres://127.0.0.1:1/x' } })).of('database')!.says,
      /pg does not answer/,
    );
  });
});
