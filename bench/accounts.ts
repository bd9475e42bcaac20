import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Accounts, createAccounts } from '../accounts/accounts.js';
import { DATABASE_SERVERS, endDatabaseServers, optionsFor } from '../test/support/accounts/database-servers.js';
import { StripeStandIn } from '../test/support/accounts/stripe-stand-in.js';
import { member, PASSWORD } from '../test/support/accounts/visitor.js';
import { storm } from '../test/support/accounts/webhook-storm.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import { answers, ask, ended, type LoopDelay, quern, type Row, table } from './measure.js';
import { QUICK, sizeOf } from './size.js';

const CHECKS = sizeOf('BENCH_CHECKS', 5_000, 500);
const USES = sizeOf('BENCH_USES', 2_000, 200);
const AT_ONCE = 32;
const SIGN_INS = sizeOf('BENCH_SIGN_INS', 60, 10);
const EVENTS = sizeOf('BENCH_EVENTS', 1_000, 100);
const STORMS = sizeOf('BENCH_STORMS', 300, 10);
const STORM_EVENTS = 20;

const row = (what: string, ours: string, goal = ''): Row => ({ what, ours, peer: '', ratio: '', goal });

/** The milliseconds that one call takes on average, after calls that warm it up. */
async function each(count: number, work: () => Promise<unknown>): Promise<number> {
  for (let index = 0; index < count / 10; index++) await work();
  const began = performance.now();
  for (let index = 0; index < count; index++) await work();
  return (performance.now() - began) / count;
}

/** What a session check, sign-ins beside a chat, meters on each database and storms of events cost. */
export async function benchAccounts(): Promise<void> {
  const rows: Row[] = [];
  for (const server of DATABASE_SERVERS) {
    if (server.missing) {
      rows.push(row(`${server.name}: ${server.missing}`, ''));
      continue;
    }
    const accounts = await createAccounts(optionsFor(await server.open(), { config: { meters: { calls: {} } } }));
    const visitor = await member(accounts, 'ann@example.com');
    if (server.name === 'sqlite') rows.push(...(await checks(accounts, visitor.cookie)));
    const { userId } = (await accounts.callerOf(new Headers({ cookie: visitor.cookie })))!;
    rows.push(row(`${server.name}: tracked uses a second, ${AT_ONCE} at once: unnamed / named`, await tracked(accounts, userId)));
    await accounts.close();
  }
  await endDatabaseServers();
  rows.push(...(await signIns()), ...(await storms()));
  table('Accounts', rows);
}

async function checks(accounts: Accounts, cookie: string): Promise<Row[]> {
  const headers = new Headers({ cookie });
  const request = (): Request => new Request('http://localhost:3000/api/auth/get-session', { headers });
  const ms = (value: number): string => value.toFixed(3);
  return [
    row('session check while it is believed, ms', ms(await each(CHECKS, () => accounts.identify(headers))), '<= 0.1'),
    row('session check by the database (SQLite), ms', ms(await each(CHECKS / 5, () => accounts.callerOf(headers)))),
    row('get-session by better-auth, ms', ms(await each(CHECKS / 10, () => accounts.handle(request(), { ip: '203.0.113.7' })))),
  ];
}

async function tracked(accounts: Accounts, userId: string): Promise<string> {
  const rate = async (named: boolean): Promise<string> => {
    let next = 0;
    const one = async (): Promise<void> => {
      while (next < USES) {
        next += 1;
        await accounts.meters.track(userId, 'calls', 1, named ? { idempotencyKey: `use ${next}` } : {});
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    return ((USES * 1000) / (performance.now() - began)).toFixed(0);
  };
  return `${await rate(false)} / ${await rate(true)}`;
}

/** Sign-ins over HTTP at a daemon that streams a chat meanwhile. */
async function signIns(): Promise<Row[]> {
  const [port, runtimePort] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-accounts-'));
  const file = join(folder, 'module.yaml');
  writeFileSync(file, 'app: { name: Bench, id: bench }\nauth: { trusted_proxies: ["127.0.0.1"] }\n');
  const base = `http://127.0.0.1:${port}`;
  Object.assign(process.env, { QUERN_ACCOUNTS: file, AUTH_URL: base, AUTH_SECRET: 'a secret of a bench, 40 characters long!' });
  const daemon = quern('start', port, emptyDataDir(), true, runtimePort);
  try {
    await answers(`${base}/api/auth/ok`);
    let address = 0;
    const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.7.${address >> 8}.${address++ & 255}`, ...headers },
        body: JSON.stringify(body),
      });
    await post('/api/auth/sign-up/email', { email: 'ann@example.com', password: PASSWORD, name: 'Ann' });
    const { token } = (await (await post('/api/auth/sign-in/email', { email: 'ann@example.com', password: PASSWORD })).json()) as {
      token: string;
    };
    let isOver = false;
    let words = 0;
    const chat = async (): Promise<void> => {
      const asked = { model: benchPath(), messages: [{ role: 'user', content: 'Tell me of the sea.' }], max_tokens: 64, stream: true };
      while (!isOver) {
        const answer = await fetch(`http://127.0.0.1:${runtimePort}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify(asked),
        });
        if (!answer.ok) throw new Error(`the chat was answered with ${answer.status}: ${await answer.text()}`);
        words += (await answer.text()).split('data: ').length;
      }
    };
    const chatting = chat();
    while (words === 0) await Promise.race([chatting, new Promise((resolve) => setTimeout(resolve, 20))]);
    await ask(daemon, { probe: 'reset' });
    const began = performance.now();
    let next = 0;
    const one = async (): Promise<void> => {
      while (next++ < SIGN_INS) {
        const { status } = await post('/api/auth/sign-in/email', { email: 'ann@example.com', password: PASSWORD });
        if (status !== 200) throw new Error(`a sign-in was answered with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, one));
    const seconds = (performance.now() - began) / 1000;
    const delay = await ask<LoopDelay>(daemon, { probe: 'read' });
    isOver = true;
    await chatting;
    return [
      row('sign-ins a second over HTTP beside a chat, 4 at once', (SIGN_INS / seconds).toFixed(1)),
      row(
        'event loop of the daemon meanwhile: p99 (max; p99 of its own processor time), ms',
        `${delay.p99Ms.toFixed(2)} (${delay.maxMs.toFixed(0)}; ${delay.ownP99Ms.toFixed(2)})`,
        'p99 <= 5',
      ),
    ];
  } finally {
    await ended(daemon);
    for (const name of ['QUERN_ACCOUNTS', 'AUTH_URL', 'AUTH_SECRET']) delete process.env[name];
    rmSync(folder, { recursive: true, force: true });
  }
}

async function storms(): Promise<Row[]> {
  const standIn = await StripeStandIn.start();
  const sqlite = await DATABASE_SERVERS[0]!.open();
  const large = await storm(sqlite, standIn, { events: EVENTS, payers: QUICK ? 5 : 20 });
  let wrong = 0;
  let events = 0;
  for (let index = 0; index < STORMS; index++) {
    const small = await storm(sqlite, standIn, { events: STORM_EVENTS, payers: 1 });
    wrong += small.wrong.length;
    events += small.delivered;
  }
  standIn.close();
  await endDatabaseServers();
  return [
    row(
      `${large.delivered} events in random order with repeats, 8 at once: events a second; wrong ends of ${large.payers}`,
      `${large.perSecond.toFixed(0)}; ${large.wrong.length}`,
      '0 wrong',
    ),
    row(`wrong ends in ${STORMS} interleavings (${events} events)`, String(wrong), '0'),
  ];
}
