import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { MemoryRecord, MemoryStore, NewMemory } from '../../../../runtime/memory/contract.js';
import { exportLines } from '../../../../runtime/memory/transfer.js';
import { ALL_KINDS, type MemoryStage, openMemoryStage } from '../../../support/memory/store-stage.js';
import { randomOf } from '../../../support/retrieval-corpus.js';

setLogLevel('error');
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const text = (data: unknown, more: Partial<NewMemory> = {}): NewMemory => ({ type: 'text', data, ...more });
const dataOf = (records: readonly MemoryRecord[]): unknown[] => records.map(({ data }) => data);

let stage: MemoryStage;
let store: MemoryStore;
beforeEach(async () => {
  stage = await openMemoryStage([{ ...ALL_KINDS, working_memory: { enabled: true, ttl_seconds: 100, max_records: 40 } }]);
  store = await stage.main();
});
afterEach(() => stage.close());

describe('working memory', () => {
  it('keeps the newest for their time, against a list and a loop', async () => {
    const random = randomOf(1);
    let known: { data: number; atMs: number; user: string; session: string }[] = [];
    for (let turn = 0; turn < 60; turn += 1) {
      stage.nowMs += Math.floor(random() * 20) * SECOND_MS;
      const count = Math.floor(random() * 12);
      const add = Array.from({ length: count }, (_none, i) => ({ data: turn * 100 + i, user: `u${i % 2}`, session: `s${i % 3}` }));
      await store.write({ add: add.map(({ data, ...who }) => text(data, { who })) });
      known = [...known, ...add.map((one) => ({ ...one, atMs: stage.nowMs }))].slice(-40);
      if (random() < 0.3) await store.prune();
      const alive = known.filter(({ atMs }) => atMs > stage.nowMs - 100 * SECOND_MS).reverse();
      assert.deepEqual(
        dataOf(await store.working!.newest({ limit: 1_000 })),
        alive.map(({ data }) => data),
      );
      const ofUser = alive.filter(({ user }) => user === 'u1').slice(0, 5);
      assert.deepEqual(
        dataOf(await store.working!.newest({ user: 'u1', limit: 5 })),
        ofUser.map(({ data }) => data),
      );
      const ofSession = alive.filter(({ session, user }) => session === 's0' && user === 'u0');
      assert.deepEqual(
        dataOf(await store.working!.newest({ session: 's0', user: 'u0' })),
        ofSession.map(({ data }) => data),
      );
      assert.ok((store.counts().kinds.working_memory ?? 0) <= 40);
    }
  });

  it('does not keep for ever what came while the clock was ahead', async () => {
    stage.nowMs += 400 * DAY_MS;
    await store.write({ add: [text('from the future')] });
    stage.nowMs -= 400 * DAY_MS;
    await store.write({ add: [text('now')] });
    assert.deepEqual(dataOf(await store.working!.newest({})), ['now', 'from the future']);
    await store.prune();
    stage.nowMs += 101 * SECOND_MS;
    assert.deepEqual(dataOf(await store.working!.newest({})), []);
    await store.prune();
    assert.equal(store.counts().kinds.working_memory, 0);
  });

  it('takes a cap that is lowered, and more records at once than it keeps', async () => {
    await store.write({ add: Array.from({ length: 40 }, (_none, i) => text(i)) });
    stage.stores = [{ ...ALL_KINDS, working_memory: { enabled: true, ttl_seconds: 100, max_records: 3 } }];
    store = await stage.main();
    await store.prune();
    assert.deepEqual(dataOf(await store.working!.newest({})), [39, 38, 37]);
    await store.write({ add: Array.from({ length: 9 }, (_none, i) => text(`b${i}`)) });
    assert.deepEqual(dataOf(await store.working!.newest({})), ['b8', 'b7', 'b6']);
  });
});

describe('what is shown', () => {
  it('is what a kind that is turned on keeps still, in lists and in an export', async () => {
    const shown = async (): Promise<unknown[]> => {
      const pieces: string[] = [];
      for await (const piece of exportLines(store)) pieces.push(Buffer.from(piece).toString());
      const lines = pieces.join('').split('\n').filter(Boolean);
      const listed = dataOf(await store.newest({ limit: 1_000 })).reverse();
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { data: unknown }).data),
        listed,
      );
      return listed;
    };
    const { working_memory: working, graph } = ALL_KINDS;
    stage.stores = [{ name: 'main', working_memory: { ...working, ttl_seconds: 100 }, graph }];
    store = await stage.main();
    await store.write({ add: [text('said'), { type: 'node', data: { name: 'Ann' }, node: { name: 'Ann' } }] });
    assert.deepEqual(await shown(), ['said', { name: 'Ann' }]);
    stage.stores = [{ name: 'main', working_memory: { ...working, ttl_seconds: 100, enabled: false }, graph }];
    store = await stage.main();
    assert.deepEqual(await shown(), [{ name: 'Ann' }]);
    stage.stores = [{ name: 'main', working_memory: { ...working, ttl_seconds: 100 }, graph }];
    store = await stage.main();
    assert.deepEqual(await shown(), ['said', { name: 'Ann' }]);
    stage.nowMs += 101 * SECOND_MS;
    assert.deepEqual(await shown(), [{ name: 'Ann' }]);
  });

  it('has no numbers that JSON cannot tell', async () => {
    for (const data of ['1e400', '[{"a": -1e999}]'])
      await assert.rejects(store.write({ add: [text(JSON.parse(data))] }), { kind: 'invalid' });
    await assert.rejects(store.write({ add: [text(1, { metadata: { a: Number.POSITIVE_INFINITY } })] }), /metadata.*1\.8e308/);
  });
});

describe('time series', () => {
  it('reads ranges and buckets, against a list and a loop', async () => {
    const random = randomOf(2);
    const values: { series: string; timeMs: number; value: unknown }[] = [];
    for (let i = 0; i < 900; i += 1) {
      const roll = random();
      const value = roll < 0.8 ? random() * 100 - 50 : roll < 0.9 ? `text ${i}` : { a: i, b: 'x' };
      // Two points of one time would come in the order of their arrival.
      values.push({ series: `s${i % 3}`, timeMs: stage.nowMs - Math.floor(random() * 20 * DAY_MS) - i / 1_000, value });
    }
    for (const one of values) one.timeMs = Math.round(one.timeMs);
    await store.write({ add: values.map(({ series, timeMs, value }) => ({ type: 'telemetry', data: value, series, timeMs })) });
    assert.deepEqual(await store.series!.names(), ['s0', 's1', 's2']);
    for (let i = 0; i < 40; i += 1) {
      const series = `s${i % 3}`;
      const fromMs = stage.nowMs - Math.floor(random() * 20 * DAY_MS);
      const toMs = fromMs + Math.floor(random() * 10 * DAY_MS);
      const field = i % 5 === 0 ? 'a' : undefined;
      const inRange = values
        .filter((one) => one.series === series && one.timeMs >= fromMs && one.timeMs <= toMs)
        .sort((a, b) => a.timeMs - b.timeMs);
      const found = await store.series!.range(series, { fromMs, toMs, limit: 1_000 }, i % 2 === 1);
      const wanted = inRange.map(({ value }) => value);
      assert.deepEqual(dataOf(found), i % 2 === 1 ? wanted.reverse() : wanted);
      const every = 7 * 3_600_000;
      const buckets = await store.series!.downsample(series, every, field, { fromMs, toMs });
      const grouped = new Map<number, unknown[]>();
      for (const { timeMs, value } of inRange) {
        const one = field === undefined ? value : (value as Record<string, unknown>)[field];
        if (one === undefined || (field !== undefined && typeof value !== 'object')) continue;
        const at = Math.floor(timeMs / every) * every;
        grouped.set(at, [...(grouped.get(at) ?? []), one]);
      }
      assert.deepEqual(
        buckets.map((one) => one.fromMs),
        [...grouped.keys()],
      );
      for (const bucket of buckets) {
        const all = grouped.get(bucket.fromMs)!;
        const numbers = all.filter((one) => typeof one === 'number');
        assert.deepEqual([bucket.count, bucket.first, bucket.last], [all.length, all[0], all.at(-1)]);
        const sum = numbers.reduce((one, two) => one + two, 0);
        assert.deepEqual([bucket.min, bucket.max], numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [null, null]);
        assert.ok(
          numbers.length ? Math.abs(bucket.sum! - sum) < 1e-9 && Math.abs(bucket.mean! - sum / numbers.length) < 1e-9 : bucket.sum === null,
        );
      }
    }
  });

  it('lets go of points by their own time', async () => {
    await store.write({ add: [1, 10, 20].map((days) => text(days, { timeMs: stage.nowMs - days * DAY_MS })) });
    stage.nowMs += 15 * DAY_MS;
    assert.deepEqual(dataOf(await store.series!.range('default', {})), [10, 1]);
    assert.equal(await store.prune(), 4);
    assert.deepEqual([store.counts().records, store.counts().kinds.timeseries], [2, 2]);
  });

  it('adds up exactly, and refuses too many buckets by name', async () => {
    await store.write({ add: [1e16, 1, -1e16].map((value, i) => text(value, { timeMs: stage.nowMs - 10 + i })) });
    const [bucket] = await store.series!.downsample('default', DAY_MS, undefined, {});
    assert.equal(bucket!.sum, 1);
    for (let i = 0; i < 11; i += 1)
      await store.write({
        add: Array.from({ length: 1_000 }, (_none, at) => text(1, { series: 'many', timeMs: stage.nowMs - (i * 1_000 + at) * 10 })),
      });
    await assert.rejects(store.series!.downsample('many', 1, undefined, {}), { kind: 'too_large', message: /many.*10000 buckets of 1 ms/ });
  });
});

describe('a memory store', () => {
  it('is the same after a restart', async () => {
    await store.write({
      add: [text('a', { place: { lat: 1, lon: 1 }, hash: 'h' }), { type: 'node', data: 'N', node: { name: 'N' } }],
      notes: { cursor: { at: 7 } },
    });
    const before = [store.counts(), store.withHash('h'), store.note('cursor')];
    stage = await stage.restart();
    store = await stage.main();
    assert.deepEqual([store.counts(), store.withHash('h'), store.note('cursor')], before);
    assert.equal((await store.places!.nearest({ lat: 0, lon: 0 }, {})).length, 1);
    const [next] = await store.write({ add: [text('b')] });
    assert.equal(next!.seq, 3);
  });

  it('makes a change whole or not at all, and those beside it', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const outcomes = await Promise.allSettled([
      store.write({ add: [text('first', { id })] }),
      store.write({ add: [text('second'), text('third', { id })], notes: { never: 1 } }),
      store.write({ add: [text('fourth'), text('fifth', { place: { lat: 91, lon: 0 } })] }),
      store.write({ add: [text('sixth')] }),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(dataOf(await store.newest({})), ['sixth', 'first']);
    assert.equal(store.note('never'), undefined);
  });

  it('refuses what is out of range, by name', async () => {
    const refused: [NewMemory, RegExp][] = [
      [text(1, { timeMs: Number.NaN }), /timestamp/],
      [text(1, { timeMs: Number.POSITIVE_INFINITY }), /timestamp/],
      [text(1, { place: { lat: Number.NaN, lon: 0 } }), /latitude/],
      [text(1, { place: { lat: 0, lon: 180.0001 } }), /longitude/],
      [text(1, { tags: Array.from({ length: 33 }, () => 'x') }), /tags/],
      [{ type: 'edge', data: 1, edge: { from: 'a', to: 'b', relation: 'r', weight: Number.NaN } }, /weight/],
      [text(undefined), /data/],
    ];
    for (const [memory, message] of refused) await assert.rejects(store.write({ add: [memory] }), { kind: 'invalid', message });
    await assert.rejects(store.write({ add: [text('x'.repeat(2 ** 18))] }), { kind: 'too_large', code: 'RecordTooLarge' });
    await assert.rejects(store.write({ add: Array.from({ length: 1_001 }, () => text(1)) }), { kind: 'too_large' });
    assert.equal(store.counts().records, 0);
  });

  it('takes back what a process left half added', async () => {
    await store.write({ add: [text('before')] });
    const endless = async function* (): AsyncGenerator<NewMemory[]> {
      yield [text('one'), text('two')];
      await store.write({ add: [text('between')] });
      // The process ends here: nobody takes anything back.
      await new Promise(() => undefined);
    };
    void store.addTogether(4, endless());
    while (store.counts().records < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    stage = await stage.restart();
    store = await stage.main();
    assert.deepEqual(dataOf(await store.newest({})), ['between', 'before']);
    assert.deepEqual(store.counts().kinds, { working_memory: 2, timeseries: 2 });
  });

  it('takes back what it added when a later batch fails', async () => {
    const failing = async function* (): AsyncGenerator<NewMemory[]> {
      yield [text('one')];
      throw new Error('the file is gone');
    };
    await assert.rejects(store.addTogether(2, failing()), /the file is gone/);
    assert.equal(store.counts().records, 0);
  });

  it('starts empty after it was cleared, and what is cleared leaves the disk', async () => {
    await store.write({ add: [text('a'), text('b')], notes: { n: 1 } });
    await store.clear('all');
    await store.write({ add: [text('c')] });
    assert.deepEqual([dataOf(await store.newest({})), store.note('n')], [['c'], undefined]);
    await stage.memories.tidy();
    assert.equal(stage.state.memories.keys({ limit: 10 }).length, 1);
    assert.equal(stage.state.memoryTrash.keys({ limit: 1 }).length, 0);
  });

  it('makes its indexes anew when the state file was damaged and repaired', async () => {
    const user = 'canary-of-an-index';
    await store.write({ add: Array.from({ length: 60 }, (_none, i) => text(`${i} ${'x'.repeat(90)}`, { who: { user } })) });
    const before = store.counts();
    const file = join(stage.dataDir, 'state/data.mdb');
    await stage.memories.close();
    await stage.state.close();
    const bytes = readFileSync(file);
    let changed = 0;
    for (let at = bytes.indexOf(user); at >= 0; at = bytes.indexOf(user, at + 1)) {
      // In a record it stands in quotes; what is in none is a key of the index.
      if (bytes[at - 1] === 0x22 || changed >= 10) continue;
      bytes[at + 3]! ^= 1;
      changed += 1;
    }
    assert.equal(changed, 10);
    writeFileSync(file, bytes);
    const dataDir = stage.dataDir;
    stage = await openMemoryStage(stage.stores, dataDir, stage.nowMs, true);
    store = await stage.main();
    assert.equal(stage.state.health().status, 'degraded');
    assert.equal((await store.working!.newest({ user, limit: 100 })).length, 40);
    assert.deepEqual(store.counts(), before);
    await store.forget({ user });
    assert.equal(store.counts().records, 0);
  });

  it('leaves nothing of a project that is deleted', async () => {
    await store.write({ add: [text('a', { who: { user: 'u' } })], notes: { n: 1 } });
    await stage.memories.erase('ns', 'p');
    await stage.memories.tidy();
    for (const table of ['memories', 'memoryLines', 'memoryNotes', 'memoryTrash', 'memoryStores'] as const)
      assert.deepEqual(stage.state[table].keys({ limit: 10 }), [], table);
    store = await stage.main();
    assert.equal(store.counts().records, 0);
  });

  it('forgets a user so that no file has a byte of it, copies of the state store included', async () => {
    const canary = 'canary-of-a-user-77c1';
    const holders = (): string[] =>
      readdirSync(stage.dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(canary))
        .map(({ name }) => name);
    const who = { user: canary };
    for (let i = 0; i < 40; i += 1) {
      const data = { said: `${canary} ${i} ${'x'.repeat(i * 300)}` };
      await store.write({
        add: [
          text(data, { who, series: canary, place: { lat: i, lon: i }, tags: [canary] }),
          text(`of another ${i}`, { who: { user: 'other' } }),
        ],
      });
      await store.write({ add: [{ type: 'edge', data: 1, who, edge: { from: canary, to: `n${i}`, relation: 'r', weight: 1 } }] });
    }
    await stage.state.backup();
    assert.equal(holders().length, 2);
    assert.equal(await store.forget(who), 80);
    assert.deepEqual(holders(), []);
    assert.equal((await store.working!.newest({ user: 'other', limit: 100 })).length, 20);
    assert.equal((await store.newest({ limit: 100 })).length, 40);
  });

  it('has no byte of a cleared store on the disk when somebody is forgotten, or a minute later', async () => {
    const canary = 'canary-of-a-cleared-store-5e0d';
    const isThere = (): boolean => readFileSync(join(stage.dataDir, 'state/data.mdb')).includes(canary);
    for (const end of [() => store.forget({ user: 'nobody' }), () => store.scrub(), () => stage.memories.tidy()]) {
      await store.write({ add: Array.from({ length: 30 }, (_none, i) => text(`${canary} ${i} ${'x'.repeat(i * 300)}`)) });
      await store.clear('all');
      assert.ok(isThere());
      await end();
      assert.ok(!isThere(), String(end));
      assert.deepEqual(stage.state.memoryTrash.keys({ limit: 1 }), []);
    }
  });

  it('names the stores that the project file has no more, which can be forgotten', async () => {
    await store.write({ add: [text('a', { who: { user: 'ann' } }), text('b', { who: { user: 'bob' } })] });
    assert.deepEqual(await stage.memories.dropped('ns', 'p'), []);
    stage.stores = [{ ...ALL_KINDS, name: 'other' }];
    const [dropped] = await stage.memories.dropped('ns', 'p');
    assert.equal(await dropped!.forget({ user: 'ann' }), 1);
    stage.stores = [ALL_KINDS];
    assert.deepEqual(dataOf(await (await stage.main()).newest({})), ['b']);
  });

  it('forgets a user, or one session of a user', async () => {
    const who = [{ user: 'a', session: '1' }, { user: 'a', session: '2' }, { user: 'b', session: '1' }, undefined];
    await store.write({ add: who.map((one, i) => text(i, one ? { who: one } : {})) });
    assert.equal(await store.forget({ user: 'a', session: '1' }), 1);
    assert.deepEqual(dataOf(await store.newest({})), [3, 2, 1]);
    assert.equal(await store.forget({ user: 'a' }), 1);
    assert.deepEqual(dataOf(await store.newest({})), [3, 2]);
  });
});
