import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { createClient } from '@libsql/client';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { NoAnswer, watchedDialect } from '../../accounts/database/watched-dialect.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { everyRoute } from '../support/accounts/every-route.js';
import { signedIn } from '../support/accounts/faults/identity-flows.js';
import { inWorld } from '../support/accounts/faults/in-world.js';
import { visitorOf } from '../support/accounts/faults/world.js';
import { member, Visitor } from '../support/accounts/visitor.js';

const HOUR_MS = 3600 * 1000;
/** For how long another process holds the database. */
const LOCKED_MS = 600;
/** What needs no database: constant texts, and how the caller is looked at before anything else. */
const WITHOUT = new Set(['GET /api/module/config', 'GET /api/module/device/script.js', 'GET /admin/script.js', 'POST /api/module/webhook']);

describe('accounts whose database', () => {
  const { made } = inWorld(DATABASE_SERVERS[0]!);

  it('is gone answer 503 with Retry-After everywhere, and go on when it is back', async () => {
    const { world, cuts } = made();
    const state = await signedIn(world, 'user9001');
    const wrong: string[] = [];
    let address = 0;
    for (const { method, path, body } of everyRoute(world.accounts.settings)) {
      const name = `${method} ${path}`;
      if (WITHOUT.has(name)) continue;
      const visitor = visitorOf(world.accounts, { ...state, ip: `10.8.0.${address++}` });
      const asked = await cuts.at({ step: 1, when: 'before', how: 'from there on' }, () =>
        visitor.ask(method, path.replace(/:\w+/, 'x'), body),
      );
      const { status, headers, body: said } = asked as Awaited<ReturnType<Visitor['ask']>>;
      if (status !== 503 || Number(headers.get('retry-after')) < 1 || said.error !== 'database_unavailable')
        wrong.push(`${name}: ${status} ${JSON.stringify(said).slice(0, 100)}`);
    }
    assert.deepEqual(wrong, []);
    assert.equal((await visitorOf(world.accounts, state).get('/api/module/usage')).status, 200);
  });

  it('is written by another process wait for it, and hold the event loop for nobody', async () => {
    const { world } = made();
    const state = await signedIn(world, 'user9002');
    const other = createClient({ url: `file:${world.accounts.settings.database.url}` });
    const visitor = visitorOf(world.accounts, state);
    let stoodMs = Number.POSITIVE_INFINITY;
    // Other processes may keep this one from a core for a while, hardly each time.
    for (let tries = 1; tries <= 5 && stoodMs >= LOCKED_MS / 2; tries += 1) {
      const lock = await other.transaction('write');
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const tracked = Array.from({ length: 10 }, () => visitor.post('/api/module/usage/track', { meterId: 'calls' }));
      await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
      await lock.rollback();
      assert.deepEqual([...new Set((await Promise.all(tracked)).map(({ status }) => status))], [200]);
      delay.disable();
      stoodMs = delay.max / 1e6;
      assert.equal((await visitor.get('/api/module/usage/calls')).body.used, 10 * tries);
    }
    other.close();
    assert.ok(stoodMs < LOCKED_MS / 2, `the event loop stood for ${stoodMs} ms of ${LOCKED_MS}`);
  });

  it('never answers have their statements given up after ten seconds, and keep the connection until they end', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const events: string[] = [];
    let finish = (): void => {};
    const inner = {
      executeQuery: () => new Promise<never>((_, reject) => (finish = () => reject(new Error('ended')))),
      streamQuery: () => assert.fail(),
    };
    const driver = watchedDialect(
      {
        createDriver: () => ({
          acquireConnection: async () => inner,
          releaseConnection: async () => void events.push('released'),
        }),
      } as never,
      { changed: () => {}, failed: (error) => error, isBusy: () => false },
    ).createDriver();
    const connection = await driver.acquireConnection();
    const asked = assert.rejects(connection.executeQuery({ sql: '', query: { kind: 'RawNode' } } as never), NoAnswer);
    context.mock.timers.tick(10_000);
    await asked;
    await driver.releaseConnection(connection);
    assert.deepEqual(events, []);
    finish();
    await new Promise(setImmediate);
    assert.deepEqual(events, ['released']);
  });

  it('lies on a disk that is full answer 507, lose nothing, and go on when there is room', { skip: tmpfsMissing() }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quern-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
    let accounts: Accounts | undefined;
    try {
      const fields = { adapter: 'sqlite', url: join(folder, 'a.db') } as const;
      accounts = await createAccounts({
        ...optionsFor({ name: 'sqlite', fields }, { config: { meters: { calls: {} } } }),
        print: () => {},
      });
      const ann = await member(accounts, 'ann@example.com');
      const filler = join(folder, 'filler');
      const track = () => ann.post('/api/module/usage/track', { meterId: 'calls' });
      assert.equal((await track()).body.used, 1);
      try {
        writeFileSync(filler, Buffer.alloc(1024 * 1024));
      } catch {}
      const statuses: number[] = [];
      for (let index = 0; index < 200 && statuses.at(-1) !== 507; index++) statuses.push((await track()).status);
      assert.equal(statuses.at(-1), 507);
      const counted = 1 + statuses.filter((status) => status === 200).length;
      assert.equal((await new Visitor(accounts).signIn('ann@example.com')).status, 507);
      rmSync(filler);
      assert.equal((await track()).body.used, counted + 1);
    } finally {
      await accounts?.close();
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    }
  });
});

/** Whether a small file system in memory can be mounted here. */
function tmpfsMissing(): false | string {
  if (process.getuid?.() !== 0 || !existsSync('/bin/mount')) return 'only root can mount a small disk';
  const folder = mkdtempSync(join(tmpdir(), 'quern-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return false;
  } catch {
    return 'this machine mounts no small disk';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('accounts whose clock is set', () => {
  let accounts: Accounts;
  /** It is noon when the tests begin, so that an hour more or less is the same day. */
  const noonMs = new Date().setUTCHours(12, 0, 0, 0) - Date.now();
  let offset = 0;
  before(async () => {
    accounts = await createAccounts(
      optionsFor(await DATABASE_SERVERS[0]!.open(), {
        config: {
          plans: [{ name: 'free' }, { name: 'pro', price: 5 }],
          billing: { provider: 'stripe' },
          meters: { calls: { reset_period: 'day', limits: { free: 5 } } },
        },
        environment: { PAYMENT_SECRET_KEY: 'sk_test' },
        now: () => Date.now() + noonMs + offset,
      }),
    );
  });
  after(() => accounts?.close());
  let addresses = 0;
  const device = async (ann: Visitor) => {
    const { userCode, deviceCode } = (await ann.post('/api/module/device/authorize')).body;
    return { userCode, deviceCode, poll: () => ann.post('/api/module/device/token', { deviceCode }) };
  };

  for (const [what, jump] of Object.entries({
    'an hour on': HOUR_MS,
    'a day on': 24 * HOUR_MS,
    'an hour back': -HOUR_MS,
    'a day back': -24 * HOUR_MS,
  }))
    it(`${what} keep sessions, count in the window of the day, and let devices in`, async () => {
      addresses += 1;
      const ann = await member(accounts, `ann${addresses}@example.com`, `192.0.2.${addresses}`);
      const waiting = await device(ann);
      assert.equal((await waiting.poll()).body.error, 'authorization_pending');
      for (let use = 0; use < 6; use++) await ann.post('/api/module/usage/track', { meterId: 'calls' });
      offset = jump;
      assert.equal((await ann.get('/api/module/subscription/status')).status, 200);
      const isSameDay = Math.abs(jump) === HOUR_MS;
      assert.equal((await ann.post('/api/module/usage/track', { meterId: 'calls' })).status, isSameDay ? 429 : 200);
      assert.equal((await waiting.poll()).body.error, jump > 0 ? 'expired_token' : 'authorization_pending');
      const fresh = await device(ann);
      await ann.post('/api/module/device/verify', { userCode: fresh.userCode, action: 'approve' });
      const { body } = await fresh.poll();
      assert.equal((await accounts.callerOf(new Headers({ authorization: `Bearer ${body.accessToken}` })))?.via, 'device');
      const { refreshToken } = (await ann.post('/api/module/device/refresh', { refreshToken: body.refreshToken })).body;
      offset = 0;
      assert.equal((await ann.post('/api/module/device/refresh', { refreshToken })).status, 200, 'the clock is right again');
      assert.equal(
        (await ann.post('/api/module/device/refresh', { refreshToken: body.refreshToken })).status,
        400,
        'not told apart from a stolen one',
      );
      assert.equal((await ann.post('/api/module/usage/track', { meterId: 'calls' })).status, 429);
    });
});
