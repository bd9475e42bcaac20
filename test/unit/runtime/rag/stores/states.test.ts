import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { StateMachine, type Transition } from '../../../../../runtime/base/state-machine.js';
import { BackgroundWork } from '../../../../../runtime/rag/stores/native/pacing.js';
import { COLLECTION_TRANSITIONS, INDEX_TRANSITIONS } from '../../../../../runtime/rag/stores/native/states.js';
import { Failure } from '../../../../../schemas/errors.js';
import { chunk, chunks, find, NEVER, open } from './fixture.js';

setLogLevel('error');

/** Every pair of a state and an event that leads on, with the states that it leads to. */
const LISTED = {
  collection: [
    'open: add adding, failed unsure, close closed',
    'adding: added open, failed unsure, close closing',
    'unsure: read open, close closed-unsure',
    'closing: added closed, failed closed-unsure',
    'closed: failed closed-unsure',
    'closed-unsure: read closed',
  ],
  indexes: [
    'unopened: open opening, empty empty, rebuild stale, close closed',
    'empty: open opening, close closed',
    'opening: opened following, failed unopened, rebuild stale',
    'following: remove removing, rebuild stale, empty empty, close closed',
    'removing: removed following, failed stale, rebuild stale',
    'stale: open rebuilding, empty empty, close closed',
    'rebuilding: opened following, failed stale',
    'closed:',
  ],
};

/** Tries every event in every state, and writes down those that lead on, in the form of `LISTED`. */
function walked(transitions: readonly Transition<string, string>[]): string[] {
  const states = [...new Set(transitions.flatMap(([from, , to]) => [from, to]))];
  const events = [...new Set(transitions.map(([, event]) => event))];
  return states.map((state) => {
    const ways = events.flatMap((event) => {
      const told: string[] = [];
      const machine = new StateMachine(transitions, state, (next) => told.push(next));
      if (machine.on(event)) {
        assert.deepEqual(told, [machine.state]);
        return [`${event} ${machine.state}`];
      }
      assert.deepEqual([machine.state, told], [state, []]);
      return [];
    });
    return [`${state}:`, ways.toSorted().join(', ')].join(' ').trim();
  });
}

const inOrder = (listed: readonly string[]): string[] =>
  listed
    .map((line) => {
      const [state, ways = ''] = line.split(':');
      return `${state}: ${ways.trim().split(', ').toSorted().join(', ')}`.trim();
    })
    .toSorted();

describe('states of a native store', () => {
  const root = mkdtempSync(join(tmpdir(), 'quern-states-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  it('has the transitions that are listed, and no other', () => {
    assert.deepEqual(walked(COLLECTION_TRANSITIONS).toSorted(), inOrder(LISTED.collection));
    assert.deepEqual(walked(INDEX_TRANSITIONS).toSorted(), inOrder(LISTED.indexes));
  });

  it('makes the indexes anew when that is asked for while their files are being loaded', async () => {
    const dir = mkdtempSync(join(root, 'a-'));
    const first = await open(dir);
    await first.store.add(chunks('a', 0, 1_200), NEVER);
    await find(first.store, 1);
    await first.close();
    const files = readdirSync(first.folder).map((name) => join(first.folder, name));
    assert.equal(files.length, 2);
    for (const file of files) utimesSync(file, 1, 1);
    const opened = await open(dir);
    assert.deepEqual(await opened.store.reindex(), { chunks: 1_200 });
    for (const untilMs = Date.now() + 120_000; files.some((file) => statSync(file).mtimeMs === 1_000); await sleep(20))
      assert.ok(Date.now() < untilMs, 'the files were not written anew');
    assert.deepEqual(await find(opened.store, 700), { dense: [chunk('a', 700).id], lexical: [chunk('a', 700).id] });
    await opened.close();
  });

  it('indexes what is added after a drop that was stored but not confirmed', async () => {
    const opened = await open(mkdtempSync(join(root, 'b-')));
    const { state, store } = opened;
    await store.add(chunks('a', 0, 20), NEVER);
    await find(store, 1);
    const write = state.write.bind(state);
    state.write = async (fill) => {
      state.write = write;
      await write(fill);
      throw new Failure('unavailable', 'not confirmed');
    };
    await assert.rejects(store.drop(), /not confirmed/);
    await find(store, 1);
    await store.add(chunks('b', 30, 35), NEVER);
    assert.deepEqual(await find(store, 32), { dense: [chunk('b', 32).id], lexical: [chunk('b', 32).id] });
    assert.equal((await store.stats()).chunks, 5);
    await opened.close();
  });

  it('refuses a wait for indexes that were closed', async () => {
    const opened = await open(mkdtempSync(join(root, 'c-')));
    await opened.store.add(chunks('a', 0, 3), NEVER);
    await opened.close();
    await assert.rejects(opened.store.reindex(), { kind: 'unavailable' });
  });
});

describe('work in the background', () => {
  it('does what is asked for during its last piece, tells failures, and ends when it is stopped', async () => {
    const seen: string[] = [];
    let left = 2;
    const work: BackgroundWork = new BackgroundWork(
      async () => {
        seen.push(`piece ${left}`);
        left -= 1;
        if (left === 0 && seen.length === 2) work.start();
        if (left < 0) throw new Error('nothing was left');
        return left > 0;
      },
      (error) => seen.push((error as Error).message),
    );
    work.start();
    await work.ended();
    assert.deepEqual(seen, ['piece 2', 'piece 1', 'piece 0', 'nothing was left']);
    await work.stop();
    work.start();
    await work.ended();
    assert.equal(seen.length, 4);
  });
});
