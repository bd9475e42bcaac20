import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { decodeJwt, exportJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Provider } from 'oidc-provider';

/** The providers that speak OpenID Connect. */
export type OidcName = 'google' | 'microsoft' | 'apple';

/** Microsoft names the tenant of a person in the issuer. */
const TENANT = '4f1f7a0e-1111-4222-8333-944444444444';
/** Where each has its parts. */
const PLACES: Record<OidcName, { hosts: readonly string[]; issuer: string; authorization: string; token: string; jwks: string }> = {
  google: {
    hosts: ['accounts.google.com', 'oauth2.googleapis.com', 'www.googleapis.com'],
    issuer: 'https://accounts.google.com',
    authorization: '/o/oauth2/v2/auth',
    token: '/token',
    jwks: '/oauth2/v3/certs',
  },
  microsoft: {
    hosts: ['login.microsoftonline.com'],
    issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
    authorization: '/common/oauth2/v2.0/authorize',
    token: '/common/oauth2/v2.0/token',
    jwks: '/common/discovery/v2.0/keys',
  },
  apple: {
    hosts: ['appleid.apple.com'],
    issuer: 'https://appleid.apple.com',
    authorization: '/auth/authorize',
    token: '/auth/token',
    jwks: '/auth/keys',
  },
};
/** The password of each client; Apple's stands for the token that its team signs. */
const SECRET = 'the secret of a client at its provider';

/** Who is signed in at the providers. */
export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly verified: boolean;
}
/** Makes another ID token of one, with the key that signed it. */
export type Forgery = (claims: JWTPayload, key: KeyObject, kid: string) => Promise<string>;

/** What a browser brings back to the site. */
export interface Answer {
  /** By which provider it says that it comes, from the address to come back to. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly fields: URLSearchParams;
}

/**
 * Google, Microsoft and Apple as oidc-provider plays them: real authorization requests, codes, PKCE, nonces and signed ID tokens over
 * sockets. `fetch` goes to them for their own addresses.
 */
export class OidcProviders {
  person: Person = { sub: '1', email: 'ann@example.com', verified: true };
  /** Writes ID tokens instead of the provider, while set. */
  forge: Forgery | undefined;
  /** Hosts and paths that were asked, in order. */
  readonly asked: string[] = [];
  /** Answers nothing at these paths, while they are here. */
  readonly silent = new Set<string>();
  readonly #servers = new Map<string, { name: OidcName; server: Server }>();
  readonly #handlers = new Map<OidcName, (request: IncomingMessage, response: ServerResponse) => void>();
  readonly #origin: string;
  readonly #team: KeyObject;
  #key!: { key: KeyObject; kid: string };
  #rotations = 0;

  private constructor(origin: string, team: KeyObject) {
    this.#origin = origin;
    this.#team = team;
  }

  /** The providers of a site; `teamKey` is the public key of the team at Apple. */
  static async start(origin: string, teamKey: KeyObject): Promise<OidcProviders> {
    const all = new OidcProviders(origin, teamKey);
    await all.rotate();
    for (const [name, { hosts }] of Object.entries(PLACES) as [OidcName, (typeof PLACES)[OidcName]][]) {
      const server = createServer((request, response) => void all.#answer(name, request, response));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      for (const host of hosts) all.#servers.set(host, { name, server });
    }
    return all;
  }

  close(): void {
    for (const { server } of this.#servers.values()) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** What the module file says of them. */
  static methods(teamPrivateKey: string): object {
    return {
      google: { client_id: 'google-client', client_secret: SECRET },
      microsoft: { client_id: 'microsoft-client', client_secret: SECRET },
      apple: { client_id: 'apple-client', team_id: 'TEAM', key_id: 'KEY', private_key: teamPrivateKey },
    };
  }

  /** All providers sign with a new key from now on, and know the old one no more. */
  async rotate(): Promise<void> {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#key = { key: privateKey, kid: `key-${++this.#rotations}` };
    const { Provider } = await import('oidc-provider');
    for (const name of Object.keys(PLACES) as OidcName[]) this.#handlers.set(name, await this.#provider(name, Provider));
  }

  /** Answers requests to the providers' addresses, and asks the network for others. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const found = this.#servers.get(url.host);
    if (!found) return realFetch(request);
    this.asked.push(`${url.host}${url.pathname}`);
    if (this.silent.has(url.pathname)) return new Promise(() => {});
    const headers = new Headers(request.headers);
    headers.set('x-forwarded-proto', 'https');
    headers.set('x-forwarded-host', url.host);
    const { port } = found.server.address() as AddressInfo;
    const body = await request.arrayBuffer();
    return realFetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, {
      method: request.method,
      headers,
      redirect: 'manual',
      ...(body.byteLength > 0 ? { body } : {}),
    });
  };

  /** Signs the person in at a provider, as a browser that follows `address`; resolves to what it brings back to the site. */
  async visit(address: string): Promise<Answer> {
    const jar = new Map<string, string>();
    let url = new URL(address);
    for (let step = 0; step < 6; step++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await this.fetch(url, { headers: { cookie, accept: 'text/html' } });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      const location = response.headers.get('location');
      if (location === null) return formAnswer(await response.text());
      url = new URL(location, url);
      if (url.origin === this.#origin) return { path: url.pathname, method: 'GET', fields: url.searchParams };
    }
    throw new Error(`${address} leads nowhere`);
  }

  async #answer(name: OidcName, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (name === 'apple' && request.method === 'GET' && request.url!.startsWith(`${PLACES.apple.authorization}?`)) {
      const url = new URL(request.url!, PLACES.apple.issuer);
      // Apple asks for no scope of OpenID.
      url.searchParams.set('scope', `openid ${url.searchParams.get('scope')}`);
      request.url = url.pathname + url.search;
    }
    if (name === 'apple' && request.method === 'POST') return this.#appleToken(request, response);
    this.#handlers.get(name)!(request, response);
  }

  /** Apple's way to prove a client: where others have a password stands a token that the team has signed. */
  async #appleToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const form = new URLSearchParams(Buffer.concat(pieces).toString());
    try {
      const { payload, protectedHeader } = await jwtVerify(form.get('client_secret') ?? '', this.#team, {
        algorithms: ['ES256'],
        issuer: 'TEAM',
        subject: 'apple-client',
        audience: PLACES.apple.issuer,
        requiredClaims: ['iat', 'exp'],
      });
      if (protectedHeader.kid !== 'KEY' || payload.exp! - payload.iat! > 15_777_000) throw new Error('no secret of this team');
      form.set('client_secret', SECRET);
    } catch {
      form.set('client_secret', 'wrong');
    }
    const body = Buffer.from(form.toString());
    const again = Object.assign(Readable.from([body]), {
      method: 'POST',
      url: request.url,
      headers: { ...request.headers, 'content-length': String(body.byteLength) },
      socket: request.socket,
    });
    this.#handlers.get('apple')!(again as unknown as IncomingMessage, response);
  }

  async #provider(name: OidcName, Kind: typeof Provider): Promise<(request: IncomingMessage, response: ServerResponse) => void> {
    const { issuer, authorization, token, jwks } = PLACES[name];
    const jwk = { ...(await exportJWK(this.#key.key)), kid: this.#key.kid, use: 'sig', alg: 'RS256' };
    const isHybrid = name === 'apple';
    const provider = new Kind(issuer, {
      clients: [
        {
          client_id: `${name}-client`,
          client_secret: SECRET,
          redirect_uris: [`${this.#origin}/api/auth/callback/${name}`],
          response_types: [isHybrid ? 'code id_token' : 'code'],
          grant_types: isHybrid ? ['authorization_code', 'implicit'] : ['authorization_code'],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [jwk] },
      routes: { authorization, token, jwks },
      responseTypes: ['code', 'code id_token'],
      scopes: ['openid', 'email', 'profile', 'name', 'User.Read'],
      claims: { openid: ['sub', 'oid', 'tid'], email: ['email', 'email_verified'], profile: ['name'] },
      // The real ones put what they know into the token of a code, too.
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      cookies: { keys: ['a key of a test'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => this.#claims() }),
      loadExistingGrant: async ({
        oidc,
      }: {
        oidc: { client: { clientId: string }; session: { accountId: string }; provider: Provider };
      }) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email profile name User.Read');
        await grant.save();
        return grant;
      },
    });
    provider.proxy = true;
    provider.use(async (context, next) => {
      await next();
      if (this.forge && context.path === token && context.body?.id_token)
        context.body.id_token = await this.forge(decodeJwt(context.body.id_token), this.#key.key, this.#key.kid);
    });
    const callback = provider.callback();
    return (request, response) => {
      if (!request.url!.startsWith('/interaction/')) return callback(request, response);
      void provider.interactionFinished(request, response, { login: { accountId: this.person.sub } });
    };
  }

  #claims(): object {
    const { sub, email, verified } = this.person;
    return { sub, oid: sub, tid: TENANT, email, email_verified: verified, name: 'Ann' };
  }
}

const realFetch = globalThis.fetch;

/** What a page posts by itself. */
function formAnswer(html: string): Answer {
  const action = /action="([^"]+)"/.exec(html)?.[1];
  if (!action) throw new Error(`the provider shows a page: ${html.slice(0, 2000)}`);
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of html.matchAll(/name="([^"]+)" value="([^"]*)"/g)) fields.set(name, value);
  return { path: new URL(action).pathname, method: 'POST', fields };
}

/** An ID token as another key, or with other claims, signs it. */
export function signed(claims: JWTPayload, key: KeyObject | Uint8Array, header: { alg: string; kid: string }): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header).sign(key);
}

/** A public key as the bytes that its PEM has, which a careless reader takes for the secret of HS256. */
export function publicBytes(key: KeyObject): Uint8Array {
  return Buffer.from(createPublicKey(key).export({ type: 'spki', format: 'pem' }));
}
