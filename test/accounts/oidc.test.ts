import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import type { JWTPayload } from 'jose';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { openDatabase } from '../../accounts/database/database.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { type Answer, type Forgery, type OidcName, OidcProviders, publicBytes, signed } from '../support/accounts/oidc-providers.js';
import { type Reply, Visitor } from '../support/accounts/visitor.js';

const ORIGIN = 'https://app.example';
const NAMES: readonly OidcName[] = ['google', 'microsoft', 'apple'];
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const team = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** ID tokens that prove nothing, by what is wrong with them. */
const FORGERIES: Record<string, Forgery> = {
  'of another issuer': (claims, key, kid) => signed({ ...claims, iss: 'https://evil.example' }, key, { alg: 'RS256', kid }),
  'for another client': (claims, key, kid) => signed({ ...claims, aud: 'another-client' }, key, { alg: 'RS256', kid }),
  'that has expired': (claims, key, kid) => {
    const now = Math.floor(Date.now() / 1000);
    return signed({ ...claims, iat: now - 1200, exp: now - 600 }, key, { alg: 'RS256', kid });
  },
  'that is two hours old': (claims, key, kid) =>
    signed({ ...claims, iat: Math.floor(Date.now() / 1000) - 7200 }, key, { alg: 'RS256', kid }),
  'for another question': (claims, key, kid) => signed({ ...claims, nonce: 'of another sign-in' }, key, { alg: 'RS256', kid }),
  'without a nonce': ({ nonce: _, ...claims }, key, kid) => signed(claims, key, { alg: 'RS256', kid }),
  'signed by another key': (claims, _, kid) => signed(claims, other, { alg: 'RS256', kid }),
  'signed by a key that nobody published': (claims) => signed(claims, other, { alg: 'RS256', kid: 'unknown' }),
  'signed with the public key as a secret': (claims, key, kid) => signed(claims, publicBytes(key), { alg: 'HS256', kid }),
  'that is not signed': async (claims) =>
    `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
  'that is no token': async () => 'no token',
};

describe('sign-in with OpenID Connect', () => {
  let accounts: Accounts;
  let providers: OidcProviders;
  const printed: string[] = [];
  const realFetch = globalThis.fetch;
  before(async () => {
    providers = await OidcProviders.start(ORIGIN, team.publicKey);
    const database = await DATABASE_SERVERS[0]!.open();
    const methods = OidcProviders.methods(team.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    accounts = await createAccounts({
      ...optionsFor(database, { config: { auth: { methods } }, environment: { AUTH_URL: ORIGIN } }),
      print: (line) => printed.push(line),
    });
    globalThis.fetch = providers.fetch;
  });
  after(async () => {
    globalThis.fetch = realFetch;
    providers?.close();
    await accounts?.close();
  });

  const browser = (): Visitor => {
    const visitor = new Visitor(accounts);
    visitor.headers = { origin: ORIGIN };
    return visitor;
  };
  /** Sends a browser to a provider; resolves to the provider's address. */
  const sent = async (visitor: Visitor, name: OidcName): Promise<URL> => {
    const { status, headers, text } = await visitor.get(`/api/auth/sign-in/social?provider=${name}&callbackURL=/home`);
    assert.equal(status, 302, text);
    return new URL(headers.get('location')!);
  };
  /** Brings a provider's answer to the site, as a browser does; resolves to where it ends. */
  const brought = async (visitor: Visitor, { path, method, fields }: Answer): Promise<string> => {
    // A page of another site posts without our cookies, which are for our own.
    let reply: Reply =
      method === 'POST'
        ? await visitor.ask('POST', path, fields.toString(), {
            'content-type': 'application/x-www-form-urlencoded',
            cookie: '',
            origin: 'https://appleid.apple.com',
          })
        : await visitor.get(`${path}?${fields}`);
    const next = new URL(reply.headers.get('location') ?? '/', ORIGIN);
    if (next.pathname.startsWith('/api/auth/callback/')) reply = await visitor.get(next.pathname + next.search);
    return reply.headers.get('location') ?? `${reply.status} ${reply.text}`;
  };
  const signIn = async (name: OidcName, visitor = browser()): Promise<{ visitor: Visitor; end: string }> => {
    const answer = await providers.visit((await sent(visitor, name)).href);
    return { visitor, end: await brought(visitor, answer) };
  };
  const userOf = async (visitor: Visitor) => (await visitor.get('/api/auth/get-session')).body?.user;
  const refused = async ({ visitor, end }: { visitor: Visitor; end: string }, code: RegExp, what: string): Promise<void> => {
    assert.match(end, code, what);
    assert.equal(await userOf(visitor), undefined, what);
  };

  for (const name of NAMES)
    it(`makes a user of a person of ${name}, and knows the person again`, async () => {
      providers.person = { sub: `${name}-1`, email: `${name}@example.com`, verified: true };
      const to = await sent(browser(), name);
      assert.equal(to.searchParams.get('code_challenge_method'), 'S256');
      assert.ok((to.searchParams.get('nonce') ?? '').length >= 20);
      const { visitor, end } = await signIn(name);
      assert.equal(end, '/home', printed.at(-1));
      const user = await userOf(visitor);
      assert.deepEqual([user.email, user.emailVerified], [`${name}@example.com`, true]);
      providers.person = { sub: `${name}-1`, email: `${name}-renamed@example.com`, verified: true };
      assert.equal((await userOf((await signIn(name)).visitor)).id, user.id);
    });

  for (const name of NAMES)
    it(`takes no ID token of ${name} that does not prove the person`, async () => {
      providers.person = { sub: `${name}-2`, email: `forged-${name}@example.com`, verified: true };
      try {
        for (const [what, forge] of Object.entries(FORGERIES)) {
          providers.forge = forge;
          await refused(await signIn(name), /error=unable_to_get_user_info/, `an ID token ${what}`);
        }
      } finally {
        providers.forge = undefined;
      }
      assert.equal((await signIn(name)).end, '/home');
    });

  it('takes a new key of the provider at once, and the old one no more', async () => {
    providers.person = { sub: 'rotated', email: 'rotated@example.com', verified: true };
    let old: Forgery | undefined;
    providers.forge = async (claims, key, kid) => {
      old = (now) => signed(now, key, { alg: 'RS256', kid });
      return signed(claims, key, { alg: 'RS256', kid });
    };
    await signIn('google');
    await providers.rotate();
    providers.forge = undefined;
    assert.equal((await signIn('google')).end, '/home');
    providers.forge = old;
    await refused(await signIn('google'), /error=/, 'the old key');
    providers.forge = undefined;
  });

  it('takes a code once, from the browser that asked, with its own proof', async () => {
    providers.person = { sub: 'codes', email: 'codes@example.com', verified: true };
    const [owner, thief] = [browser(), browser()];
    const answer = await providers.visit((await sent(owner, 'google')).href);
    await refused({ visitor: thief, end: await brought(thief, answer) }, /error=state_mismatch/, 'the answer in another browser');
    // The thief brings the code to a sign-in of its own: PKCE shows that the code belongs to another.
    const own = await sent(thief, 'google');
    const injected = new URLSearchParams(answer.fields);
    injected.set('state', own.searchParams.get('state')!);
    await refused({ visitor: thief, end: await brought(thief, { ...answer, fields: injected }) }, /error=invalid_code/, 'an injected code');
    const fresh = await providers.visit((await sent(owner, 'google')).href);
    assert.equal(await brought(owner, fresh), '/home');
    await owner.post('/api/auth/sign-out');
    await refused({ visitor: owner, end: await brought(owner, fresh) }, /error=state_mismatch/, 'the same answer again');
    const again = await sent(owner, 'google');
    const replayed = new URLSearchParams(fresh.fields);
    replayed.set('state', again.searchParams.get('state')!);
    await refused({ visitor: owner, end: await brought(owner, { ...fresh, fields: replayed }) }, /error=invalid_code/, 'a used code');
  });

  it('takes no answer of one provider for that of another, and asks the other nothing', async () => {
    providers.person = { sub: 'mixed', email: 'mixed@example.com', verified: true };
    for (const [asked, answering] of [
      ['google', 'microsoft'],
      ['microsoft', 'google'],
      ['google', 'apple'],
      ['apple', 'google'],
    ] as const) {
      const visitor = browser();
      const answer = await providers.visit((await sent(visitor, asked)).href);
      answer.fields.delete('iss');
      providers.asked.length = 0;
      const end = await brought(visitor, { ...answer, path: `/api/auth/callback/${answering}` });
      await refused({ visitor, end }, /error=invalid_code/, `${asked} at ${answering}`);
      assert.deepEqual(providers.asked, []);
    }
    const visitor = browser();
    const answer = await providers.visit((await sent(visitor, 'google')).href);
    assert.equal(answer.fields.get('iss'), 'https://accounts.google.com');
    answer.fields.set('iss', 'https://evil.example');
    await refused({ visitor, end: await brought(visitor, answer) }, /error=issuer_mismatch/, 'another issuer in the answer');
  });

  it('links a person whose address both sides have proved, and never one whose address either has not', async () => {
    const { tables, close } = await openDatabase(accounts.settings.database);
    const owner = browser();
    await owner.signUp('linked@example.com');
    const proved = (isProved: boolean): Promise<unknown> =>
      tables.updateTable('user').set({ emailVerified: isProved }).where('email', '=', 'linked@example.com').execute();
    try {
      for (const name of NAMES) {
        await proved(true);
        providers.person = { sub: `${name}-linked`, email: 'linked@example.com', verified: false };
        await refused(await signIn(name), /error=account_not_linked/, `unproved at ${name}`);
        await proved(false);
        providers.person = { sub: `${name}-linked`, email: 'linked@example.com', verified: true };
        await refused(await signIn(name), /error=account_not_linked/, `unproved here, ${name}`);
        await proved(true);
        const { visitor, end } = await signIn(name);
        assert.equal(end, '/home');
        await owner.signIn('linked@example.com');
        assert.equal((await userOf(visitor)).id, (await userOf(owner)).id);
      }
    } finally {
      await close();
    }
  });

  it('takes an ID token that a program hands over only where the provider has signed it', async () => {
    providers.person = { sub: 'program', email: 'program@example.com', verified: true };
    let given: { claims: JWTPayload; key: KeyObject; kid: string } | undefined;
    providers.forge = async (claims, key, kid) => {
      given = { claims, key, kid };
      return signed(claims, key, { alg: 'RS256', kid });
    };
    await signIn('google');
    providers.forge = undefined;
    const { claims, key, kid } = given!;
    const handOver = (token: string): Promise<Reply> =>
      browser().post('/api/auth/sign-in/social', { provider: 'google', idToken: { token } });
    assert.equal((await handOver(await signed(claims, key, { alg: 'RS256', kid }))).body.user.email, 'program@example.com');
    for (const [what, forge] of Object.entries(FORGERIES))
      if (!what.includes('nonce') && !what.includes('question'))
        assert.equal((await handOver(await forge(claims, key, kid))).status, 401, what);
  });

  it('proves itself to Apple anew, however long the server runs', async () => {
    providers.person = { sub: 'later', email: 'later@example.com', verified: true };
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 48 * 3600 * 1000 });
    try {
      assert.equal((await signIn('apple')).end, '/home');
    } finally {
      mock.timers.reset();
    }
  });

  it('waits for no provider for ever', async () => {
    providers.person = { sub: 'silent', email: 'silent@example.com', verified: true };
    for (const path of ['/token', '/oauth2/v3/certs']) {
      const visitor = browser();
      const answer = await providers.visit((await sent(visitor, 'google')).href);
      providers.silent.add(path);
      providers.asked.length = 0;
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        const end = brought(visitor, answer);
        // Keys are read and tokens signed beside the event loop, however long that takes; timers do not run here.
        const isAsked = (): boolean => providers.asked.some((place) => place.endsWith(path));
        for (const endMs = performance.now() + 120_000; !isAsked() && performance.now() < endMs; ) await new Promise(setImmediate);
        mock.timers.tick(15_001);
        await refused({ visitor, end: await end }, /error=/, path);
      } finally {
        mock.timers.reset();
        providers.silent.clear();
      }
    }
  });

  it('says in its own words that a sign-in has failed', async () => {
    const visitor = browser();
    const end = await brought(visitor, {
      path: '/api/auth/callback/google',
      method: 'GET',
      fields: new URLSearchParams({ code: 'x', state: '<script>' }),
    });
    const page = await visitor.get(new URL(end, ORIGIN).pathname + new URL(end, ORIGIN).search);
    assert.equal(page.status, 400);
    assert.match(page.text, /begun in another browser/);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.ok(!page.text.includes('better-auth'));
    const odd = await visitor.get(`/api/auth/error?error=${encodeURIComponent('<b>odd</b>')}`);
    assert.ok(!odd.text.includes('<b>') && odd.status === 400);
  });
});
