import { Failure } from '../../schemas/errors.js';
import type { Settings } from '../config/settings.js';
import { type Call, type Route, wholeFrom } from '../http/route.js';
import type { Caller } from '../identity/sessions.js';
import type { Directory } from './directory.js';
import { adminPage } from './page.js';
import { adminScript } from './script.js';

/** The admin page and what it asks for, for sessions with the role that the module file names. */
export function adminRoutes(settings: Settings, directory: Directory): readonly Route[] {
  const { admin, app, plans } = settings;
  const { sections } = admin;
  const base = admin.path;
  const asAdmin = async (call: Call): Promise<Caller> => {
    const caller = await call.inSession();
    if (!caller.roles.includes(admin.requireRole))
      throw new Failure('forbidden', `this is for the role ${admin.requireRole}`, { code: 'role_required' });
    return caller;
  };
  const read = (name: string, answer: (call: Call) => Promise<unknown>): Route => ({
    method: 'GET',
    path: `${base}/data/${name}`,
    run: async (call) => {
      await asAdmin(call);
      return answer(call);
    },
  });
  const change = (name: string, work: (call: Call, admin: Caller) => Promise<void>): Route => ({
    method: 'POST',
    path: `${base}/data/users/:id/${name}`,
    run: async (call) => {
      await work(call, await asAdmin(call));
      return { changed: true };
    },
  });
  return [
    {
      method: 'GET',
      path: base,
      run: async (call) => {
        const caller = await call.caller();
        return adminPage(settings, caller?.via === 'session' && caller.roles.includes(admin.requireRole));
      },
    },
    { method: 'GET', path: `${base}/script.js`, run: async () => adminScript(base) },
    read('overview', async () => ({
      app: app.name,
      plans: plans.map(({ name, display_name, price, interval, payment_price_id }) => ({
        name,
        display_name,
        price,
        interval,
        payment_price_id: payment_price_id ?? null,
      })),
      role: admin.requireRole,
      roles: directory.roles,
    })),
    ...(sections.users
      ? [
          read('users', ({ url }) =>
            directory.users({
              search: (url.searchParams.get('search') ?? '').slice(0, 200),
              offset: wholeFrom(url.searchParams.get('offset')),
              limit: wholeFrom(url.searchParams.get('limit')) || 50,
            }),
          ),
          read('sign-ups', () => directory.signUps()),
          change('plan', async (call, by) => directory.setPlan(call.params.id!, nameIn(call, 'plan'), `by ${by.email}`)),
          change('role', async (call) => directory.setRole(call.params.id!, nameIn(call, 'role'))),
          change('ban', async (call) => directory.setBanned(call.params.id!, call.body().banned !== false)),
          change('sign-out', (call) => directory.signOut(call.params.id!)),
        ]
      : []),
    ...(sections.billing ? [read('subscriptions', () => directory.subscriptions()), read('events', () => directory.events())] : []),
    ...(sections.usage ? [read('meters', () => directory.meters())] : []),
  ];
}

/** A name in the body; empty where there is none. */
function nameIn(call: Call, field: string): string {
  const { [field]: name = '' } = call.body();
  if (typeof name === 'string') return name;
  throw new Failure('bad_request', `${field} must be a text`);
}
