import { AsyncLocalStorage } from 'node:async_hooks';
import { kyselyAdapter } from '@better-auth/kysely-adapter';
import { betterAuth } from 'better-auth';
import { createAccessControl } from 'better-auth/plugins/access';
import { admin } from 'better-auth/plugins/admin';
import { adminAc, defaultStatements, userAc } from 'better-auth/plugins/admin/access';
import { emailOTP } from 'better-auth/plugins/email-otp';
import { magicLink } from 'better-auth/plugins/magic-link';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth/types';
import type { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import type { SendMail } from '../mail.js';
import { NEW_PASSWORD_PATH } from './pages.js';
import { hashOf, PASSWORD_COST, PASSWORD_LENGTH, verifyPassword } from './passwords.js';
import { withSealedTokens } from './sealed-tokens.js';
import { boundProviders, socialProviders } from './social.js';

/** Where the library's endpoints are. */
export const AUTH_PATH = '/api/auth';
/** The header in which it is told from where a request comes; requests of clients lose theirs. */
export const ADDRESS_HEADER = 'x-accounts-address';

/** What better-auth is used for: the endpoints of sign-up, sign-in, sessions, mail proofs, providers and the admin's list. */
export interface IdentityLibrary {
  /**
   * Answers a request to a path below `AUTH_PATH`. `prepared` is the hash of a new password, which is made before: the library would make it
   * in the middle of a transaction, while all others wait.
   */
  handle(request: Request, prepared?: Prepared): Promise<Response>;
  /** The hash of a new password. */
  prepare(password: string): Promise<Prepared>;
  /** Makes a user with a password, proved; rejects where the address has one. Resolves to the user's id. */
  createUser(user: { email: string; password: string; name: string; role: string }): Promise<string>;
  /** Whose password the token of a mail sets; undefined for one that does not hold. */
  userOfReset(token: string): Promise<string | undefined>;
  /** The name of the cookie that carries the session. */
  readonly cookie: string;
}

/** Sign-in by a link or by digits in a mail, where the module file has them. */
function mailedSignIns({ app, magicLinkS, emailCode }: Settings, send: SendMail): BetterAuthPlugin[] {
  const ignore = 'If it was not you, do nothing.';
  return [
    ...(magicLinkS === undefined
      ? []
      : [
          magicLink({
            expiresIn: magicLinkS,
            storeToken: 'hashed',
            sendMagicLink: ({ email, url }) =>
              send({
                to: email,
                subject: `Sign in to ${app.name}`,
                text: `Open this link within ${Math.ceil(magicLinkS / 60)} minutes to sign in to ${app.name}:\n\n${url}\n\n${ignore}`,
              }),
          }),
        ]),
    ...(emailCode === undefined
      ? []
      : [
          emailOTP({
            otpLength: emailCode.length,
            expiresIn: emailCode.expiresS,
            storeOTP: 'hashed',
            sendVerificationOTP: ({ email, otp }) =>
              send({
                to: email,
                subject: `${otp} is your code for ${app.name}`,
                text: `Enter these digits within ${Math.ceil(emailCode.expiresS / 60)} minutes to sign in to ${app.name}:\n\n${otp}\n\n${ignore}`,
              }),
          }),
        ]),
  ];
}

/** The link of a mail, which leads to our page where no other was asked for. */
function withPage(link: string): string {
  const url = new URL(link);
  if (!url.searchParams.get('callbackURL')) url.searchParams.set('callbackURL', `${AUTH_PATH}${NEW_PASSWORD_PATH}`);
  return url.href;
}

/** A password with its hash. */
export interface Prepared {
  readonly password: string;
  readonly hash: string;
}

/** Sets better-auth up: passwords at OWASP's cost, tokens sealed in the database, limits and origins left to the caller. */
export async function identityLibrary(
  settings: Settings,
  database: Database,
  send: SendMail,
  print: (line: string) => void,
  cost = PASSWORD_COST,
): Promise<IdentityLibrary> {
  const { app, admin: adminSettings } = settings;
  const adapter = (options: never): DBAdapter =>
    withSealedTokens(
      kyselyAdapter(database.tables as never, { type: database.language, transaction: database.transactional })(
        options,
      ) as unknown as DBAdapter,
    );
  const prepared = new AsyncLocalStorage<Prepared | undefined>();
  const access = createAccessControl(defaultStatements);
  /** An answer that waited for its mail would tell by its time, and by its failure, that the address has an account. */
  const sendAside: SendMail = async (mail) =>
    void send(mail).catch((error: Error) => print(`accounts: a mail did not leave: ${error.message}`));
  const auth = betterAuth({
    appName: app.name,
    baseURL: settings.origin,
    basePath: AUTH_PATH,
    secrets: settings.secrets.map((value, index) => ({ version: settings.secrets.length - index, value })),
    database: adapter as never,
    trustedOrigins: [...settings.trustedOrigins],
    telemetry: { enabled: false },
    // What it would log names addresses and statements.
    logger: { level: 'error', log: (level, message) => print(`accounts: ${level}: ${message}`) },
    // What is no answer of the library rises to us.
    onAPIError: { throw: true, errorURL: new URL(`${AUTH_PATH}/error`, settings.origin).href },
    rateLimit: { enabled: false },
    session: { expiresIn: settings.session.maxAgeS, updateAge: settings.session.updateAgeS },
    verification: { storeIdentifier: 'hashed' },
    account: { encryptOAuthTokens: true, accountLinking: { enabled: true, trustedProviders: [] } },
    emailAndPassword: {
      enabled: settings.emailPassword,
      minPasswordLength: PASSWORD_LENGTH.least,
      maxPasswordLength: PASSWORD_LENGTH.most,
      autoSignIn: settings.revealExistingAccounts && !settings.verifyOnSignUp,
      requireEmailVerification: settings.verifyOnSignUp,
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: async (password) => {
          const ready = prepared.getStore();
          return ready?.password === password ? ready.hash : hashOf(password, cost);
        },
        verify: async ({ hash, password }) => {
          const { right, stale } = await verifyPassword(password, hash, cost);
          // A salt makes the old hash a name of its one record.
          if (stale)
            await database.tables
              .updateTable('account')
              .set({ password: await hashOf(password, cost) })
              .where('password', '=', hash)
              .execute();
          return right;
        },
      },
      sendResetPassword: ({ user, url }) =>
        sendAside({
          to: user.email,
          subject: `Set a new password for ${app.name}`,
          text: `Somebody, probably you, wants a new password for ${app.name}. Open this link within an hour:\n\n${withPage(url)}\n\nIf it was not you, do nothing: your password stays.`,
        }),
      // What the admin plugin adds to a new user belongs to one that only looks new.
      customSyntheticUser: ({ coreFields, additionalFields, id }) => ({
        ...coreFields,
        role: 'user',
        banned: false,
        banReason: null,
        banExpires: null,
        ...additionalFields,
        id,
      }),
      onExistingUserSignUp: ({ user }) =>
        sendAside({
          to: user.email,
          subject: `You have an account at ${app.name}`,
          text: `Somebody, probably you, wanted to sign up at ${app.name} with this address, which has an account already. Sign in at ${settings.origin}, or ask for a new password there.\n\nIf it was not you, do nothing.`,
        }),
    },
    emailVerification: {
      sendOnSignUp: settings.verifyOnSignUp,
      autoSignInAfterVerification: true,
      sendVerificationEmail: ({ user, url }) =>
        sendAside({
          to: user.email,
          subject: `Confirm your address for ${app.name}`,
          text: `Open this link to confirm your address and sign in at ${app.name}:\n\n${url}`,
        }),
    },
    socialProviders: socialProviders(settings),
    advanced: {
      cookiePrefix: app.id,
      useSecureCookies: settings.origin.startsWith('https:'),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    plugins: [
      boundProviders(),
      ...mailedSignIns(settings, sendAside),
      admin({
        adminRoles: [...new Set(['admin', adminSettings.requireRole])],
        ac: access,
        roles: {
          user: access.newRole(userAc.statements),
          admin: access.newRole(adminAc.statements),
          [adminSettings.requireRole]: access.newRole(adminAc.statements),
        },
      }),
    ],
  });
  const { authCookies, internalAdapter } = await auth.$context;
  return {
    handle: (request, ready) => prepared.run(ready, () => auth.handler(request)),
    prepare: async (password) => ({ password, hash: await hashOf(password, cost) }),
    cookie: authCookies.sessionToken.name,
    userOfReset: async (token) => {
      const proof = await internalAdapter.findVerificationValue(`reset-password:${token}`);
      return proof && proof.expiresAt > new Date() ? proof.value : undefined;
    },
    createUser: async ({ email, password, name, role }) => {
      const { user } = await auth.api.createUser({ body: { email, password, name, role: role as 'admin', data: { emailVerified: true } } });
      return user.id;
    },
  };
}
