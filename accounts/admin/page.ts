import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escaped, page } from '../http/pages.js';

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
<header><h1>${escaped(app)}: accounts</h1><button id="leave" type="button">Sign out</button></header>
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
<h1>${escaped(app)}: accounts</h1>
<label for="email">E-mail</label><input id="email" type="email" autocomplete="username" required>
<label for="password">Password</label><input id="password" type="password" autocomplete="current-password" required>
<button class="main" type="submit">Sign in</button>
<p role="status" id="status"></p>
</form>
</main>`;
  return page(`${app}: accounts`, body, STYLE, `${base}/script.js`);
}
