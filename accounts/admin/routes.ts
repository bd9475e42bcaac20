import { Failure } from '../../schemas/errors.js';
import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escapeHtml, page } from '../http/pages.js';
import { type Call, type Route, wholeFrom } from '../http/route.js';
import type { Caller } from '../identity/sessions.js';
import type { Directory } from './directory.js';
import { adminScript } from './script.js';

const STYLE = `${BASE_STYLE}
header { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; flex-wrap: wrap; }
[role="tablist"] { display: flex; gap: 0.25rem; border-bottom: 1px solid var(--line); margin: 1rem 0; flex-wrap: wrap; }
[role="tab"] { border: 0; border-bottom: 3px solid transparent; border-radius: 0; background: none; }
[role="tab"][aria-selected="true"] { border-color: var(--accent); font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.5rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
.wide { overflow-x: auto; }
.tools { display: flex; gap: 0.6rem; margin: 0.75rem 0; flex-wrap: wrap; align-items: center; }
svg.chart { width: 100%; height: 10rem; }
svg.chart rect { fill: var(--accent); }
svg.chart text { fill: var(--ink); font-size: 11px; }
form.sign-in { display: grid; gap: 0.75rem; max-width: 22rem; margin-top: 10vh; }
`;

/** Each tab with its title and the section of the module file that shows it. */
const TABS = [
  ['users', 'Users', 'users'],
  ['subscriptions', 'Subscriptions', 'billing'],
  ['plans', 'Plans', 'billing'],
  ['meters', 'Meters', 'usage'],
  ['events', 'Events', 'billing'],
] as const;

/** The admin page: a form to sign in, or, for an admin, its tables; the script at `<base>/script.js` fills them. */
export function adminPage({ app: { name: app }, admin: { path: base, sections } }: Settings, isAdmin: boolean): Response {
  const tabs = TABS.filter(([, , section]) => sections[section]);
  const body = isAdmin
    ? `<main id="admin">
<header><h1>${escapeHtml(app)}: accounts</h1><button id="leave" type="button">Sign out</button></header>
${sections.users ? '<section aria-labelledby="growth"><h2 id="growth">Sign-ups per day</h2><div id="chart"></div></section>' : ''}
<div role="tablist" aria-label="Accounts">${tabs
        .map(
          ([id, title], index) =>
            `<button role="tab" id="tab-${id}" aria-controls="panel-${id}" aria-selected="${index === 0}" tabindex="${index === 0 ? 0 : -1}" type="button">${title}</button>`,
        )
        .join('')}</div>
<p role="status" id="status"></p>
${tabs.map(([id], index) => `<section role="tabpanel" id="panel-${id}" aria-labelledby="tab-${id}" tabindex="0"${index === 0 ? '' : ' hidden'}></section>`).join('\n')}
</main>`
    : `<main>
<form class="sign-in" id="sign-in">
<h1>${escapeHtml(app)}: accounts</h1>
<label for="email">E-mail</label><input id="email" type="email" autocomplete="username" required>
<label for="password">Password</label><input id="password" type="password" autocomplete="current-password" required>
<button class="main" type="submit">Sign in</button>
<p role="status" id="status"></p>
</form>
</main>`;
  return page(`${app}: accounts`, body, STYLE, `${base}/script.js`);
}

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
