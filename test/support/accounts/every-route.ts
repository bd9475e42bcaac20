import { adminRoutes } from '../../../accounts/admin/routes.js';
import { billingRoutes } from '../../../accounts/billing/routes.js';
import type { Settings } from '../../../accounts/config/settings.js';
import type { Route } from '../../../accounts/http/route.js';
import { type ModuleParts, moduleRoutes } from '../../../accounts/module-routes.js';

/** An endpoint of the accounts library. */
export interface Endpoint {
  readonly method: string;
  /** With `:name` where an id stands. */
  readonly path: string;
  /** A body that it understands; absent where it takes none. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Endpoints that better-auth answers behind our checks, with what they take. */
const IDENTITY: readonly Endpoint[] = [
  { method: 'POST', path: '/api/auth/sign-up/email', body: { email: 'who@example.com', password: 'correct horse 7 battery', name: 'Who' } },
  { method: 'POST', path: '/api/auth/sign-in/email', body: { email: 'who@example.com', password: 'correct horse 7 battery' } },
  { method: 'GET', path: '/api/auth/get-session' },
  { method: 'GET', path: '/api/auth/list-sessions' },
  { method: 'GET', path: '/api/auth/list-accounts' },
  { method: 'POST', path: '/api/auth/request-password-reset', body: { email: 'who@example.com', redirectTo: '/' } },
  { method: 'POST', path: '/api/auth/send-verification-email', body: { email: 'who@example.com' } },
  { method: 'POST', path: '/api/auth/reset-password', body: { newPassword: 'another horse 8 battery', token: 'x' } },
  { method: 'POST', path: '/api/auth/change-password', body: { currentPassword: 'x', newPassword: 'another horse 8 battery' } },
  { method: 'POST', path: '/api/auth/update-user', body: { name: 'Who' } },
  { method: 'POST', path: '/api/auth/revoke-session', body: { token: 'x' } },
  { method: 'POST', path: '/api/auth/revoke-other-sessions', body: {} },
  { method: 'POST', path: '/api/auth/revoke-sessions', body: {} },
  { method: 'POST', path: '/api/auth/unlink-account', body: { providerId: 'github', accountId: 'x' } },
  { method: 'POST', path: '/api/auth/sign-out', body: {} },
  { method: 'GET', path: '/api/auth/admin/list-users' },
  { method: 'POST', path: '/api/auth/admin/ban-user', body: { userId: ':id' } },
  { method: 'POST', path: '/api/auth/admin/unban-user', body: { userId: ':id' } },
];

/** What our own endpoints take. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'usage/track': { meterId: 'calls', count: 1 },
  'device/token': { deviceCode: 'x' },
  'device/refresh': { refreshToken: 'x' },
  'device/verify': { userCode: 'ABCD-2345', action: 'approve' },
  apikeys: { name: 'one' },
  checkout: { planId: 'pro' },
};

/** Every endpoint of the library that the settings have on. */
export function everyRoute(settings: Settings): readonly Endpoint[] {
  const own: readonly Route[] = [
    ...moduleRoutes({ settings } as ModuleParts),
    ...billingRoutes(undefined, settings.billing.webhookPaths),
    ...adminRoutes(settings, {} as never),
  ];
  return [
    ...IDENTITY,
    ...own.map(({ method, path }) => ({
      method,
      path,
      ...(method === 'GET' ? {} : { body: BODIES[path.replace('/api/module/', '')] ?? {} }),
    })),
  ];
}
