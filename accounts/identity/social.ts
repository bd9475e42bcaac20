import { sign } from 'node:crypto';
import type { BetterAuthOptions } from 'better-auth';
import { addOAuthServerContext, createAuthMiddleware, getOAuthState } from 'better-auth/api';
import { type OAuthProvider, verifyProviderIdToken } from 'better-auth/oauth2';
import type { BetterAuthPlugin } from 'better-auth/types';
import type { Settings, SocialSettings } from '../config/settings.js';

/** The answer, or an `Error` that names who did not give it within `ms` milliseconds. What was asked goes on unheard. */
export async function withinTime<T>(answer: Promise<T>, ms: number, who: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${who} did not answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Seconds that a client secret for Apple is valid; Apple takes at most half a year. */
const APPLE_SECRET_S = 3600;
/** How long a provider may take for one answer: a browser waits meanwhile. */
const ANSWER_MS = 15_000;
/** The paths at which a browser is sent to a provider. */
const BEGINNINGS = new Set(['/sign-in/social', '/link-social']);
/** The providers that tell who the person is by an ID token; of the others it is asked with the access token. */
const BY_ID_TOKEN: ReadonlySet<string> = new Set(['google', 'microsoft', 'apple']);

/** What better-auth is told of the providers that are on. */
export function socialProviders({ social }: Settings): NonNullable<BetterAuthOptions['socialProviders']> {
  return Object.fromEntries(social.map((provider) => [provider.name, optionsOf(provider)]));
}

/**
 * Binds what a provider answers to the browser's own question. An answer that comes to another provider than the one that was asked is
 * refused, as is an ID token that is not signed by the provider, for this client, for this question (its nonce) and still valid; better-auth
 * reads ID tokens of a code unseen.
 */
export function boundProviders(): BetterAuthPlugin {
  return {
    id: 'bound-providers',
    init: ({ socialProviders: providers, logger }) => ({
      context: { socialProviders: providers.map((provider) => boundToNonce(provider, (problem) => logger.error(problem))) },
    }),
    hooks: {
      before: [
        {
          matcher: ({ path }) => BEGINNINGS.has(path ?? ''),
          handler: createAuthMiddleware(async ({ body }) => addOAuthServerContext({ provider: (body as { provider?: unknown }).provider })),
        },
      ],
    },
  };
}

function boundToNonce(provider: OAuthProvider, report: (problem: string) => void): OAuthProvider {
  const soon = <T>(answer: Promise<T>): Promise<T> => withinTime(answer, ANSWER_MS, provider.name);
  const rules = BY_ID_TOKEN.has(provider.id) ? provider.idToken : undefined;
  return {
    ...provider,
    ...(rules ? { requiresIdTokenNonce: true, ...issuerOf(rules) } : {}),
    async createAuthorizationURL(question) {
      const url = await provider.createAuthorizationURL(question);
      if (question.idTokenNonce) url.searchParams.set('nonce', question.idTokenNonce);
      return url;
    },
    async validateAuthorizationCode(answer) {
      const asked = (await getOAuthState())?.serverContext?.provider;
      if (asked !== provider.id) throw new Error(`${provider.name} was not asked in this sign-in`);
      return soon(provider.validateAuthorizationCode(answer));
    },
    async getUserInfo({ expectedIdTokenNonce, ...tokens }) {
      try {
        const isProved = !rules || (await soon(verifyProviderIdToken(provider, tokens.idToken ?? '', expectedIdTokenNonce)));
        return isProved ? await soon(provider.getUserInfo(tokens)) : null;
      } catch (error) {
        // What is thrown here would be an answer of 500 to the person, who can only try again.
        report(`${provider.name}: ${(error as Error).message}`);
        return null;
      }
    },
  };
}

/** The one issuer that may name itself beside a code (RFC 9207); Microsoft has one for each tenant, and none that is known before. */
function issuerOf(rules: NonNullable<OAuthProvider['idToken']>): { issuer?: string } {
  const [issuer] = 'issuer' in rules ? [rules.issuer].flat() : [];
  return issuer === undefined ? {} : { issuer };
}

function optionsOf(provider: SocialSettings): unknown {
  const { name, client_id: clientId, client_secret: clientSecret, scope, redirect_uri: redirectURI, tenant } = provider;
  const common = { clientId, ...(scope ? { scope } : {}), ...(redirectURI ? { redirectURI } : {}) };
  if (name === 'apple' && !clientSecret)
    return {
      ...common,
      // Made anew at each use, for a server runs longer than a secret is valid.
      get clientSecret() {
        return appleSecret(provider);
      },
    };
  return { ...common, clientSecret, ...(name === 'microsoft' ? { tenantId: tenant ?? 'common', disableProfilePhoto: true } : {}) };
}

/** Apple wants a token signed by the team's key where others want a password. */
function appleSecret({ client_id, team_id = '', key_id = '', private_key = '' }: SocialSettings): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: team_id, sub: client_id, aud: 'https://appleid.apple.com', iat: now, exp: now + APPLE_SECRET_S };
  const unsigned = [{ alg: 'ES256', kid: key_id }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(unsigned), { key: private_key, dsaEncoding: 'ieee-p1363' });
  return `${unsigned}.${signature.toString('base64url')}`;
}
