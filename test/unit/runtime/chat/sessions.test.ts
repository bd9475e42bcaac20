import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Clock } from '../../../../runtime/chat/session.js';
import { Sessions } from '../../../../runtime/chat/sessions.js';
import { openStore, type SessionKey, type Store } from '../../../../runtime/store/store.js';
import type { Message } from '../../../../schemas/generated/common.js';

const MINUTE = 60_000;
const KEY: SessionKey = ['ns', 'p', 'one'];
const folders: string[] = [];

/** Clocks that only move when told to; the wall clock may jump alone. */
class TestClock implements Clock {
  wall = 1_800_000_000_000;
  steady = 5_000;
  wallMs = (): number => this.wall;
  steadyMs = (): number => this.steady;

  pass(ms: number): void {
    this.wall += ms;
    this.steady += ms;
  }
}

interface Stage {
  dir: string;
  clock: TestClock;
  store: Store;
  sessions: Sessions;
}

async function stage(dir = mkdtempSync(join(tmpdir(), 'quern-sessions-')), clock = new TestClock()): Promise<Stage> {
  folders.push(dir);
  const store = await openStore(dir);
  return { dir, clock, store, sessions: new Sessions(store, clock) };
}

async function restarted({ dir, clock, store, sessions }: Stage): Promise<Stage> {
  await sessions.close();
  await store.close();
  // The steady clock of a new process starts anywhere.
  clock.steady = 77;
  return stage(dir, clock);
}

async function closed({ store, sessions }: Stage): Promise<void> {
  await sessions.close();
  await store.close();
}

function exchange(text: string): Message[] {
  return [
    { role: 'user', content: `ask ${text}` },
    { role: 'assistant', content: `answer ${text}` },
  ];
}

/** One whole turn; returns the history that its prompt was made from. */
async function turn(sessions: Sessions, key: SessionKey, text: string, first: Message[] = []): Promise<Message[]> {
  const session = await sessions.use(key);
  try {
    const history = await sessions.history(session);
    await sessions.append(session, exchange(text), first);
    return history;
  } finally {
    sessions.release(session);
  }
}

const contents = (messages: readonly Message[]): unknown[] => messages.map((message) => message.content);

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('chat sessions', () => {
  it('keep their history turn by turn, and over a restart', async () => {
    let now = await stage();
    assert.deepEqual(await turn(now.sessions, KEY, '1'), []);
    assert.deepEqual(contents(await turn(now.sessions, KEY, '2')), ['ask 1', 'answer 1']);
    now = await restarted(now);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask 1', 'answer 1', 'ask 2', 'answer 2']);
    assert.equal((await turn(now.sessions, KEY, '3')).length, 4);
    await turn(now.sessions, ['ns', 'p', 'two'], 'x');
    now = await restarted(now);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask 1', 'answer 1', 'ask 2', 'answer 2', 'ask 3', 'answer 3']);
    assert.deepEqual(contents(await now.sessions.read(['ns', 'p', 'two'])), ['ask x', 'answer x']);
    await closed(now);
  });

  it('are separate per project, and read back tool turns as they were', async () => {
    const now = await stage();
    const call: Message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"ü"}' } }],
    };
    const session = await now.sessions.use(KEY);
    await now.sessions.append(session, [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }, call]);
    await now.sessions.append(session, [
      { role: 'tool', content: '5', tool_call_id: 'c1' },
      { role: 'assistant', content: 'five' },
    ]);
    now.sessions.release(session);
    assert.deepEqual(await now.sessions.read(['ns', 'q', 'one']), []);
    assert.deepEqual(await now.sessions.read(['other', 'p', 'one']), []);
    const after = await restarted(now);
    const messages = await after.sessions.read(KEY);
    assert.deepEqual(messages, [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      call,
      { role: 'tool', content: '5', tool_call_id: 'c1' },
      { role: 'assistant', content: 'five' },
    ]);
    await closed(after);
  });

  it('put the first messages before the first turn only, also when two first turns run at once', async () => {
    const now = await stage();
    const first: Message[] = [{ role: 'user', content: 'example' }];
    await Promise.all([turn(now.sessions, KEY, 'a', first), turn(now.sessions, KEY, 'b', first)]);
    await turn(now.sessions, KEY, 'c', first);
    assert.deepEqual(contents(await now.sessions.read(KEY)).filter((text) => text === 'example').length, 1);
    assert.equal((await now.sessions.read(KEY))[0]?.content, 'example');
    await closed(now);
  });

  it('hold both turns whole when many run at once, in memory as on disk', async () => {
    let now = await stage();
    const names = Array.from({ length: 40 }, (_, index) => `t${index}`);
    await Promise.all(names.map((name) => turn(now.sessions, KEY, name)));
    const inMemory = await now.sessions.read(KEY);
    now = await restarted(now);
    assert.deepEqual(await now.sessions.read(KEY), inMemory);
    const seen = new Set<string>();
    for (let at = 0; at < inMemory.length; at += 2) {
      const name = String(inMemory[at]?.content).slice('ask '.length);
      assert.equal(inMemory[at + 1]?.content, `answer ${name}`);
      seen.add(name);
    }
    assert.deepEqual([...seen].sort(), [...names].sort());
    await closed(now);
  });

  it('read a long history in order while a turn completes', async () => {
    let now = await stage();
    const session = await now.sessions.use(KEY);
    await Promise.all(Array.from({ length: 1_200 }, (_, index) => now.sessions.append(session, exchange(String(index)))));
    now.sessions.release(session);
    now = await restarted(now);
    const used = await now.sessions.use(KEY);
    const [history] = await Promise.all([now.sessions.history(used), now.sessions.append(used, exchange('late'))]);
    now.sessions.release(used);
    assert.equal(history[2398]?.content, 'ask 1199');
    const all = contents(await now.sessions.read(KEY));
    assert.equal(all.length, 2402);
    assert.deepEqual(all.slice(-2), ['ask late', 'answer late']);
    await closed(now);
  });

  it('cost the same for turn 2 and turn 2,000', async () => {
    const now = await stage();
    const { counts } = now.store;
    const costs: { read: number; written: number }[] = [];
    for (let index = 1; index <= 2_000; index += 1) {
      const before = { ...counts };
      await turn(now.sessions, KEY, String(index));
      if (index === 2 || index === 200 || index === 2_000)
        costs.push({ read: counts.read - before.read, written: counts.written - before.written });
    }
    assert.deepEqual(costs, Array(3).fill({ read: 0, written: 2 }));
    await closed(now);
  });

  it('expire after 30 minutes without use, and start empty when used again', async () => {
    const now = await stage();
    await turn(now.sessions, KEY, 'old');
    now.clock.pass(30 * MINUTE - 1);
    assert.equal((await now.sessions.read(KEY)).length, 2);
    assert.equal((await turn(now.sessions, KEY, 'newer')).length, 2);
    now.clock.pass(30 * MINUTE);
    assert.deepEqual(await now.sessions.read(KEY), []);
    assert.deepEqual(await turn(now.sessions, KEY, 'fresh'), []);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask fresh', 'answer fresh']);
    await closed(now);
  });

  it('count the time that the daemon was down', async () => {
    let now = await stage();
    await turn(now.sessions, KEY, 'old');
    now.clock.pass(20 * MINUTE);
    now = await restarted(now);
    assert.equal((await now.sessions.read(KEY)).length, 2);
    now.clock.pass(9 * MINUTE);
    assert.equal((await now.sessions.read(KEY)).length, 2);
    now.clock.pass(1 * MINUTE);
    assert.deepEqual(await now.sessions.read(KEY), []);
    now = await restarted(now);
    assert.deepEqual(await turn(now.sessions, KEY, 'fresh'), []);
    now = await restarted(now);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask fresh', 'answer fresh']);
    await closed(now);
  });

  it('do not expire while a turn is under way', async () => {
    const now = await stage();
    await turn(now.sessions, KEY, '1');
    const session = await now.sessions.use(KEY);
    now.clock.pass(45 * MINUTE);
    assert.equal(await now.sessions.sweep(), 0);
    await now.sessions.append(session, exchange('long'));
    now.sessions.release(session);
    assert.equal((await now.sessions.read(KEY)).length, 4);
    await closed(now);
  });

  it('survive jumps of the wall clock while the daemon runs', async () => {
    const now = await stage();
    await turn(now.sessions, KEY, '1');
    now.clock.wall += 24 * 60 * MINUTE;
    assert.equal(await now.sessions.sweep(), 0);
    assert.equal((await now.sessions.read(KEY)).length, 2);
    await turn(now.sessions, KEY, '2');
    now.clock.wall -= 48 * 60 * MINUTE;
    now.clock.pass(30 * MINUTE);
    assert.deepEqual(await turn(now.sessions, KEY, 'fresh'), []);
    await closed(now);
  });

  it('that carry a time in the future expire 30 minutes after the clock was put right', async () => {
    let now = await stage();
    now.clock.wall += 365 * 24 * 60 * MINUTE;
    await turn(now.sessions, KEY, '1');
    now.clock.wall -= 365 * 24 * 60 * MINUTE;
    now = await restarted(now);
    assert.equal(await now.sessions.sweep(), 0);
    now.clock.pass(30 * MINUTE);
    assert.equal(await now.sessions.sweep(), 1);
    await closed(now);
  });

  it('are swept from disk with all their turns, and only they', async () => {
    const now = await stage();
    for (let index = 0; index < 700; index += 1) await turn(now.sessions, ['ns', 'p', 'old'], String(index));
    await turn(now.sessions, ['ns', 'p', 'old-too'], 'x');
    now.clock.pass(20 * MINUTE);
    await turn(now.sessions, ['ns', 'p', 'young'], 'y');
    now.clock.pass(15 * MINUTE);
    const after = await restarted(now);
    assert.equal(await after.sessions.sweep(), 2);
    assert.deepEqual(after.store.sessions.keys({ limit: 10 }), [['ns', 'p', 'young']]);
    assert.equal(after.store.turns.keys({ limit: 10 }).length, 1);
    assert.deepEqual(after.store.trash.keys({ limit: 10 }), []);
    assert.equal((await after.sessions.read(['ns', 'p', 'young'])).length, 2);
    await closed(after);
  });

  it('are deleted one by one, for good, and can be used again', async () => {
    let now = await stage();
    await turn(now.sessions, KEY, '1');
    await now.sessions.delete(KEY);
    assert.deepEqual(await now.sessions.read(KEY), []);
    assert.deepEqual(await turn(now.sessions, KEY, '2'), []);
    await now.sessions.delete(['ns', 'p', 'never seen']);
    now = await restarted(now);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask 2', 'answer 2']);
    await now.sessions.delete(KEY);
    now = await restarted(now);
    assert.deepEqual(await now.sessions.read(KEY), []);
    await now.sessions.sweep();
    assert.deepEqual(now.store.turns.keys({ limit: 10 }), []);
    await closed(now);
  });

  it('take nothing from a turn that was under way when they were deleted', async () => {
    const now = await stage();
    await turn(now.sessions, KEY, '1');
    const session = await now.sessions.use(KEY);
    await now.sessions.delete(KEY);
    await turn(now.sessions, KEY, 'next life');
    await now.sessions.append(session, exchange('ghost'));
    now.sessions.release(session);
    assert.deepEqual(contents(await now.sessions.read(KEY)), ['ask next life', 'answer next life']);
    await closed(now);
  });

  it('are deleted by project, and counted: neither expired ones nor those of projects with similar names', async () => {
    const now = await stage();
    await turn(now.sessions, ['ns', 'p', 'expired'], 'x');
    now.clock.pass(31 * MINUTE);
    for (let index = 0; index < 300; index += 1) await turn(now.sessions, ['ns', 'p', `s${index}`], 'x');
    for (const project of ['p.q', 'p-q', 'p0', 'o']) await turn(now.sessions, ['ns', project, 's1'], 'kept');
    await turn(now.sessions, ['ns.x', 'p', 's1'], 'kept');
    assert.equal(await now.sessions.deleteAll('ns', 'p'), 300);
    assert.equal(await now.sessions.deleteAll('ns', 'p'), 0);
    const after = await restarted(now);
    assert.equal(after.store.sessions.keys({ limit: 1000 }).length, 5);
    assert.deepEqual(await after.sessions.read(['ns', 'p', 's7']), []);
    assert.equal((await after.sessions.read(['ns', 'p.q', 's1'])).length, 2);
    assert.equal(await after.sessions.deleteAll('ns', 'p.q'), 1);
    await closed(after);
  });

  it('never share a number after restarts, deletions and sweeps', async () => {
    let now = await stage();
    await turn(now.sessions, ['ns', 'p', 'a'], 'a');
    await turn(now.sessions, ['ns', 'p', 'b'], 'b');
    await now.sessions.delete(['ns', 'p', 'b']);
    await now.sessions.sweep();
    now = await restarted(now);
    await turn(now.sessions, ['ns', 'p', 'c'], 'c');
    assert.deepEqual(contents(await now.sessions.read(['ns', 'p', 'a'])), ['ask a', 'answer a']);
    assert.deepEqual(contents(await now.sessions.read(['ns', 'p', 'c'])), ['ask c', 'answer c']);
    await closed(now);
  });
});
