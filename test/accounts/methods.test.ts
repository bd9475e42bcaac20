import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { settingsOf } from '../../accounts/config/module-file.js';
import type { Settings } from '../../accounts/config/settings.js';
import { openDatabase } from '../../accounts/database/database.js';
import { type Mail, mailer } from '../../accounts/mail.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';
import { member, type Reply, Visitor } from '../support/accounts/visitor.js';
import { until } from '../support/until.js';

const pathOf = (link: string): string => new URL(link).pathname + new URL(link).search;

describe('sign-in by a mail', () => {
  const mails: Mail[] = [];
  let accounts: Accounts;
  before(async () => {
    accounts = await createAccounts({
      ...optionsFor(await DATABASE_SERVERS[0]!.open(), {
        config: {
          auth: { methods: { email_password: true, magic_link: true, email_otp: { length: 8 } } },
          seed: { admin: { email: 'root@example.com', password: 'a password for root 1' } },
        },
      }),
      sendMail: async (mail) => void mails.push(mail),
    });
  });
  after(() => accounts?.close());
  const lastTo = async (to: string): Promise<Mail> => {
    const found = (): Mail | undefined => mails.findLast((mail) => mail.to === to);
    await until(found, `there is a mail to ${to}`);
    return found()!;
  };
  const userOf = async (visitor: Visitor) => (await visitor.get('/api/auth/get-session')).body?.user;

  it('takes a link once, and keeps its token as a hash', async () => {
    const ann = new Visitor(accounts);
    assert.equal((await ann.post('/api/auth/sign-in/magic-link', { email: 'ann@example.com', callbackURL: '/home' })).status, 200);
    const link = /https?:\/\/\S+/.exec((await lastTo('ann@example.com')).text)![0];
    const { tables, close } = await openDatabase(accounts.settings.database);
    const kept = JSON.stringify(await tables.selectFrom('verification').selectAll().execute());
    await close();
    assert.ok(!kept.includes(new URL(link).searchParams.get('token')!));
    const opened = await ann.get(pathOf(link));
    assert.equal(new URL(opened.headers.get('location')!, 'http://localhost:3000').pathname, '/home');
    assert.deepEqual([(await userOf(ann)).email, (await userOf(ann)).emailVerified], ['ann@example.com', true]);
    const thief = new Visitor(accounts);
    assert.match((await thief.get(pathOf(link))).headers.get('location')!, /error=/i);
    assert.equal(await userOf(thief), undefined);
    for (const callbackURL of ['https://evil.example', '//evil.example'])
      assert.equal((await ann.post('/api/auth/sign-in/magic-link', { email: 'ann@example.com', callbackURL })).status, 403);
  });

  it('takes digits once, and few guesses', async () => {
    const bob = new Visitor(accounts, '192.0.2.20');
    const ask = (): Promise<Reply> => bob.post('/api/auth/email-otp/send-verification-otp', { email: 'bob@example.com', type: 'sign-in' });
    assert.equal((await ask()).status, 200);
    const [otp] = /\d{8}/.exec((await lastTo('bob@example.com')).text)!;
    const enter = (digits: string, ip = '192.0.2.21'): Promise<Reply> =>
      new Visitor(accounts, ip).post('/api/auth/sign-in/email-otp', { email: 'bob@example.com', otp: digits });
    assert.ok([400, 401, 403].includes((await enter('00000000')).status));
    assert.equal((await enter(otp)).body.user.email, 'bob@example.com');
    assert.ok((await enter(otp)).status >= 400);
    const statuses: number[] = [];
    for (let guess = 0; guess < 10; guess += 1) statuses.push((await enter(`1234567${guess}`, `198.51.100.${guess}`)).status);
    assert.equal(statuses.at(-1), 429, 'from however many addresses');
    for (let mail = 0; mail < 5; mail += 1) await ask();
    assert.equal((await ask()).status, 429);
  });

  it('has no other way to a password or an address', async () => {
    const visitor = new Visitor(accounts, '192.0.2.22');
    for (const path of [
      'email-otp/request-password-reset',
      'email-otp/reset-password',
      'email-otp/change-email',
      'forget-password/email-otp',
    ])
      assert.equal((await visitor.post(`/api/auth/${path}`, { email: 'ann@example.com', otp: '1', password: 'x' })).status, 404, path);
    const reset = await visitor.post('/api/auth/email-otp/send-verification-otp', { email: 'ann@example.com', type: 'forget-password' });
    assert.equal(reset.status, 400);
    assert.equal((await visitor.post('/api/auth/sign-in/email-otp', { email: 'a@example.com', otp: '1', role: 'admin' })).status, 400);
  });
});

describe('mail by a service', () => {
  const realFetch = globalThis.fetch;
  after(() => {
    globalThis.fetch = realFetch;
  });

  it('is sent in the form of each service, and told when it is not taken', async () => {
    const asked: { url: string; headers: Headers; body: Record<string, unknown> }[] = [];
    let status = 200;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      asked.push({ url: request.url, headers: request.headers, body: (await request.json()) as Record<string, unknown> });
      return new Response('{"message":"no"}', { status });
    };
    const mail = { to: 'ann@example.com', subject: 'Hello', text: 'Text' };
    for (const transport of ['resend', 'postmark'] as const)
      await (await mailer({ transport, from: 'Demo <no-reply@example.com>', apiKey: 'key-1' }, () => {}))(mail);
    assert.deepEqual(
      asked.map(({ url }) => url),
      ['https://api.resend.com/emails', 'https://api.postmarkapp.com/email'],
    );
    assert.equal(asked[0]!.headers.get('authorization'), 'Bearer key-1');
    assert.equal(asked[1]!.headers.get('x-postmark-server-token'), 'key-1');
    assert.deepEqual([asked[0]!.body.to, asked[0]!.body.text], [['ann@example.com'], 'Text']);
    assert.deepEqual([asked[1]!.body.To, asked[1]!.body.TextBody], ['ann@example.com', 'Text']);
    status = 422;
    await assert.rejects(
      (await mailer({ transport: 'resend', from: 'a@b.c', apiKey: 'k' }, () => {}))(mail),
      /api\.resend\.com answered 422/,
    );
  });
});

describe('a module file', () => {
  const read = (file: object, environment: Record<string, string> = {}): Settings =>
    settingsOf({ app: { name: 'Demo', id: 'demo' }, ...file }, environment);

  it('may name a database by its host, and keys of mail and payment', () => {
    assert.deepEqual(
      ['neon', 'planetscale', 'libsql'].map((adapter) => read({ database: { adapter, url: 'x:y' } }).database.adapter),
      ['pg', 'mysql', 'turso'],
    );
    assert.equal(read({ auth: { email: { transport: 'nodemailer', smtp: { host: 'h' } } } }).mail.transport, 'smtp');
    assert.equal(read({ auth: { email: { transport: 'resend' } } }, { RESEND_API_KEY: 'k' }).mail.apiKey, 'k');
    assert.equal(read({ auth: { email: { transport: 'postmark', postmark: { api_key: 'p' } } } }).mail.apiKey, 'p');
    assert.throws(() => read({ auth: { email: { transport: 'resend' } } }), /auth\.email\.resend\.api_key.*RESEND_API_KEY/);
    const stripe = { secret_key: 'sk_1', publishable_key: 'pk_1', webhook_secret: 'wh_1, wh_2', require_payment_method: false };
    const { billing } = read({ billing: { provider: 'stripe', stripe } });
    assert.deepEqual(
      [billing.secretKey, billing.publishableKey, billing.webhookSecrets, billing.needsCard],
      ['sk_1', 'pk_1', ['wh_1', 'wh_2'], false],
    );
  });

  it('gives a plan the features of the one that it inherits, and trials to those that have one', () => {
    const { features, plans } = read({
      plans: [
        { name: 'free' },
        { name: 'pro', price: 10, trial: true },
        { name: 'team', price: 20, inherits: 'pro', trial: false },
        { name: 'big', price: 30, inherits: 'team', trial_days: 3 },
      ],
      billing: { trial_days: 14 },
      features: { export: ['pro'], audit: ['big'], look: ['*'], save: ['authenticated'] },
    });
    assert.deepEqual(features, { export: ['pro', 'team', 'big'], audit: ['big'], look: ['*'], save: ['authenticated'] });
    assert.deepEqual(
      plans.map(({ trial_days }) => trial_days),
      [0, 14, 0, 3],
    );
    assert.deepEqual(
      read({
        plans: [
          { name: 'a', inherits: 'b' },
          { name: 'b', inherits: 'a' },
        ],
        features: { x: ['a'] },
      }).features.x,
      ['a', 'b'],
    );
  });

  it('is refused with the path of what it names and does not have', () => {
    for (const [file, path] of [
      [{ plans: [{ name: 'pro', inherits: 'gold' }] }, /plans\.\d\.inherits.*no plan "gold"/],
      [{ nudges: { a: { trigger: 'full_moon', message: 'x' } } }, /nudges\.a\.trigger.*approaching_limit/],
      [{ nudges: { a: { trigger: 'free_plan:calls', message: 'x' } } }, /nudges\.a\.trigger/],
      [{ nudges: { a: { trigger: 'limit_reached:calls', message: 'x' } } }, /nudges\.a\.trigger.*no meter "calls"/],
      [{ seed: { test_users: [{ email: 'a@b.c', password: 'x', usage: { calls: 1 } }] } }, /seed\.test_users\.0\.usage\.calls/],
      [{ billing: { webhook_paths: ['/api/module/usage'] } }, /billing\.webhook_paths\.0/],
      [
        { auth: { methods: { apple: { client_id: 'a', team_id: 't', key_id: 'k', private_key: 'no key' } } } },
        /auth\.methods\.apple\.private_key.*p8/,
      ],
    ] as const)
      assert.throws(() => read(file), path);
  });

  it('opens features to anyone who is signed in, and guards a plan', async () => {
    const config = {
      app: { name: 'Demo', id: 'demo', domain: 'https://demo.example', logo: '/logo.svg', colors: { primary: '#112233' } },
      plans: [{ name: 'free' }, { name: 'pro', price: 20, trial_days: 7, payment_price_id: 'price_pro' }],
      features: { save: ['authenticated'] },
      meters: { calls: { limits: { free: 5 }, icon: 'phone' } },
      billing: { provider: 'stripe', webhook_paths: ['/api/stripe/webhook'], stripe: { require_payment_method: false } },
      seed: { test_users: [{ email: 'seeded@example.com', password: 'correct horse 7 battery', usage: { calls: 4 } }] },
      admin: { sections: { billing: false } },
    };
    const standIn = await StripeStandIn.start();
    const environment = { PAYMENT_SECRET_KEY: 'sk_test', PAYMENT_WEBHOOK_SECRET: standIn.secret };
    const asked: string[] = [];
    standIn.mirror = async ({ body }) => void asked.push(body.toString());
    const accounts = await createAccounts({
      ...optionsFor(await DATABASE_SERVERS[0]!.open(), { config, environment }),
      paymentApi: standIn.url,
    });
    try {
      const ann = await member(accounts, 'ann@example.com');
      const caller = await accounts.callerOf(new Headers({ cookie: ann.cookie }));
      assert.deepEqual([await accounts.features.has(undefined, 'save'), await accounts.features.has(caller, 'save')], [false, true]);
      assert.throws(() => accounts.features.requirePlan('free', ['pro']), { kind: 'forbidden', code: 'wrong_plan' });
      const shown = (await ann.get('/api/module/config')).body;
      assert.deepEqual([shown.app.logo, shown.app.colors, shown.meters[0].icon], ['/logo.svg', { primary: '#112233' }, 'phone']);
      const me = (await ann.get('/api/module/me')).body;
      assert.deepEqual([me.email, me.roles, me.plan, me.via], ['ann@example.com', ['user'], 'free', 'session']);
      await ann.post('/api/module/checkout', { planId: 'pro' });
      assert.match(asked.at(-1)!, /payment_method_collection=if_required/);
      await accounts.seedTestUsers();
      const seeded = new Visitor(accounts);
      await seeded.signIn('seeded@example.com');
      assert.equal((await seeded.get('/api/module/usage/calls')).body.used, 4);
      const { body, signature } = standIn.event('customer.created', { id: 'sub_x', customer: 'cus_x' } as never);
      const event = new Request('http://localhost:3000/api/stripe/webhook', {
        method: 'POST',
        headers: { 'stripe-signature': signature },
        body,
      });
      assert.ok(accounts.owns('/api/stripe/webhook'));
      assert.equal((await accounts.handle(event, { ip: '192.0.2.1' })).status, 200);
      const root = await accounts.createUser({ email: 'Root@example.com', password: 'a password for root 1', name: 'Root' });
      await accounts.directory.setRole(root, 'admin');
      const admin = new Visitor(accounts);
      await admin.signIn('root@example.com', 'a password for root 1');
      const page = (await admin.get('/admin')).text;
      assert.ok(page.includes('tab-users') && page.includes('tab-meters') && !page.includes('tab-events'));
      assert.equal((await admin.get('/admin/data/events')).status, 404);
      await assert.rejects(accounts.createUser({ email: 'root@example.com', password: 'a password for root 1', name: '' }), {
        kind: 'conflict',
      });
      await assert.rejects(accounts.createUser({ email: 'weak@example.com', password: 'password', name: '' }), { kind: 'bad_request' });
    } finally {
      await accounts.close();
      standIn.close();
    }
  });
});
