import type { BetterAuthOptions } from 'better-auth';
import { importPKCS8, SignJWT } from 'jose';
import type { Settings, SocialSettings } from '../config/settings.js';

/** Seconds that a client secret for Apple is valid; Apple takes at most half a year. */
const APPLE_SECRET_S = 3600 * 24;

/** What better-auth is told of the providers that are on. */
export function socialProviders({ social }: Settings): NonNullable<BetterAuthOptions['socialProviders']> {
  return Object.fromEntries(social.map((provider) => [provider.name, optionsOf(provider)]));
}

function optionsOf(provider: SocialSettings): unknown {
  const { name, client_id: clientId, client_secret: clientSecret, scope, redirect_uri: redirectURI, tenant } = provider;
  const common = { clientId, ...(scope ? { scope } : {}), ...(redirectURI ? { redirectURI } : {}) };
  if (name === 'apple' && !clientSecret) return async () => ({ ...common, clientSecret: await appleSecret(provider) });
  return { ...common, clientSecret, ...(name === 'microsoft' ? { tenantId: tenant ?? 'common', disableProfilePhoto: true } : {}) };
}

/** Apple wants a token signed by the team's key where others want a password. */
async function appleSecret({ client_id, team_id = '', key_id = '', private_key = '' }: SocialSettings): Promise<string> {
  const key = await importPKCS8(private_key, 'ES256');
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: key_id })
    .setIssuer(team_id)
    .setSubject(client_id)
    .setAudience('https://appleid.apple.com')
    .setIssuedAt()
    .setExpirationTime(`${APPLE_SECRET_S}s`)
    .sign(key);
}
