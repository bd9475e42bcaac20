import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { NativeVectorIndex, VectorIndexOptions } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-vectors-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const OPTIONS: VectorIndexOptions = { dimensions: 4, metric: 'cosine', storage: 'f16' };

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

/** Calls with anything, as JavaScript can. */
type Loose = Record<string, (...values: unknown[]) => unknown>;

const open = (options: Partial<VectorIndexOptions> = {}): NativeVectorIndex => loadCore().openVectorIndex({ ...OPTIONS, ...options });

/** `count` rows of 4 numbers that all differ in direction. */
const rows = (count: number): Float32Array =>
  Float32Array.from({ length: count * 4 }, (_, i) => Math.sin(1 + Math.floor(i / 4) * (1.3 + (i % 4))));

const ids = (count: number, from = 0): Uint32Array => Uint32Array.from({ length: count }, (_, i) => from + i);

/** Numbers from -1 to 1 without a pattern, the same every time. */
function noise(count: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** An array whose memory went elsewhere. */
function transferred<T extends Float32Array | Uint32Array | Uint8Array>(array: T): T {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
}

test('the core exports what the contract lists, and nothing else', async () => {
  assert.deepEqual(
    Object.keys(loadCore()).filter((name) => /vector/i.test(name)),
    ['openVectorIndex'],
  );
  const index = open();
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(index)).filter((name) => name !== 'constructor');
  assert.deepEqual(methods.sort(), ['add', 'close', 'load', 'remove', 'save', 'search', 'searchMany', 'stats']);
  assert.deepEqual(index.stats(), { rows: 0, deleted: 0, graphRows: 0, bytes: index.stats().bytes });
  await index.close();
});

test('what was added is found, with its score, until it is removed', async () => {
  const index = open({ metric: 'l2', storage: 'f32' });
  await index.add(Uint32Array.of(7, 2, 9), Float32Array.of(0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0));
  const query = Float32Array.of(0, 0, 0, 0);
  const answer = await index.search(query, 10);
  assert.deepEqual(answer, { ids: Uint32Array.of(7, 2, 9), scores: Float32Array.of(-0, -1, -4), plan: 'scan', scanned: 3 });
  const filter = Uint8Array.of(0b1000_0100, 0);
  assert.deepEqual((await index.search(query, 10, { filter })).ids, Uint32Array.of(7, 2));
  assert.deepEqual((await index.search(query, 10, { filter: new Uint8Array() })).ids, new Uint32Array());
  await index.add(Uint32Array.of(9), Float32Array.of(0, 0, 0, 0.5));
  assert.equal(await index.remove(Uint32Array.of(7, 1234)), 1);
  const many = await index.searchMany(Float32Array.of(0, 0, 0, 0, 1, 0, 0, 0), 1);
  assert.deepEqual(
    many.map((one) => [...one.ids]),
    [[9], [2]],
  );
  assert.equal(index.stats().rows, 2);
  await index.close();
});

test('views with an offset are read where they begin, and may change after the call', async () => {
  const index = open({ metric: 'inner_product', storage: 'f32' });
  const memory = Float32Array.of(9, 9, 1, 2, 3, 4, 9);
  const allIds = Uint32Array.of(1, 2, 3);
  const adding = index.add(allIds.subarray(1, 2), memory.subarray(2, 6));
  memory.fill(0);
  allIds.fill(0);
  await adding;
  const query = Float32Array.of(0, 1, 0, 0, 0);
  const searching = index.search(query.subarray(1), 5);
  transferred(query);
  assert.deepEqual({ ...(await searching) }, { ids: Uint32Array.of(2), scores: Float32Array.of(1), plan: 'scan', scanned: 1 });
  await index.close();
});

test('wrong settings are refused with the reason', () => {
  const cases: [object, RegExp][] = [
    [{ dimensions: 0 }, /dimensions must be an integer from 1 to 16384/],
    [{ dimensions: -3 }, /dimensions must be/],
    [{ dimensions: 2.5 }, /dimensions must be/],
    [{ dimensions: 2 ** 31 }, /dimensions must be/],
    [{ dimensions: Number.NaN }, /dimensions must be a finite number/],
    [{ dimensions: '4' }, /dimensions must be a number/],
    [{ metric: 'hamming' }, /metric is 'hamming'; allowed are cosine, inner_product and l2/],
    [{ metric: undefined }, /metric must be a string/],
    [{ storage: 'f64' }, /storage is 'f64'; allowed are f32, f16 and i8/],
    [{ graph: 5 }, /graph must be an object/],
    [{ graph: { connectivity: 3 } }, /connectivity must be an integer from 4 to 128/],
    [{ graph: { effortBuild: 1e9 } }, /effortBuild must be/],
    [{ scanBelow: -1 }, /scanBelow must be/],
  ];
  for (const [options, text] of cases) assert.throws(() => open(options), failure('invalid', text));
  assert.throws(() => (loadCore() as unknown as Loose).openVectorIndex!(), failure('invalid', /options must be an object/));
});

test('wrong arguments are refused with the reason, and the index goes on', async () => {
  const index = open();
  await index.add(ids(3), rows(3));
  const loose = index as unknown as Loose;
  const query = Float32Array.of(1, 0, 0, 0);
  const cases: [string, unknown[], RegExp, string?][] = [
    ['add', [], /ids must be a Uint32Array/],
    ['add', [new Int32Array(1), rows(1)], /ids must be a Uint32Array/],
    ['add', [ids(1), new Float64Array(4)], /vectors must be a Float32Array/],
    ['add', [ids(2), rows(1)], /vectors holds 4 numbers; 2 ids of 4 dimensions need 8/],
    ['add', [ids(1), transferred(rows(1))], /vectors holds 0 numbers/],
    ['add', [transferred(ids(1)), rows(1)], /0 ids/],
    ['add', [ids(1), Float32Array.of(1, Number.NaN, 0, 0)], /Row 0 holds NaN at component 1/],
    ['add', [ids(2), Float32Array.of(1, 0, 0, 0, 0, 0, Number.NEGATIVE_INFINITY, 0)], /Row 1 holds Infinity at component 2/],
    ['add', [ids(1), new Float32Array(4)], /Row 0 has length 0/],
    ['add', [ids(1), new Float32Array(2 ** 18 + 1)], /more than 262144 numbers/, 'too_large'],
    ['remove', [[1]], /ids must be a Uint32Array/],
    ['search', [query.subarray(1), 1], /The query has 3 numbers; this index has 4 dimensions/],
    ['search', [transferred(query.slice()), 1], /The query has 0 numbers/],
    ['search', [new Float32Array(4), 1], /The query has length 0/],
    ['search', [Float32Array.of(Number.NaN, 0, 0, 0), 1], /The query holds NaN/],
    ['search', [query], /k must be a number/],
    ['search', [query, 0], /k must be an integer from 1 to 16384/],
    ['search', [query, -1], /k must be/],
    ['search', [query, 2 ** 31], /k must be/],
    ['search', [query, 1e300], /k must be/],
    ['search', [query, Number.POSITIVE_INFINITY], /k must be a finite number/],
    ['search', [query, 1, null], /options must be an object/],
    ['search', [query, 1, { effort: 0 }], /effort must be/],
    ['search', [query, 1, { filter: [1] }], /filter must be a Uint8Array/],
    ['search', [query, 1, { exact: 1 }], /exact must be true or false/],
    ['searchMany', [new Float32Array(6), 1], /queries holds 6 numbers, no multiple of the 4 dimensions/],
    ['save', [5, 1n], /path must be a string/],
    ['save', ['a\0b', 1n], /path must be a path without a NUL/],
    ['save', [join(folder, 'x'), 1], /generation must be a bigint/],
    ['save', [join(folder, 'x'), -1n], /generation must be a bigint from 0/],
    ['save', [join(folder, 'x'), 2n ** 64n], /generation must be a bigint from 0/],
    ['save', [join(folder, 'missing', 'x'), 1n], /cannot be created/, 'unavailable'],
    ['load', [join(folder, 'x')], /generation must be a bigint/],
  ];
  for (const [method, values, text, kind] of cases)
    await assert.rejects(async () => loose[method]!(...values), failure(kind ?? 'invalid', text), `${method} ${String(text)}`);
  assert.equal((await index.search(query, 5)).ids.length, 3);
  assert.deepEqual(await index.searchMany(new Float32Array(), 5), []);
  await index.close();
});

test('a large index is searched by its graph, and a file brings it back', async () => {
  const dimensions = 16;
  const count = 3000;
  const vectors = noise(count * dimensions);
  const settings = { dimensions, scanBelow: 500 } as const;
  const index = open(settings);
  await index.add(ids(count), vectors);
  while (index.stats().graphRows < count) await new Promise((resolve) => setTimeout(resolve, 10));
  const path = join(folder, 'large');
  await index.save(path, 2n ** 63n);
  const other = open(settings);
  assert.deepEqual(await other.load(path, 2n ** 63n), { state: 'loaded', reason: '' });
  assert.equal(other.stats().graphRows, count);
  for (let row = 0; row < count; row += 100) {
    const query = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    const answer = await index.search(query, 5, { effort: 200 });
    assert.equal(answer.plan, 'graph');
    assert.equal(answer.ids[0], row);
    assert.deepEqual(await other.search(query, 5, { effort: 200 }), answer);
  }
  assert.equal((await other.load(path, 1n)).state, 'stale');
  assert.equal((await other.load(join(folder, 'nothing'), 1n)).state, 'missing');
  const damaged = join(folder, 'damaged');
  copyFileSync(path, damaged);
  const bytes = readFileSync(damaged);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(damaged, bytes);
  const outcome = await other.load(damaged, 2n ** 63n);
  assert.equal(outcome.state, 'corrupt');
  assert.match(outcome.reason, /damaged is damaged at byte \d+/);
  assert.equal(other.stats().rows, count, 'a refused file changes nothing');
  await Promise.all([index.close(), other.close()]);
});

test('close() answers what runs, ends the graph in the making, and refuses what comes', async () => {
  const index = open({ dimensions: 64, scanBelow: 100 });
  const vectors = noise(4000 * 64);
  await index.add(ids(4000), vectors);
  const running = Array.from({ length: 20 }, () => index.search(vectors.subarray(0, 64), 3));
  const adding = index.add(ids(100, 9000), vectors.subarray(0, 6400));
  const closing = index.close();
  await assert.rejects(index.search(vectors.subarray(0, 64), 3), failure('unavailable', /closed/));
  await assert.rejects(index.add(ids(1), vectors.subarray(0, 64)), failure('unavailable', /closed/));
  assert.throws(() => index.stats(), failure('unavailable', /closed/));
  await Promise.all([closing, index.close(), adding]);
  for (const answer of await Promise.all(running)) assert.equal(answer.ids[0], 0);
  await index.close();
});

const BEGIN = `
  const { loadCore } = await import(${JSON.stringify(new URL('../../native/loader.js', import.meta.url).href)});
  const index = loadCore().openVectorIndex({ dimensions: 64, metric: 'cosine', storage: 'i8', scanBelow: 100 });
  const vectors = Float32Array.from({ length: 4000 * 64 }, (_, i) => Math.sin(i * 12.9898));
  const all = Uint32Array.from({ length: 4000 }, (_, i) => i);
  const search = () => index.search(vectors.subarray(0, 64), 10, { exact: true });`;

test('the process may end at any moment: while adding, building, searching, saving, closing', () => {
  const path = JSON.stringify(join(folder, 'ending'));
  const scripts = [
    `${BEGIN} index.add(all, vectors); process.exit(7);`,
    `${BEGIN} await index.add(all, vectors); process.exit(7);`,
    `${BEGIN} await index.add(all, vectors); for (let i = 0; i < 100; i++) search(); await search(); process.exit(7);`,
    `${BEGIN} await index.add(all, vectors); index.save(${path}, 1n); process.exit(7);`,
    `${BEGIN} await index.add(all, vectors); index.close(); process.exit(7);`,
    `${BEGIN} await index.add(all, vectors); await search(); process.exitCode = 7;`,
    `${BEGIN} await index.add(all, vectors); await index.close(); await index.close(); process.exitCode = 7;`,
  ];
  for (const script of scripts) {
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' }, script);
  }
});

test('a worker thread with an index may be terminated at any moment', async () => {
  const source = `import { parentPort } from 'node:worker_threads';${BEGIN}
    await index.add(all, vectors);
    for (let i = 0; i < 50; i++) search();
    setInterval(() => {}, 1000);
    parentPort.postMessage('running');`;
  for (let round = 0; round < 5; round += 1) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
});
