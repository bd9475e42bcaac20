import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { SOCIAL_PROVIDERS, type SocialName } from '../../accounts/config/settings.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { Visitor } from '../support/accounts/visitor.js';

const ORIGIN = 'http://localhost:3000';
const ISSUERS: Partial<Record<SocialName, string>> = {
  google: 'https://accounts.google.com',
  apple: 'https://appleid.apple.com',
  microsoft: 'https://login.microsoftonline.com/common/v2.0',
};
/** Where each provider sends browsers, and whether it proves the code by PKCE. */
const PLACES: Record<SocialName, { host: string; pkce: boolean }> = {
  google: { host: 'accounts.google.com', pkce: true },
  github: { host: 'github.com', pkce: true },
  discord: { host: 'discord.com', pkce: false },
  apple: { host: 'appleid.apple.com', pkce: true },
  microsoft: { host: 'login.microsoftonline.com', pkce: true },
  twitter: { host: 'x.com', pkce: true },
};

/** What was asked of the providers' servers, by address. */
const asked: { url: string; body: URLSearchParams; headers: Headers }[] = [];
let person = { id: '1', email: 'ann@example.com', verified: true };

/** A token as providers sign it; ours is read over the connection to the provider itself, so its signature is not looked at. */
const idToken = (claims: object): string =>
  `${[{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;

/** The providers' servers, as their documents describe the answers. */
async function provider(name: SocialName, url: string): Promise<Response> {
  const json = (value: unknown): Response => Response.json(value);
  if (/token$/.test(new URL(url).pathname)) {
    const issuer = ISSUERS[name];
    const claims = {
      iss: issuer,
      aud: `${name}-client`,
      sub: person.id,
      oid: person.id,
      email: person.email,
      email_verified: person.verified,
      name: 'Ann',
      iat: Math.floor(Date.now() / 1000),
      exp: Math.floor(Date.now() / 1000) + 600,
    };
    return json({
      access_token: `${name}-access`,
      token_type: 'bearer',
      expires_in: 600,
      scope: 'email',
      ...(issuer ? { id_token: idToken(claims) } : {}),
    });
  }
  if (name === 'github' && url.endsWith('/emails'))
    return json([{ email: person.email, primary: true, verified: person.verified, visibility: null }]);
  if (name === 'github') return json({ id: Number(person.id), login: 'ann', name: 'Ann', email: null, avatar_url: '' });
  if (name === 'discord')
    return json({
      id: person.id,
      username: 'ann',
      global_name: 'Ann',
      email: person.email,
      verified: person.verified,
      avatar: null,
      discriminator: '0',
    });
  if (name === 'twitter') return json({ data: { id: person.id, username: 'ann', name: 'Ann', confirmed_email: person.email } });
  return new Response('', { status: 404 });
}

describe('sign-in with a provider', () => {
  let accounts: Accounts;
  const realFetch = globalThis.fetch;
  let answering: SocialName = 'google';
  before(async () => {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const methods = Object.fromEntries(
      SOCIAL_PROVIDERS.map((name) => [name, { client_id: `${name}-client`, client_secret: `${name}-secret` }]),
    );
    accounts = await createAccounts(
      optionsFor(await DATABASE_SERVERS[0]!.open(), {
        config: {
          auth: {
            methods: {
              email_password: true,
              ...methods,
              apple: { client_id: 'apple-client', team_id: 'TEAM', key_id: 'KEY', private_key: privateKey },
            },
          },
        },
      }),
    );
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      asked.push({ url: request.url, body: new URLSearchParams(await request.clone().text()), headers: request.headers });
      return provider(answering, request.url);
    };
  });
  after(async () => {
    globalThis.fetch = realFetch;
    await accounts?.close();
  });

  /** Goes to a provider and comes back; resolves to where the browser ends. */
  const roundTrip = async (name: SocialName, visitor = new Visitor(accounts), callbackURL = '/home') => {
    answering = name;
    asked.length = 0;
    const there = await visitor.get(`/api/auth/sign-in/social?provider=${name}&callbackURL=${encodeURIComponent(callbackURL)}`);
    assert.equal(there.status, 302, there.text);
    const to = new URL(there.headers.get('location')!);
    const state = to.searchParams.get('state')!;
    const form = new URLSearchParams({ code: 'the-code', state }).toString();
    const isForm = to.searchParams.get('response_mode') === 'form_post';
    let back = isForm
      ? await visitor.ask('POST', `/api/auth/callback/${name}`, form, {
          'content-type': 'application/x-www-form-urlencoded',
          cookie: '',
          origin: 'https://appleid.apple.com',
        })
      : await visitor.get(`/api/auth/callback/${name}?${form}`);
    const next = back.headers.get('location') ?? '';
    if (next.includes('/api/auth/callback/')) back = await visitor.get(new URL(next, ORIGIN).pathname + new URL(next, ORIGIN).search);
    return { visitor, to, end: back.headers.get('location') ?? `${back.status} ${back.text}` };
  };

  for (const [index, name] of SOCIAL_PROVIDERS.entries())
    it(`goes to ${name} and comes back signed in`, async () => {
      person = { id: String(100 + index), email: `${name}@example.com`, verified: true };
      const { visitor, to, end } = await roundTrip(name);
      const { host, pkce } = PLACES[name];
      assert.equal(to.host, host);
      assert.equal(to.searchParams.get('client_id'), `${name}-client`);
      assert.equal(to.searchParams.get('redirect_uri'), `${ORIGIN}/api/auth/callback/${name}`);
      const [token] = asked.filter(({ url }) => /token$/.test(new URL(url).pathname));
      assert.equal(token!.body.get('code'), 'the-code');
      const proof = token!.body.get('code_verifier');
      if (pkce) assert.equal(to.searchParams.get('code_challenge'), createHash('sha256').update(proof!).digest('base64url'));
      const secret =
        token!.body.get('client_secret') ??
        Buffer.from((token!.headers.get('authorization') ?? '').split(' ')[1] ?? '', 'base64').toString();
      if (name === 'apple') {
        const [head, claims] = secret.split('.').map((part, at) => (at < 2 ? JSON.parse(Buffer.from(part, 'base64url').toString()) : part));
        assert.deepEqual(
          [head.alg, head.kid, claims.iss, claims.sub, claims.aud],
          ['ES256', 'KEY', 'TEAM', 'apple-client', 'https://appleid.apple.com'],
        );
      } else assert.ok(secret.includes(`${name}-secret`), secret);
      assert.equal(end, '/home');
      const { user } = (await visitor.get('/api/auth/get-session')).body;
      assert.equal(user.email, `${name}@example.com`);
      const again = await roundTrip(name);
      assert.equal((await again.visitor.get('/api/auth/get-session')).body.user.id, user.id);
    });

  it('takes over no account by an address that was not proved', async () => {
    const owner = new Visitor(accounts);
    await owner.signUp('owner@example.com');
    person = { id: '666', email: 'owner@example.com', verified: false };
    const { visitor, end } = await roundTrip('github');
    assert.match(end, /error=/);
    assert.equal((await visitor.get('/api/auth/get-session')).body, null);
    assert.equal((await owner.signIn('owner@example.com')).status, 200);
  });

  it('comes back to no place but ours', async () => {
    for (const place of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/%5Cevil.example',
      `${ORIGIN}.evil.example/`,
      `${ORIGIN}@evil.example/`,
    ]) {
      const link = await new Visitor(accounts).get(`/api/auth/sign-in/social?provider=github&callbackURL=${encodeURIComponent(place)}`);
      assert.equal(link.status, 403, place);
      const posted = await new Visitor(accounts).post('/api/auth/sign-in/social', { provider: 'github', callbackURL: place });
      assert.equal(posted.status, 403, place);
    }
  });

  it('refuses an answer that the browser did not ask for', async () => {
    const { to } = await roundTrip('github');
    const stranger = new Visitor(accounts);
    const state = to.searchParams.get('state')!;
    for (const query of [`code=x&state=${state}`, 'code=x&state=made-up', 'code=x', 'error=access_denied']) {
      const { headers } = await stranger.get(`/api/auth/callback/github?${query}`);
      assert.match(headers.get('location') ?? '', /error=/, query);
      assert.equal((await stranger.get('/api/auth/get-session')).body, null);
    }
  });
});
