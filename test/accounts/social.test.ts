import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { Visitor } from '../support/accounts/visitor.js';

const ORIGIN = 'http://localhost:3000';
/** The providers of OAuth 2 alone; test/accounts/oidc.test.ts has the others. */
type OAuthName = 'github' | 'discord' | 'twitter' | 'facebook' | 'gitlab' | 'linkedin';
/** Where each sends browsers, and whether it proves the code by PKCE. */
const PLACES: Record<OAuthName, { host: string; pkce: boolean }> = {
  github: { host: 'github.com', pkce: true },
  discord: { host: 'discord.com', pkce: false },
  twitter: { host: 'x.com', pkce: true },
  facebook: { host: 'www.facebook.com', pkce: false },
  gitlab: { host: 'gitlab.com', pkce: true },
  linkedin: { host: 'www.linkedin.com', pkce: false },
};

/** What was asked of the providers' servers, by address. */
const asked: { url: string; body: URLSearchParams; headers: Headers }[] = [];
let person = { id: '1', email: 'ann@example.com', verified: true };

/** The providers' servers, as their documents describe the answers. */
async function provider(name: OAuthName, url: string): Promise<Response> {
  const json = (value: unknown): Response => Response.json(value);
  if (name === 'facebook' && url.includes('/debug_token'))
    return json({ data: { is_valid: true, app_id: 'facebook-client', user_id: person.id } });
  if (/token$/i.test(new URL(url).pathname))
    return json({ access_token: `${name}-access`, token_type: 'bearer', expires_in: 600, scope: 'email' });
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
  if (name === 'facebook')
    return json({ id: person.id, name: 'Ann', email: person.email, picture: { data: { url: 'https://a.example/a' } } });
  if (name === 'gitlab')
    return json({
      id: Number(person.id),
      username: 'ann',
      name: 'Ann',
      email: person.email,
      state: 'active',
      locked: false,
      avatar_url: '',
    });
  if (name === 'linkedin') return json({ sub: person.id, name: 'Ann', email: person.email, email_verified: person.verified, picture: '' });
  return new Response('', { status: 404 });
}

describe('sign-in with a provider', () => {
  let accounts: Accounts;
  const realFetch = globalThis.fetch;
  let answering: OAuthName = 'github';
  before(async () => {
    const methods = Object.fromEntries(
      Object.keys(PLACES).map((name) => [name, { client_id: `${name}-client`, client_secret: `${name}-secret` }]),
    );
    accounts = await createAccounts(optionsFor(await DATABASE_SERVERS[0]!.open(), { config: { auth: { methods } } }));
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
  const roundTrip = async (name: OAuthName, visitor = new Visitor(accounts), callbackURL = '/home') => {
    answering = name;
    asked.length = 0;
    const there = await visitor.get(`/api/auth/sign-in/social?provider=${name}&callbackURL=${encodeURIComponent(callbackURL)}`);
    assert.equal(there.status, 302, there.text);
    const to = new URL(there.headers.get('location')!);
    const state = to.searchParams.get('state')!;
    const back = await visitor.get(`/api/auth/callback/${name}?${new URLSearchParams({ code: 'the-code', state })}`);
    return { visitor, to, end: back.headers.get('location') ?? `${back.status} ${back.text}` };
  };

  for (const [index, name] of (Object.keys(PLACES) as OAuthName[]).entries())
    it(`goes to ${name} and comes back signed in`, async () => {
      person = { id: String(100 + index), email: `${name}@example.com`, verified: true };
      const { visitor, to, end } = await roundTrip(name);
      const { host, pkce } = PLACES[name];
      assert.equal(to.host, host);
      assert.equal(to.searchParams.get('client_id'), `${name}-client`);
      assert.equal(to.searchParams.get('redirect_uri'), `${ORIGIN}/api/auth/callback/${name}`);
      const [token] = asked.filter(({ url }) => /token$/i.test(new URL(url).pathname));
      assert.equal(token!.body.get('code'), 'the-code');
      const proof = token!.body.get('code_verifier');
      if (pkce) assert.equal(to.searchParams.get('code_challenge'), createHash('sha256').update(proof!).digest('base64url'));
      const secret =
        token!.body.get('client_secret') ??
        Buffer.from((token!.headers.get('authorization') ?? '').split(' ')[1] ?? '', 'base64').toString();
      assert.ok(secret.includes(`${name}-secret`), secret);
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

  it('comes back to no place but ours (A13)', async () => {
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
