import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Mail } from '../../../../accounts/mail.js';
import { until } from '../../until.js';
import { PASSWORD, type Visitor } from '../visitor.js';
import type { Flow } from './flows.js';
import { type State, visitorOf, type World } from './world.js';

export const NEW_PASSWORD = 'another horse 8 battery';

const addressOf = (id: string): string => `${id}@example.com`;
/** An address of its own for each state, so that no limit of attempts is met. */
export const ipOf = (id: string): string => `10.${[16, 8, 0].map((shift) => (Number(id.replace(/\D/g, '')) >> shift) & 255).join('.')}`;

/** A user of a state, signed in; with a device where `device` is set. */
export async function signedIn(world: World, id: string): Promise<State> {
  const state: State = { id, email: addressOf(id), ip: ipOf(id) };
  const visitor = visitorOf(world.accounts, state);
  assert.equal((await visitor.signUp(state.email!)).status, 200);
  const { status, body, text } = await visitor.signIn(state.email!);
  assert.equal(status, 200, text);
  return { ...state, cookie: visitor.cookie, userId: body.user.id };
}

/** The tokens of a new device of a signed-in user. */
export async function deviceOf(world: World, state: State): Promise<{ accessToken: string; refreshToken: string }> {
  const visitor = visitorOf(world.accounts, state);
  const { userCode, deviceCode } = (await visitor.post('/api/module/device/authorize')).body;
  await visitor.post('/api/module/device/verify', { userCode, action: 'approve' });
  return (await visitor.post('/api/module/device/token', { deviceCode })).body;
}

/** Whether the cookie of a state still opens a session. */
export async function isIn(world: World, state: State): Promise<boolean> {
  return (await world.accounts.callerOf(new Headers({ cookie: state.cookie ?? '' }))) !== undefined;
}

async function count(world: World, table: 'user' | 'account' | 'session', email: string): Promise<number> {
  const of = table === 'user' ? sql`` : sql`join ${sql.table(table)} t on t.${sql.ref('userId')} = u.id`;
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table('user')} u ${of} where u.email = ${email}`.execute(
    world.database.tables,
  );
  return Number(rows[0]!.n);
}

/** The link of the last mail to somebody about something, where there is one. */
function linkTo({ mails }: World, to: string, subject: RegExp): URL | undefined {
  const found = mails.findLast((mail: Mail) => mail.to === to && subject.test(mail.subject));
  return found && new URL(/https?:\/\/\S+/.exec(found.text)![0]);
}

/** Waits for such a mail, which leaves after the answer. */
async function linkComesTo(world: World, to: string, subject: RegExp): Promise<URL> {
  await until(() => linkTo(world, to, subject), `there is a mail to ${to}`);
  return linkTo(world, to, subject)!;
}

async function resetToken(world: World, state: State): Promise<string> {
  const visitor = visitorOf(world.accounts, { ...state, cookie: '' });
  const { status, text } = await visitor.post('/api/auth/request-password-reset', { email: state.email, redirectTo: '/reset' });
  assert.equal(status, 200, text);
  const link = await linkComesTo(world, state.email!, /new password/);
  return link.pathname.split('/').at(-1)!;
}

const status = async (asked: Promise<{ status: number }>): Promise<number> => (await asked).status;
const as = (world: World, state: State): Visitor => visitorOf(world.accounts, state);

/** Begins a sign-in with GitHub, whose servers are `answeringGithub`. */
async function toProvider(world: World, state: State, path: 'sign-in' | 'link'): Promise<State> {
  const visitor = as(world, state);
  const there =
    path === 'sign-in'
      ? (await visitor.get('/api/auth/sign-in/social?provider=github&callbackURL=/home')).headers.get('location')!
      : (await visitor.post('/api/auth/link-social', { provider: 'github', callbackURL: '/home' })).body.url;
  const code = Buffer.from(JSON.stringify({ id: Number(state.id!.replace(/\D/g, '')), email: state.email })).toString('base64url');
  const query = new URLSearchParams({ code, state: new URL(there).searchParams.get('state')! });
  return { ...state, cookie: visitor.cookie, back: `/api/auth/callback/github?${query}` };
}

/** Comes back from GitHub; 302 to `/home` is the good end, any other place an error. */
async function fromProvider(world: World, state: State): Promise<number> {
  const visitor = as(world, state);
  const { status: code, headers } = await visitor.get(state.back!);
  if (code === 302 && headers.get('location') === '/home') state.cookie = visitor.cookie;
  else if (code < 500) return 409;
  return code;
}

/** Lets a minute go by for a user that was made: what a sign-up has left half made is told from one under way by its age. */
export async function letAge({ database }: World, { email }: State): Promise<void> {
  const createdAt = new Date(Date.now() - 60_000);
  await database.tables
    .updateTable('user')
    .set({ createdAt: database.language === 'sqlite' ? createdAt.toISOString() : createdAt })
    .where('email', '=', email!)
    .execute();
}

/** Signing up, in and out, and passwords. */
export const identityFlows: readonly Flow[] = [
  {
    name: 'sign-up',
    prepare: async (_world, id) => ({ id, email: addressOf(id), ip: ipOf(id) }),
    act: (world, state) => status(as(world, state).signUp(state.email!)),
    again: async (world, state) => {
      await letAge(world, state);
      return status(as(world, state).signUp(state.email!));
    },
    ends: [200],
    async check(world, state) {
      assert.equal(await status(as(world, state).signIn(state.email!)), 200, 'one who has signed up can sign in');
      assert.deepEqual([await count(world, 'user', state.email!), await count(world, 'account', state.email!)], [1, 1]);
    },
  },
  {
    name: 'confirm an address',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      await as(world, state).post('/api/auth/send-verification-email', { email: state.email, callbackURL: '/' });
      const link = await linkComesTo(world, state.email!, /Confirm/);
      return { ...state, link: link.pathname + link.search };
    },
    act: (world, state) => status(as(world, state).get(state.link!)),
    ends: [302],
    async check(world, state) {
      const row = await world.database.tables
        .selectFrom('user')
        .select('emailVerified')
        .where('id', '=', state.userId!)
        .executeTakeFirstOrThrow();
      assert.equal(Boolean(row.emailVerified), true);
    },
  },
  {
    name: 'sign-in',
    async prepare(world, id) {
      const state = { id, email: addressOf(id), ip: ipOf(id) };
      await as(world, state).signUp(state.email);
      return state;
    },
    async act(world, state) {
      const visitor = as(world, state);
      const { status: code } = await visitor.signIn(state.email!);
      state.cookie = visitor.cookie;
      return code;
    },
    ends: [200],
    check: async (world, state) => assert.equal(await isIn(world, state), true),
  },
  {
    name: 'sign-out',
    prepare: signedIn,
    act: (world, state) => status(as(world, state).post('/api/auth/sign-out')),
    ends: [200],
    check: async (world, state) => assert.equal(await isIn(world, state), false),
  },
  {
    name: 'sign-out everywhere',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      const other = as(world, { ip: state.ip! });
      await other.signIn(state.email!);
      return { ...state, other: other.cookie };
    },
    act: (world, state) => status(as(world, state).post('/api/auth/revoke-sessions')),
    ends: [200, 401],
    async check(world, state) {
      assert.deepEqual([await isIn(world, state), await isIn(world, { cookie: state.other! })], [false, false]);
    },
  },
  {
    name: 'ask for a new password',
    prepare: signedIn,
    act: (world, { email, ip }) => status(as(world, { ip: ip! }).post('/api/auth/request-password-reset', { email, redirectTo: '/reset' })),
    ends: [200],
    async check(world, state) {
      // A mail that did not leave is asked for again.
      const token =
        linkTo(world, state.email!, /new password/)
          ?.pathname.split('/')
          .at(-1) ?? (await resetToken(world, state));
      assert.equal(await status(as(world, state).post('/api/auth/reset-password', { newPassword: NEW_PASSWORD, token })), 200);
    },
  },
  {
    name: 'set a new password by mail',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      const { accessToken } = await deviceOf(world, state);
      return { ...state, accessToken, token: await resetToken(world, state) };
    },
    act: (world, { token, ip }) => status(as(world, { ip: ip! }).post('/api/auth/reset-password', { newPassword: NEW_PASSWORD, token })),
    async again(world, state) {
      const code = await this.act(world, state);
      const isNew = (await as(world, { ip: state.ip! }).signIn(state.email!, NEW_PASSWORD)).status === 200;
      if (code === 400 && isNew) return 200;
      // The link was spent for nothing: another mail is asked for.
      return code === 400 ? this.act(world, { ...state, token: await resetToken(world, state) }) : code;
    },
    ends: [200],
    check: (world, state) => checkPassword(world, state, false),
  },
  {
    name: 'change a password',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      const other = as(world, { ip: state.ip! });
      await other.signIn(state.email!);
      const { accessToken } = await deviceOf(world, state);
      return { ...state, accessToken, own: state.cookie!, cookie: other.cookie };
    },
    act: (world, { own, ip }) =>
      status(
        as(world, { cookie: own!, ip: ip! }).post('/api/auth/change-password', { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }),
      ),
    async again(world, state) {
      const code = await this.act(world, state);
      return code === 400 && (await as(world, { ip: state.ip! }).signIn(state.email!, NEW_PASSWORD)).status === 200 ? 200 : code;
    },
    ends: [200],
    async check(world, state) {
      await checkPassword(world, state, true);
      assert.equal(await isIn(world, { cookie: state.own! }), true, 'the session that changed it stays');
    },
  },
  {
    name: 'sign in with a provider for the first time',
    prepare: (world, id) => toProvider(world, { id, email: addressOf(id), ip: ipOf(id) }, 'sign-in'),
    act: fromProvider,
    again: async (world, state) => fromProvider(world, Object.assign(state, await toProvider(world, { ...state, cookie: '' }, 'sign-in'))),
    ends: [302],
    async check(world, state) {
      assert.equal(await isIn(world, state), true);
      assert.deepEqual([await count(world, 'user', state.email!), await count(world, 'account', state.email!)], [1, 1]);
    },
  },
  {
    name: 'link a provider',
    prepare: async (world, id) => toProvider(world, await signedIn(world, id), 'link'),
    act: fromProvider,
    again: async (world, state) => fromProvider(world, Object.assign(state, await toProvider(world, state, 'link'))),
    ends: [302],
    check: async (world, state) => assert.equal(await count(world, 'account', state.email!), 2),
  },
];

/** After a new password the old one, other sessions and devices are over. */
async function checkPassword(world: World, state: State, isKept: boolean): Promise<void> {
  const other = { ip: state.ip! };
  assert.deepEqual(
    [await status(as(world, other).signIn(state.email!)), await status(as(world, other).signIn(state.email!, NEW_PASSWORD))],
    [401, 200],
  );
  assert.equal(await isIn(world, state), false, isKept ? 'another session' : 'a session');
  const bearer = new Headers({ authorization: `Bearer ${state.accessToken}` });
  assert.equal(await world.accounts.callerOf(bearer), undefined, 'a device');
}

/** GitHub's servers, for those codes that `toProvider` makes; all else goes where it went. */
export function answeringGithub(elsewhere: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { hostname, pathname } = new URL(request.url);
    if (!/(?:^|\.)github\.com$/.test(hostname)) return elsewhere(input, init);
    if (hostname === 'github.com') {
      const code = new URLSearchParams(await request.text()).get('code');
      return Response.json({ access_token: code, token_type: 'bearer', scope: 'user:email' });
    }
    const code = request.headers.get('authorization')!.split(' ')[1]!;
    const { id, email } = JSON.parse(Buffer.from(code, 'base64url').toString()) as { id: number; email: string };
    return Response.json(
      pathname.endsWith('/emails')
        ? [{ email, primary: true, verified: true, visibility: null }]
        : { id, login: 'ann', name: 'Ann', email, avatar_url: '' },
    );
  };
}
