import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { NativeTextIndex, TextIndexOptions } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-text-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

/** Calls with anything, as JavaScript can. */
type Loose = Record<string, (...values: unknown[]) => unknown>;

const open = (options: Partial<TextIndexOptions> = {}): NativeTextIndex => loadCore().openTextIndex({ language: 'english', ...options });

test('the text index exports what the contract lists, and nothing else', async () => {
  assert.ok(Object.keys(loadCore()).includes('openTextIndex'));
  const index = open();
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(index)).filter((name) => name !== 'constructor');
  assert.deepEqual(methods.sort(), ['add', 'close', 'load', 'remove', 'save', 'search', 'stats', 'terms']);
  assert.deepEqual(index.stats(), { documents: 0, words: 0, terms: 0, segments: 0, deleted: 0, bytes: 0 });
  await index.close();
});

test('texts are found by their words, with the score of BM25, until they are removed', async () => {
  const index = open();
  await index.add(Uint32Array.of(7, 2, 9), ['The quick brown fox', 'Brown bears are running', 'fooBar 猫が好き 🙂']);
  const idf = Math.log(1 + (3 - 1 + 0.5) / 1.5);
  const mean = (4 + 4 + 7) / 3;
  assert.equal(index.stats().words, 15);
  const answer = await index.search('FOXES', 10);
  assert.deepEqual([...answer.ids], [7]);
  assert.equal(answer.matched, 1);
  assert.ok(Math.abs(answer.scores[0]! - idf / (1 + 1.2 * (0.25 + (0.75 * 4) / mean))) < 1e-6);
  const found = async (query: string, options = {}) => [...(await index.search(query, 10, options)).ids].sort();
  assert.deepEqual(await found('brown'), [2, 7]);
  assert.deepEqual(await found('brown fox', { operator: 'and' }), [7]);
  assert.deepEqual(await found('"brown fox" -bears'), [7]);
  assert.deepEqual(await found('+run brown'), [2]);
  assert.deepEqual(await found('foo_bar'), [9]);
  assert.deepEqual(await found('猫'), [9]);
  assert.deepEqual(await found('🙂'), [9]);
  assert.deepEqual(await found('runni', { prefix: true }), [2]);
  assert.deepEqual(await found('brown', { filter: Uint8Array.of(0b1000_0000) }), [7]);
  assert.deepEqual(await found('brown', { filter: new Uint8Array() }), []);
  assert.equal(await index.remove(Uint32Array.of(7, 1234)), 1);
  assert.deepEqual(await found('brown'), [2]);
  await index.add(Uint32Array.of(2), ['white']);
  assert.deepEqual(await found('brown'), []);
  await index.close();
});

test('terms() tells what a query is understood as', async () => {
  const index = open();
  assert.deepEqual(index.terms('+Dogs -"two words" dogs dogs'), [
    { kind: 'term', occur: 'must', terms: ['dog'], count: 1 },
    { kind: 'phrase', occur: 'not', terms: ['two', 'word'], count: 1 },
    { kind: 'term', occur: 'should', terms: ['dog'], count: 2 },
  ]);
  assert.deepEqual(index.terms('runn', { operator: 'and', prefix: true }), [
    { kind: 'prefix', occur: 'must', terms: ['runn', 'run'], count: 1 },
  ]);
  assert.deepEqual(index.terms(''), []);
  await index.close();
});

test('wrong settings and arguments are refused with the reason, and the index goes on', async () => {
  const settings: [object, RegExp][] = [
    [{ language: 'klingon' }, /language is 'klingon'; allowed are english and none/],
    [{ language: undefined }, /language must be a string/],
    [{ k1: -1 }, /k1 is -1/],
    [{ k1: Number.NaN }, /k1 must be a finite number/],
    [{ b: 1.01 }, /b is 1.01/],
    [{ b: '1' }, /b must be a number/],
  ];
  for (const [options, text] of settings) assert.throws(() => open(options), failure('invalid', text));
  assert.throws(() => (loadCore() as unknown as Loose).openTextIndex!(), failure('invalid', /options must be an object/));
  const index = open();
  await index.add(Uint32Array.of(1), ['one']);
  const loose = index as unknown as Loose;
  const cases: [() => unknown, string, RegExp][] = [
    [() => loose.add!([1], ['a']), 'invalid', /ids must be a Uint32Array/],
    [() => loose.add!(Uint32Array.of(1), 'a'), 'invalid', /texts must be an array/],
    [() => loose.add!(Uint32Array.of(1), [5]), 'invalid', /texts\[0\] must be a string/],
    [() => loose.add!(Uint32Array.of(1, 2), ['a']), 'invalid', /ids has 2 items and texts 1/],
    [() => loose.add!(Uint32Array.of(2 ** 32 - 1), ['a']), 'invalid', /4294967295/],
    [() => loose.add!(Uint32Array.of(2), ['a'.repeat(2 ** 24 + 1)]), 'too_large', /texts\[0\] has 16777217 bytes/],
    [() => loose.search!(5, 1), 'invalid', /query must be a string/],
    [() => loose.search!('a'.repeat(16385), 1), 'too_large', /16385 bytes/],
    [() => loose.search!('a', 0), 'invalid', /k must be an integer from 1 to 16384/],
    [() => loose.search!('a', 2 ** 31), 'invalid', /k must be/],
    [() => loose.search!('a', Number.POSITIVE_INFINITY), 'invalid', /k must be a finite number/],
    [() => loose.search!('a', 1, { operator: 'xor' }), 'invalid', /operator is 'xor'/],
    [() => loose.search!('a', 1, { prefix: 1 }), 'invalid', /prefix must be true or false/],
    [() => loose.search!('a', 1, { filter: [1] }), 'invalid', /filter must be a Uint8Array/],
    [() => loose.remove!('1'), 'invalid', /ids must be/],
    [() => loose.save!('a\0b', 1n), 'invalid', /path must be/],
    [() => loose.load!(join(folder, 'x'), 1), 'invalid', /generation must be/],
  ];
  for (const [call, kind, text] of cases) await assert.rejects(async () => call(), failure(kind, text));
  assert.throws(() => loose.terms!(5), failure('invalid', /query must be a string/));
  assert.deepEqual([...(await index.search('one', 5)).ids], [1]);
  await index.add(new Uint32Array(), []);
  await index.close();
  await assert.rejects(index.search('one', 5), failure('unavailable', /closed/));
  assert.throws(() => index.stats(), failure('unavailable', /closed/));
  await index.close();
});

test('arrays may be views, and may change or go away after the call', async () => {
  const index = open();
  const ids = Uint32Array.of(9, 5, 6, 9);
  const adding = index.add(ids.subarray(1, 3), ['alpha \ud800 broken', 'beta']);
  structuredClone(ids.buffer, { transfer: [ids.buffer] });
  await adding;
  const filter = Uint8Array.of(0, 0, 0b0010_0000);
  const searching = index.search('alpha beta', 5, { filter: filter.subarray(2) });
  filter.fill(0);
  assert.deepEqual([...(await searching).ids], [5]);
  await index.close();
});

test('a saved index comes back with the same answers, and damage is noticed', async () => {
  const path = join(folder, 'index.text');
  const first = open();
  const texts = Array.from({ length: 500 }, (_, i) => `word${i % 7} other${i % 31} ${'filler '.repeat(i % 5)}`);
  await first.add(Uint32Array.from(texts.keys()), texts);
  await first.remove(Uint32Array.of(3, 10));
  await first.save(path, 2n ** 63n);
  const second = open();
  assert.deepEqual(await second.load(join(folder, 'missing'), 1n), {
    state: 'missing',
    reason: `${join(folder, 'missing')} does not exist.`,
  });
  assert.equal((await second.load(path, 1n)).state, 'stale');
  assert.deepEqual(await second.load(path, 2n ** 63n), { state: 'loaded', reason: '' });
  assert.deepEqual(await second.search('word3 other10', 20), await first.search('word3 other10', 20));
  const bytes = readFileSync(path);
  bytes[5000]! ^= 1;
  rmSync(path);
  writeFileSync(path, bytes);
  const third = open();
  const damaged = await third.load(path, 2n ** 63n);
  assert.equal(damaged.state, 'corrupt');
  assert.match(damaged.reason, /damaged/);
  assert.equal(third.stats().documents, 0);
  await Promise.all([first.close(), second.close(), third.close()]);
});

test('searches beside a writer see one moment, and close() lets them answer', async () => {
  const index = open();
  const ids = Uint32Array.from({ length: 300 }, (_, i) => i);
  const write = (round: number) =>
    index.add(
      ids,
      Array.from(ids, () => `common round${round}`),
    );
  await write(0);
  const writing = (async () => {
    for (let round = 1; round < 20; round += 1) await write(round);
  })();
  for (let i = 0; i < 100; i += 1) assert.equal((await index.search('common', 1000)).ids.length, 300);
  await writing;
  const last = Array.from({ length: 8 }, () => index.search('common', 1000));
  await index.close();
  for (const answer of await Promise.all(last)) assert.equal(answer.ids.length, 300);
});

test('the process and a worker thread may end while the index works', async () => {
  const core = new URL('../../native/loader.js', import.meta.url).href;
  const work = `
    const { loadCore } = await import(${JSON.stringify(core)});
    const index = loadCore().openTextIndex({ language: 'english' });
    const texts = Array.from({ length: 20000 }, (_, i) => 'some words of text number ' + i);
    const adding = index.add(Uint32Array.from(texts.keys()), texts);
    index.search('words', 10);`;
  for (const end of ['process.exit(7);', 'await adding; index.close(); process.exit(7);', 'await adding; process.exitCode = 7;']) {
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', work + end], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' });
  }
  for (let round = 0; round < 3; round += 1) {
    const source = `import { parentPort } from 'node:worker_threads'; ${work} parentPort.postMessage('busy');`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
});
