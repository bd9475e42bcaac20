import assert from 'node:assert/strict';
import { openDatabase } from '../../../../accounts/database/database.js';
import type { ReadyDatabase } from '../database-servers.js';
import { Visitor } from '../visitor.js';
import type { Flow } from './flows.js';
import { deviceOf, ipOf, isIn, letAge, signedIn } from './identity-flows.js';
import { type State, visitorOf, type World } from './world.js';

const status = async (asked: Promise<{ status: number }>): Promise<number> => (await asked).status;
/** The status of work in code: 200 where it resolves. */
const done = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error: { status?: number }) => error.status ?? 500,
  );
const as = (world: World, state: State) => visitorOf(world.accounts, state);
const used = async (world: World, state: State): Promise<number> => (await world.accounts.meters.look(state.userId!, 'calls')).used;
const bearer = (world: World, token: string | undefined) => world.accounts.callerOf(new Headers({ authorization: `Bearer ${token}` }));
const devices = async (world: World, state: State): Promise<number> =>
  (await world.database.tables.selectFrom('accounts_device').select('id').where('userId', '=', state.userId!).execute()).length;

/** The databases of the flow that makes tables, by state. */
const emptyDatabases = new Map<string, ReadyDatabase>();

async function begun(world: World, id: string): Promise<State> {
  const state = await signedIn(world, id);
  const { userCode, deviceCode } = (await as(world, state).post('/api/module/device/authorize')).body;
  return { ...state, userCode, deviceCode };
}

/** Meters, devices, keys and what administrators do. */
export const toolFlows: readonly Flow[] = [
  {
    name: 'track a named use',
    prepare: signedIn,
    act: (world, state) => status(as(world, state).post('/api/module/usage/track', { meterId: 'calls', count: 3, idempotencyKey: 'one' })),
    ends: [200],
    check: async (world, state) => assert.equal(await used(world, state), 3),
  },
  {
    name: 'track a use without a name',
    prepare: signedIn,
    act: (world, state) => status(as(world, state).post('/api/module/usage/track', { meterId: 'calls', count: 3 })),
    ends: [200],
    check: async (world, state) => assert.ok([3, 6].includes(await used(world, state)), 'whole uses alone are counted'),
  },
  {
    name: 'refund a named use',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      await world.accounts.meters.track(state.userId!, 'calls', 10);
      return state;
    },
    act: (world, state) => done(world.accounts.meters.refund(state.userId!, 'calls', 4, { idempotencyKey: 'back' })),
    ends: [200],
    check: async (world, state) => assert.equal(await used(world, state), 6),
  },
  {
    name: 'begin the sign-in of a device',
    prepare: signedIn,
    async act(world, state) {
      const { status: code, body } = await as(world, state).post('/api/module/device/authorize');
      Object.assign(state, code === 200 ? { userCode: body.userCode, deviceCode: body.deviceCode } : {});
      return code;
    },
    ends: [200],
    async check(world, state) {
      await as(world, state).post('/api/module/device/verify', { userCode: state.userCode, action: 'approve' });
      assert.equal(await status(as(world, state).post('/api/module/device/token', { deviceCode: state.deviceCode })), 200);
    },
  },
  ...(['approve', 'deny'] as const).map(
    (action): Flow => ({
      name: `${action} a device`,
      prepare: begun,
      act: (world, state) => status(as(world, state).post('/api/module/device/verify', { userCode: state.userCode, action })),
      ends: [200],
      async check(world, state) {
        const { body } = await as(world, state).post('/api/module/device/token', { deviceCode: state.deviceCode });
        assert.equal(body.error, action === 'deny' ? 'access_denied' : undefined);
      },
    }),
  ),
  {
    name: 'fetch the tokens of a device',
    async prepare(world, id) {
      const state = await begun(world, id);
      await as(world, state).post('/api/module/device/verify', { userCode: state.userCode, action: 'approve' });
      return state;
    },
    async act(world, state) {
      const { status: code, body } = await as(world, state).post('/api/module/device/token', { deviceCode: state.deviceCode });
      if (code === 200) state.accessToken = body.accessToken;
      return code;
    },
    ends: [200],
    async check(world, state) {
      assert.equal((await bearer(world, state.accessToken))?.userId, state.userId);
      assert.equal(await devices(world, state), 1);
    },
  },
  {
    name: 'refresh the tokens of a device',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      return { ...state, ...(await deviceOf(world, state)) };
    },
    async act(world, state) {
      const { status: code, body } = await as(world, state).post('/api/module/device/refresh', { refreshToken: state.refreshToken });
      if (code === 200) Object.assign(state, { accessToken: body.accessToken, next: body.refreshToken });
      return code;
    },
    ends: [200],
    async check(world, state) {
      assert.equal((await bearer(world, state.accessToken))?.userId, state.userId);
      assert.equal(await status(as(world, state).post('/api/module/device/refresh', { refreshToken: state.next })), 200);
      assert.equal(await devices(world, state), 1);
    },
  },
  {
    name: 'make a key',
    prepare: signedIn,
    async act(world, state) {
      const { status: code, body } = await as(world, state).post('/api/module/apikeys', { name: 'one' });
      if (code === 200) state.key = body.key;
      return code;
    },
    ends: [200],
    check: async (world, state) => assert.equal((await bearer(world, state.key))?.via, 'api_key'),
  },
  {
    name: 'revoke a key',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      const { id: keyId, key } = (await as(world, state).post('/api/module/apikeys', { name: 'one' })).body;
      return { ...state, keyId, key };
    },
    act: (world, state) => status(as(world, state).ask('DELETE', `/api/module/apikeys/${state.keyId}`)),
    ends: [200, 404],
    check: async (world, state) => assert.equal(await bearer(world, state.key), undefined),
  },
  {
    name: 'ban a user',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      return { ...state, ...(await deviceOf(world, state)) };
    },
    act: (world, state) => done(world.accounts.directory.setBanned(state.userId!, true)),
    ends: [200],
    async check(world, state) {
      assert.deepEqual(
        [await isIn(world, state), await bearer(world, state.accessToken), await devices(world, state)],
        [false, undefined, 0],
      );
      assert.equal(await status(as(world, { ip: state.ip! }).signIn(state.email!)), 403);
    },
  },
  {
    name: 'give a role',
    prepare: signedIn,
    act: (world, state) => done(world.accounts.directory.setRole(state.userId!, 'admin')),
    ends: [200],
    check: async (world, state) => {
      assert.deepEqual((await world.accounts.callerOf(new Headers({ cookie: state.cookie! })))!.roles, ['admin']);
      await world.accounts.directory.setRole(state.userId!, 'user');
    },
  },
  {
    name: 'give another plan',
    async prepare(world, id) {
      const state = await signedIn(world, id);
      await world.accounts.directory.setPlan(state.userId!, 'pro', 'a test');
      return state;
    },
    act: (world, state) => done(world.accounts.directory.setPlan(state.userId!, 'team', 'a test')),
    async again(world, state) {
      assert.ok(['pro', 'team'].includes((await world.accounts.plans.of(state.userId!)).name), 'the old plan or the new one');
      return this.act(world, state);
    },
    ends: [200],
    check: async (world, state) => assert.equal((await world.accounts.plans.of(state.userId!)).name, 'team'),
  },
  {
    name: 'seed an admin at the start',
    prepare: async (_world, id) => ({ email: `${id}@example.com`, ip: ipOf(id) }),
    act: (world, state) =>
      done(world.start({ seed: { admin: { email: state.email, password: 'a password for root 1' } } }).then((started) => started.close())),
    async again(world, state) {
      await letAge(world, state);
      return this.act(world, state);
    },
    ends: [200],
    check: async (world, state) => {
      const visitor = as(world, state);
      assert.equal(await status(visitor.signIn(state.email!, 'a password for root 1')), 200);
      assert.equal(await status(visitor.get('/admin/data/overview')), 200);
      await world.database.tables.updateTable('user').set({ role: 'user' }).where('email', '=', state.email!).execute();
    },
  },
  {
    name: 'make the tables at the start',
    async prepare(world, id) {
      emptyDatabases.set(id, await world.empty());
      return { id };
    },
    act: (world, { id }) => done(world.start({}, emptyDatabases.get(id!)).then((started) => started.close())),
    async again(world, state) {
      const ready = emptyDatabases.get(state.id!)!;
      const database = await openDatabase({ adapter: ready.fields.adapter, url: ready.fields.url ?? '', autoMigrate: true }, ready.d1);
      // The lock of a server that was killed counts for 20 s; here they are over.
      await database.tables
        .deleteFrom('accounts_lock')
        .execute()
        .catch(() => {});
      await database.close();
      return this.act(world, state);
    },
    ends: [200],
    async check(world, { id }) {
      const started = await world.start({}, emptyDatabases.get(id!));
      const visitor = new Visitor(started);
      assert.equal(await status(visitor.signUp('ann@example.com')), 200);
      assert.equal(await status(visitor.signIn('ann@example.com')), 200);
      await started.close();
    },
  },
  {
    name: 'forget what is over at the start',
    async prepare(world, id) {
      const { tables } = world.database;
      await tables
        .insertInto('accounts_tracked')
        .values({ name: `old ${id}`, meter: 'calls', count: 1, at: 1 })
        .execute();
      await tables
        .insertInto('accounts_attempt')
        .values({ key: `old ${id}`, count: 1, started: 1 })
        .execute();
      return { id };
    },
    act: (world) => done(world.start().then((started) => started.close())),
    ends: [200],
    async check(world) {
      assert.deepEqual(await world.database.tables.selectFrom('accounts_tracked').select('name').where('at', '=', 1).execute(), []);
    },
  },
];
