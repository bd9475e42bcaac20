/** The script of the admin page, for browsers; `base` is the page's path. It builds every text by `textContent`, never by HTML. */
export function adminScript(base: string): Response {
  return new Response(`const base = ${JSON.stringify(base)};${SCRIPT}`, {
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' },
  });
}

const SCRIPT = `
const byId = (id) => document.getElementById(id);
const status = byId('status');
function say(text, isBad = false) {
  status.className = isBad ? 'bad' : '';
  status.textContent = text;
}
async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(value.message ?? 'The server answered ' + answer.status + '.');
  return value;
}
function make(name, members = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(members)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
function table(caption, heads, rows) {
  const body = rows.map((cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, cell ?? ''))));
  return make('div', { className: 'wide' }, make('table', { 'aria-label': caption },
    make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head)))),
    make('tbody', {}, ...(rows.length > 0 ? body : [make('tr', {}, make('td', { colSpan: heads.length }, 'Nothing yet.'))]))));
}
const day = (iso) => (iso ? iso.slice(0, 10) : '');

const signIn = byId('sign-in');
if (signIn)
  signIn.addEventListener('submit', async (event) => {
    event.preventDefault();
    say('One moment ...');
    try {
      await ask('/api/auth/sign-in/email', { email: byId('email').value, password: byId('password').value });
      const there = await fetch(base + '/data/overview');
      if (!there.ok) throw new Error('You are signed in, but not as an administrator.');
      location.reload();
    } catch (error) {
      say(error.message, true);
    }
  });

if (byId('admin')) {
  let overview;
  let search = '';
  let offset = 0;
  const LIMIT = 25;

  const change = (user, what, body, done) => async () => {
    try {
      await ask(base + '/data/users/' + encodeURIComponent(user.id) + '/' + what, body());
      say(done);
    } catch (error) {
      say(error.message, true);
    }
    await fill.users();
  };
  const choice = (label, values, present, onChange) =>
    make('select', { 'aria-label': label, onchange: onChange }, ...values.map((value) => make('option', { value, selected: value === present }, value)));

  const fill = {
    async users() {
      const { users, total } = await ask(base + '/data/users?limit=' + LIMIT + '&offset=' + offset + '&search=' + encodeURIComponent(search));
      const rows = users.map((user) => {
        const plan = choice('Plan of ' + user.email, overview.plans.map(({ name }) => name), user.plan, () => change(user, 'plan', () => ({ plan: plan.value }), user.email + ' has the plan ' + plan.value + '.')());
        const role = choice('Role of ' + user.email, [...new Set([...overview.roles, user.roles.join(',')])], user.roles.join(','), () => change(user, 'role', () => ({ role: role.value }), user.email + ' has the role ' + role.value + '.')());
        return [user.name, user.email, plan, role, day(user.joined), String(user.sessions), make('span', { className: 'tools' },
          make('button', { type: 'button', 'aria-label': (user.banned ? 'Unban ' : 'Ban ') + user.email, onclick: change(user, 'ban', () => ({ banned: !user.banned }), user.email + (user.banned ? ' may sign in again.' : ' is shut out.')) }, user.banned ? 'Unban' : 'Ban'),
          make('button', { type: 'button', 'aria-label': 'Sign out ' + user.email, onclick: change(user, 'sign-out', () => ({}), user.email + ' is signed out everywhere.') }, 'Sign out'))];
      });
      const field = make('input', { type: 'search', id: 'search', value: search });
      const form = make('form', { className: 'tools', role: 'search' }, make('label', { htmlFor: 'search' }, 'Find by name or address'), field, make('button', { type: 'submit' }, 'Find'));
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        search = field.value;
        offset = 0;
        fill.users();
      });
      const turn = (by) => () => {
        offset += by;
        fill.users();
      };
      byId('panel-users').replaceChildren(form, table('Users', ['Name', 'E-mail', 'Plan', 'Role', 'Joined', 'Sessions', ''], rows),
        make('p', { className: 'tools' },
          make('button', { type: 'button', disabled: offset === 0, onclick: turn(-LIMIT) }, 'Newer'),
          make('button', { type: 'button', disabled: offset + LIMIT >= total, onclick: turn(LIMIT) }, 'Older'),
          total + ' users'));
    },
    async subscriptions() {
      const rows = await ask(base + '/data/subscriptions');
      byId('panel-subscriptions').replaceChildren(table('Subscriptions', ['E-mail', 'Plan', 'State', 'Period ends', 'Ends on'], rows.map((row) => [row.email, row.plan, row.status, day(row.periodEnd), day(row.cancelAt)])));
    },
    async plans() {
      byId('panel-plans').replaceChildren(table('Plans', ['Name', 'Shown as', 'Price', 'Price at the processor'], overview.plans.map((plan) => [plan.name, plan.display_name, plan.price + ' per ' + plan.interval, plan.payment_price_id ?? (plan.price > 0 ? 'not pushed' : '')])));
    },
    async meters() {
      const rows = await ask(base + '/data/meters');
      byId('panel-meters').replaceChildren(table('Meters', ['Meter', 'Used', 'By users', 'Begins anew'], rows.map((row) => [row.label, row.used + (row.unit ? ' ' + row.unit : ''), String(row.users), day(row.resetAt)])));
    },
    async events() {
      const rows = await ask(base + '/data/events');
      byId('panel-events').replaceChildren(table('Events of the processor', ['Received', 'Kind', 'State', 'What was done'], rows.map((row) => [row.received.replace('T', ' ').slice(0, 19), row.type, row.state, row.note])));
    },
  };

  async function draw() {
    const days = await ask(base + '/data/sign-ups');
    const most = Math.max(1, ...days.map(({ count }) => count));
    const total = days.reduce((sum, { count }) => sum + count, 0);
    const SVG = 'http://www.w3.org/2000/svg';
    const chart = document.createElementNS(SVG, 'svg');
    const set = (element, members) => {
      for (const [key, value] of Object.entries(members)) element.setAttribute(key, value);
      return element;
    };
    set(chart, { class: 'chart', viewBox: '0 0 600 140', role: 'img', 'aria-label': total + ' sign-ups in 30 days, at most ' + most + ' on one day' });
    days.forEach(({ day: name, count }, index) => {
      const height = (count / most) * 110;
      const bar = set(document.createElementNS(SVG, 'rect'), { x: index * 20 + 2, y: 115 - height, width: 16, height });
      const title = document.createElementNS(SVG, 'title');
      title.textContent = name + ': ' + count;
      bar.append(title);
      chart.append(bar);
      if (index % 7 !== 0) return;
      const label = set(document.createElementNS(SVG, 'text'), { x: index * 20 + 2, y: 132 });
      label.textContent = name.slice(5);
      chart.append(label);
    });
    byId('chart').replaceChildren(chart, make('p', {}, total + ' in 30 days, at most ' + most + ' on one day.'));
  }

  const tabs = [...document.querySelectorAll('[role="tab"]')];
  async function show(tab) {
    for (const each of tabs) {
      const isShown = each === tab;
      each.setAttribute('aria-selected', String(isShown));
      each.tabIndex = isShown ? 0 : -1;
      byId(each.getAttribute('aria-controls')).hidden = !isShown;
    }
    say('');
    await fill[tab.id.slice(4)]().catch((error) => say(error.message, true));
  }
  tabs.forEach((tab, index) => {
    tab.addEventListener('click', () => show(tab));
    tab.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const to = event.key === 'Home' ? 0 : event.key === 'End' ? tabs.length - 1 : by && (index + by + tabs.length) % tabs.length;
      if (to === undefined) return;
      event.preventDefault();
      tabs[to].focus();
      show(tabs[to]);
    });
  });
  byId('leave').addEventListener('click', async () => {
    await ask('/api/auth/sign-out', {});
    location.reload();
  });
  ask(base + '/data/overview').then((found) => {
    overview = found;
    return Promise.all([byId('chart') && draw(), tabs[0] && show(tabs[0])]);
  }).catch((error) => say(error.message, true));
}
`;
