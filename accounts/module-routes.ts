import { Failure } from '../schemas/errors.js';
import type { Settings } from './config/settings.js';
import { DeviceRefusal, type Devices, type DeviceTokens } from './devices/devices.js';
import { DEVICE_SCRIPT_PATH, devicePage, deviceScript } from './devices/page.js';
import type { Meters } from './gates/meters.js';
import type { Nudges } from './gates/nudges.js';
import type { Plans } from './gates/plans.js';
import { json } from './http/answers.js';
import type { Attempts } from './http/attempts.js';
import type { Call, Route } from './http/route.js';
import type { Keys } from './keys.js';

/** What the routes below `/api/module` work with. */
export interface ModuleParts {
  readonly settings: Settings;
  readonly attempts: Attempts;
  readonly plans: Plans;
  readonly meters: Meters;
  readonly nudges: Nudges;
  readonly devices: Devices;
  readonly keys: Keys;
  /** The scopes that a key may have; any where undefined. */
  readonly scopes: ReadonlySet<string> | undefined;
  readonly now: () => number;
}

const DEVICE_REQUESTS = { most: 30, windowS: 600 };
const LONGEST_NAME = 100;
const YEAR_MS = 366 * 24 * 3600 * 1000;

/** Plans, usage, devices and API keys. */
export function moduleRoutes(parts: ModuleParts): readonly Route[] {
  return [
    ...planRoutes(parts),
    ...usageRoutes(parts),
    ...nudgeRoutes(parts),
    ...(parts.settings.deviceAuth.enabled ? deviceRoutes(parts) : []),
    ...(parts.settings.apiKeys.enabled ? keyRoutes(parts) : []),
  ];
}

function planRoutes({ settings, plans }: ModuleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/module/config',
      run: async () => ({
        app: settings.app,
        methods: {
          email_password: settings.emailPassword,
          magic_link: settings.magicLinkS !== undefined,
          email_otp: settings.emailCode !== undefined,
          ...Object.fromEntries(settings.social.map(({ name }) => [name, true])),
        },
        meters: Object.entries(settings.meters).map(([name, { label, unit, icon, type, reset_period, limits = {} }]) => ({
          name,
          label,
          unit: unit ?? null,
          icon: icon ?? null,
          type,
          reset_period,
          limits,
        })),
        plans: settings.plans.map(({ name, display_name, price, interval, trial_days, features = [], cta, highlighted }) => ({
          name,
          display_name,
          price,
          interval,
          trial_days,
          features,
          cta: cta ?? null,
          highlighted,
        })),
        currency: settings.billing.currency,
        publishable_key: settings.billing.publishableKey ?? null,
      }),
    },
    {
      method: 'GET',
      path: '/api/module/me',
      run: async (call) => {
        const { userId, email, name, roles, via } = await call.signedIn();
        return { id: userId, email, name, roles, plan: (await plans.of(userId)).name, via };
      },
    },
    {
      method: 'GET',
      path: '/api/module/subscription/status',
      run: async (call) => {
        const caller = await call.signedIn();
        return { plan: (await plans.of(caller.userId)).name, role: caller.roles[0] ?? 'user' };
      },
    },
  ];
}

function usageRoutes({ meters }: ModuleParts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/module/usage/track',
      run: async (call) => {
        const { userId } = await call.signedIn();
        const { meterId, count = 1, idempotencyKey = call.request.headers.get('idempotency-key') ?? undefined } = call.body();
        return meters.track(
          userId,
          optionalText(meterId, 'meterId'),
          count,
          idempotencyKey === undefined ? {} : { idempotencyKey: optionalText(idempotencyKey, 'idempotencyKey') },
        );
      },
    },
    { method: 'GET', path: '/api/module/usage', run: async (call) => meters.all((await call.signedIn()).userId) },
    {
      method: 'GET',
      path: '/api/module/usage/:meterId',
      run: async (call) => meters.look((await call.signedIn()).userId, call.params.meterId!),
    },
  ];
}

function nudgeRoutes({ nudges }: ModuleParts): readonly Route[] {
  return [
    { method: 'GET', path: '/api/module/nudges', run: async (call) => nudges.list(await call.signedIn()) },
    {
      method: 'POST',
      path: '/api/module/nudges/:id/dismiss',
      run: async (call) => {
        await nudges.dismiss(await call.signedIn(), call.params.id!);
        return { dismissed: true };
      },
    },
  ];
}

function deviceRoutes({ settings, devices, attempts }: ModuleParts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/module/device/authorize',
      run: (call) =>
        oauth(async () => {
          await attempts.take(`device:${call.visitor}`, DEVICE_REQUESTS, 'sign-ins of devices from this address');
          const clientId = call.body().clientId ?? call.body().client_id;
          const { deviceCode, userCode, verificationUrl, verificationUrlComplete, expiresIn, interval } = await devices.authorize(
            clientId === undefined ? null : optionalText(clientId, 'clientId'),
          );
          return {
            ...{ deviceCode, userCode, verificationUrl, verificationUrlComplete, expiresIn, interval },
            ...{
              device_code: deviceCode,
              user_code: userCode,
              verification_uri: verificationUrl,
              verification_uri_complete: verificationUrlComplete,
              expires_in: expiresIn,
            },
          };
        }),
    },
    {
      method: 'POST',
      path: '/api/module/device/token',
      run: (call) =>
        oauth(async () => {
          const { grant_type: grant, refresh_token: refresh, deviceCode, device_code } = call.body();
          if (grant === 'refresh_token') return tokens(await devices.refresh(requiredText(refresh, 'refresh_token')));
          return tokens(await devices.poll(requiredText(deviceCode ?? device_code, 'deviceCode')));
        }),
    },
    {
      method: 'POST',
      path: '/api/module/device/refresh',
      run: (call) =>
        oauth(async () =>
          tokens(await devices.refresh(requiredText(call.body().refreshToken ?? call.body().refresh_token, 'refreshToken'))),
        ),
    },
    {
      method: 'POST',
      path: '/api/module/device/verify',
      run: async (call) => {
        const caller = await call.inSession();
        const { userCode, user_code, action } = call.body();
        if (action !== 'approve' && action !== 'deny') throw new Failure('bad_request', 'action must be "approve" or "deny"');
        await devices.verify(caller, call.visitor, optionalText(userCode ?? user_code, 'userCode'), action === 'approve');
        return action === 'approve' ? { approved: true } : { denied: true };
      },
    },
    {
      method: 'GET',
      path: '/api/module/device',
      run: async (call) => devicePage(settings, await call.caller(), call.url.searchParams.get('user_code') ?? ''),
    },
    { method: 'GET', path: DEVICE_SCRIPT_PATH, run: async () => deviceScript() },
    { method: 'GET', path: '/api/module/devices', run: async (call) => devices.list((await call.inSession()).userId) },
    {
      method: 'DELETE',
      path: '/api/module/devices/:id',
      run: async (call) => {
        if (!(await devices.remove((await call.inSession()).userId, call.params.id!)))
          throw new Failure('not_found', 'you have no device of this id');
        return { revoked: true };
      },
    },
  ];
}

function keyRoutes({ settings, keys, scopes: known, now }: ModuleParts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/module/apikeys',
      run: async (call) => {
        const { userId, roles } = await call.inSession();
        const options = keyOptions(call, known, now());
        if (known && options.scopes?.includes('admin') && !roles.includes(settings.admin.requireRole))
          throw new Failure('forbidden', `a key with the scope "admin" is for the role ${settings.admin.requireRole}`, {
            code: 'role_required',
          });
        const { id, key, prefix, name, scopes, perMinute, expiresAt } = await keys.create(userId, options);
        return { id, key, prefix, name, scopes, perMinute, expiresAt };
      },
    },
    { method: 'GET', path: '/api/module/apikeys', run: async (call) => keys.list((await call.inSession()).userId) },
    {
      method: 'DELETE',
      path: '/api/module/apikeys/:id',
      run: async (call) => {
        if (!(await keys.revoke((await call.inSession()).userId, call.params.id!)))
          throw new Failure('not_found', 'you have no key of this id');
        return { revoked: true };
      },
    },
  ];
}

function keyOptions(call: Call, known: ReadonlySet<string> | undefined, now: number): Parameters<Keys['create']>[1] {
  const { name, scopes, permissions, expiresAt, perMinute } = call.body();
  const given = scopes ?? permissions;
  const isScopes =
    Array.isArray(given) && given.length <= 50 && given.every((scope) => typeof scope === 'string' && /^[\w:.*-]{1,64}$/.test(scope));
  if (given !== undefined && !isScopes)
    throw new Failure('bad_request', 'scopes is a list of at most 50 names of letters, digits and : . * - _');
  const unknown = known && (given as string[] | undefined)?.find((scope) => !known.has(scope));
  if (unknown !== undefined)
    throw new Failure('bad_request', `there is no scope ${JSON.stringify(unknown)}; the scopes are ${[...known!].sort().join(', ')}`, {
      code: 'unknown_scope',
    });
  const expires = expiresAt === undefined || expiresAt === null ? undefined : Date.parse(optionalText(expiresAt, 'expiresAt'));
  if (expires !== undefined && !(expires > now && expires < now + 10 * YEAR_MS))
    throw new Failure(
      'bad_request',
      `expiresAt is ${JSON.stringify(expiresAt)}; it must be a time in the future, within ten years, in ISO 8601`,
    );
  if (perMinute !== undefined && !(typeof perMinute === 'number' && Number.isInteger(perMinute) && perMinute >= 1 && perMinute <= 1e6))
    throw new Failure('bad_request', `perMinute is ${JSON.stringify(perMinute)}; it must be a whole number from 1 to 1,000,000`);
  return {
    name: optionalText(name, 'name'),
    ...(given === undefined ? {} : { scopes: given as string[] }),
    ...(expires === undefined ? {} : { expires }),
    ...(perMinute === undefined ? {} : { perMinute: perMinute as number }),
  };
}

function optionalText(value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_NAME) return value;
  throw new Failure('bad_request', `${name} is a text of 1 to ${LONGEST_NAME} characters`);
}

function requiredText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= 512) return value;
  throw new DeviceRefusal('invalid_request', `send ${name}`);
}

function tokens({ accessToken, refreshToken, expiresAt, expiresIn }: DeviceTokens): object {
  return {
    ...{ accessToken, refreshToken, expiresAt, tokenType: 'Bearer' },
    ...{ access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, token_type: 'Bearer' },
  };
}

/** Errors of OAuth 2 have a form of their own, with status 400. */
async function oauth(work: () => Promise<object>): Promise<object | Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeviceRefusal)) throw error;
    return json(
      { error: error.error, error_description: error.message, message: error.message },
      error.error === 'invalid_client' ? 401 : 400,
    );
  }
}
