import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { restoreAnomaly, runFit } from '../../native/anomaly.js';
import type { AnomalyFitOptions, AnomalyState, CoreAddon, NativeAnomalyFit } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { BACKENDS as CARDS } from '../../runtime/ml/anomaly/backends.js';
import { Failure } from '../../schemas/errors.js';
import { fitAnomaly } from '../support/anomaly/fit.js';
import { idledDuring } from '../support/idle-threads.js';

const core = loadCore();
const BACKENDS = core.anomalyBackends();
const ROOT = join(import.meta.dirname, '..', '..', '..');

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

const settings = (backend: string, columns: number, rest: Partial<AnomalyFitOptions> = {}): AnomalyFitOptions => ({
  backend,
  columns,
  contamination: 0.1,
  normalization: 'standardization',
  scaled: true,
  epochs: 3,
  ...rest,
});

test('the schemas, the cards and the native code name the same backends', () => {
  const { BackendName } = (
    JSON.parse(readFileSync(join(ROOT, 'schemas/universal/anomaly.json'), 'utf8')) as { $defs: { BackendName: { enum: string[] } } }
  ).$defs;
  const cards = CARDS.map(({ backend }) => backend).sort();
  for (const names of [BACKENDS, BackendName.enum]) assert.deepEqual([...names].sort(), cards);
});

/** Numbers from -1 to 1 that are the same in every run. */
function numbers(count: number, seed = 1): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

test('all twelve backends are there', () => {
  const all = 'autoencoder cblof copod ecod hbos isolation_forest knn local_outlier_factor loda mcd one_class_svm suod';
  assert.deepEqual(BACKENDS, all.split(' '));
});

test('a one-class SVM with contamination 0.5 is that of the defaults of PyOD', async () => {
  const rows = Float64Array.of(0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.5, 0.4, 0.6, 3, 3, -1, 2);
  // PyOD 3.6.7, OCSVM().decision_scores_: nu is 0.5 there.
  const expected = [-0.0001742, -0.0001742, -0.0455909, 0.0003484, -0.2429058, -0.2275426, 0.4073648, 0.288335];
  const { raw } = await fitAnomaly(
    settings('one_class_svm', 2, { contamination: 0.5, normalization: 'raw', scaled: false, scored: true }),
    rows,
  );
  for (const [row, score] of raw.entries()) assert.ok(Math.abs(score - expected[row]!) < 1e-3, `row ${row}: ${score}`);
});

const methods = (object: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(object))
    .filter((name) => name !== 'constructor')
    .sort();

test('the objects have what the contract lists, and nothing else', async () => {
  const native = createRequire(import.meta.url)('../../native/Release/quern_core.node') as CoreAddon;
  const fit = native.openAnomalyFit(settings('ecod', 1));
  fit.add(new Float64Array([1, 2, 3]));
  const { model, raw } = await fit.run();
  assert.equal(raw.length, 0);
  assert.deepEqual(methods(fit), ['add', 'cancel', 'run']);
  assert.deepEqual(methods(native.openAnomalyRestore()), ['add', 'run']);
  assert.deepEqual(methods(model), ['explain', 'release', 'score', 'scoreRow', 'state']);
  assert.deepEqual(Object.keys(model).sort(), ['backend', 'columns', 'normalization', 'threshold']);
});

for (const backend of BACKENDS) {
  test(`${backend}: fit, score, explain, state and back`, async () => {
    const rows = numbers(3 * 500);
    const { model, raw: fitted } = await fitAnomaly(settings(backend, 3, { threads: 2, normalization: 'zscore', scored: true }), rows);
    assert.deepEqual([model.backend, model.columns, model.normalization], [backend, 3, 'zscore']);
    const { raw, scores } = await model.score(rows);
    assert.equal(raw.length, 500);
    assert.deepEqual(fitted, raw);
    assert.ok(scores.every(Number.isFinite));
    const above = scores.filter((score) => score > model.threshold).length;
    assert.ok(above <= 50, `${above} of the fitted rows are above the threshold of 10%`);
    assert.equal((await model.explain(rows.subarray(0, 30))).length, 30);
    const odd = Float64Array.of(rows[0]!, 8, rows[2]!);
    const [first, second, third] = await model.explain(odd);
    // What lies outside of loda's histograms counts as their last bins do.
    if (backend !== 'loda') assert.ok(second! > Math.max(0, first!, third!), `the odd column has ${second} beside ${first} and ${third}`);
    if (['isolation_forest', 'loda'].includes(backend)) {
      const column = rows.filter((_, at) => at % 3 === 1).sort();
      const median = (column[249]! + column[250]!) / 2;
      const { raw: compared } = await model.score(Float64Array.of(...odd, odd[0]!, median, odd[2]!));
      assert.ok(Math.abs(second! - (compared[0]! - compared[1]!)) < 1e-9, `${second} is not ${compared[0]} - ${compared[1]}`);
    }
    assert.equal((await model.score(new Float64Array())).raw.length, 0);

    const view = rows.subarray(9, 12);
    assert.deepEqual({ ...model.scoreRow(view) }, { raw: raw[3], score: scores[3] });

    const state = await model.state();
    assert.equal(state.backend, backend);
    assert.equal(state.version, 1);
    const again = await restoreAnomaly(structuredClone(state), 2);
    assert.deepEqual(await again.score(rows), { raw, scores });
    assert.equal(again.threshold, model.threshold);
    assert.deepEqual(await again.state(), state);
    const entry = Object.keys(state).find((name) => name.startsWith('detector.') && typeof state[name] !== 'string')!;
    const { [entry]: _gone, ...less } = state;
    await assert.rejects(restoreAnomaly(less as AnomalyState), failure('invalid', /entry '.+' is missing/));
  });

  test(`${backend}: a fit that is cancelled ends`, async () => {
    const fit = core.openAnomalyFit(settings(backend, 8, { epochs: 100_000 }));
    for (let i = 0; i < 4; i += 1) fit.add(numbers(8 * 10_000, i + 1));
    const running = fit.run();
    fit.cancel();
    await assert.rejects(running, failure('unavailable', /cancelled/));
    fit.cancel();
  });
}

test('a model that is released ends the calls that run, and takes no others', async () => {
  const rows = numbers(3 * 500);
  const { model } = await fitAnomaly(settings('knn', 3), rows);
  const known = await model.score(rows);
  const running = model.score(rows);
  model.release();
  model.release();
  assert.deepEqual(await running, known);
  await assert.rejects(model.score(rows), failure('invalid', /released/));
  await assert.rejects(model.state(), failure('invalid', /released/));
  await assert.rejects(model.explain(rows), failure('invalid', /released/));
  assert.throws(() => model.scoreRow(rows.subarray(0, 3)), failure('invalid', /released/));
});

test('rows are handed over in pieces, and make the same model', async () => {
  const rows = numbers(2 * 200_000);
  const options = settings('ecod', 2);
  const fit = core.openAnomalyFit(options);
  for (let from = 0; from < rows.length; from += 6002) fit.add(rows.subarray(from, from + 6002));
  const { model: pieces } = await fit.run();
  const { model: whole } = await fitAnomaly(options, rows);
  assert.deepEqual(await pieces.state(), await whole.state());
});

test('a fit in the background takes only cores that nothing else wants', { skip: process.platform !== 'linux' }, async () => {
  for (const background of [false, true, false]) {
    const fit = core.openAnomalyFit(settings('knn', 8, { threads: 2, background }));
    fit.add(numbers(8 * 5000));
    assert.equal(await idledDuring(() => fit.run()), background);
  }
});

test('the rows of a call may change after it, and be transferred', async () => {
  const rows = numbers(3 * 100);
  const { model } = await fitAnomaly(settings('hbos', 3), rows);
  const before = await model.score(rows);
  const copy = rows.slice();
  const scoring = model.score(copy);
  structuredClone(copy.buffer, { transfer: [copy.buffer] });
  assert.deepEqual(await scoring, before);
  assert.equal((await model.score(copy)).raw.length, 0, 'a transferred array is empty');
});

test('wrong settings and rows are refused with the reason', async () => {
  const open = (change: object) => (): unknown => core.openAnomalyFit({ ...settings('ecod', 2), ...change } as AnomalyFitOptions);
  const cases: [object, RegExp][] = [
    [{ backend: 'vae' }, /backend is 'vae'; known are .*ecod/],
    [{ backend: 5 }, /backend must be a string/],
    [{ columns: 0 }, /columns must be an integer from 1/],
    [{ columns: 1.5 }, /columns must be an integer/],
    [{ columns: 2 ** 31 }, /columns must be an integer/],
    [{ contamination: 0 }, /contamination is 0/],
    [{ contamination: 0.6 }, /contamination is 0.6/],
    [{ contamination: Number.NaN }, /contamination must be a finite number/],
    [{ normalization: 'minmax' }, /normalization is 'minmax'; allowed are standardization, zscore and raw/],
    [{ scaled: 1 }, /scaled must be true or false/],
    [{ epochs: 0 }, /epochs must be/],
    [{ batchSize: -1 }, /batchSize must be/],
    [{ seed: -1 }, /seed must be/],
    [{ background: 1 }, /background must be true or false/],
    [{ threads: 0 }, /threads is 0; allowed is 1 to 64/],
    [{ threads: 2 ** 31 }, /threads must be an integer of 32 bits/],
  ];
  for (const [change, text] of cases) assert.throws(open(change), failure('invalid', text));
  assert.throws(() => core.openAnomalyRestore(65), failure('invalid', /threads is 65/));

  const loose = (rows: unknown) => (): void => core.openAnomalyFit(settings('ecod', 2)).add(rows as Float64Array);
  assert.throws(loose([1, 2]), failure('invalid', /rows must be a Float64Array/));
  assert.throws(loose(new Float32Array(2)), failure('invalid', /rows must be a Float64Array/));
  assert.throws(loose(new Float64Array(3)), failure('invalid', /3 numbers, which are no whole rows of 2 columns/));
  assert.throws(loose(new Float64Array(2 ** 19 + 2)), failure('too_large', /524290 numbers; allowed are at most 524288/));

  const fit = core.openAnomalyFit(settings('ecod', 2));
  fit.add(new Float64Array(6));
  assert.throws(() => fit.add(new Float64Array([1, 2, 3, Number.NaN])), failure('invalid', /Row 4, column 1 .* is NaN/));
  assert.throws(() => fit.add(new Float64Array([Number.NEGATIVE_INFINITY, 2])), failure('invalid', /Row 3, column 0 .* is -Infinity/));
  assert.throws(() => fit.add(new Float64Array([1, 1e101])), failure('invalid', /beyond 1e100/));
  const { model } = await fit.run();
  assert.throws(() => fit.add(new Float64Array(2)), failure('invalid', /run\(\) was called/));
  await assert.rejects(fit.run(), failure('invalid', /run\(\) was called/));
  await assert.rejects(core.openAnomalyFit(settings('ecod', 2)).run(), failure('bad_request', /at least 2 rows; given are 0/));

  await assert.rejects(model.score(new Float64Array(3)), failure('invalid', /no whole rows of 2/));
  await assert.rejects(model.score(new Float64Array([1, 2, Number.NaN, 4])), failure('invalid', /Row 1, column 0 .* is NaN/));
  await assert.rejects(model.explain(new Float64Array([1, Number.POSITIVE_INFINITY])), failure('invalid', /is Infinity/));
  assert.throws(() => model.scoreRow(new Float64Array(4)), failure('invalid', /one row/));
  assert.throws(() => model.scoreRow(new Float64Array()), failure('invalid', /one row/));
});

test('a fit takes 2 GiB of rows at most', { skip: process.env.QUERN_LONG === undefined }, () => {
  const fit = core.openAnomalyFit(settings('ecod', 1));
  const piece = new Float64Array(2 ** 19);
  for (let i = 0; i < 512; i += 1) fit.add(piece);
  assert.throws(() => fit.add(new Float64Array(1)), failure('too_large', /at most 268435456 rows/));
});

test('what is no state is refused with the entry', async () => {
  const restored = (state: object): Promise<unknown> => restoreAnomaly(state as AnomalyState);
  await assert.rejects(restored({}), failure('invalid', /entry 'backend' must be a text/));
  const state = await (await fitAnomaly(settings('hbos', 2), numbers(40))).model.state();
  await assert.rejects(restored({ ...state, backend: 'other' }), failure('invalid', /backend is 'other'/));
  await assert.rejects(restored({ ...state, version: 2 }), failure('invalid', /entry 'version' is not 1/));
  await assert.rejects(restored({ ...state, columns: 3 }), failure('invalid', /centre|scale|columns/));
  await assert.rejects(restored({ ...state, more: 'x' }), failure('invalid', /entry 'more' must be a number or an array/));
  await assert.rejects(restored({ ...state, more: {} }), failure('invalid', /entry 'more' must be/));
  await assert.rejects(restored({ ...state, more: new Uint8Array(2) }), failure('invalid', /entry 'more' must be/));
  await assert.rejects(restored({ ...state, ['x'.repeat(300)]: 1 }), failure('invalid', /at most 256 bytes/));
  const many = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`n${i}`, i]));
  await assert.rejects(restored({ ...state, ...many }), failure('invalid', /at most 1024 entries/));
  const restore = core.openAnomalyRestore();
  restore.add('a', new Int32Array(2));
  assert.throws(() => restore.add('a', new Float64Array(2)), failure('invalid', /'a' was given before/));
  assert.throws(() => restore.add('b', new Float64Array(2 ** 19 + 1)), failure('too_large', /at most 524288/));
});

test('an abort signal ends a fit', async () => {
  const open = (): NativeAnomalyFit => {
    const fit = core.openAnomalyFit(settings('autoencoder', 4, { epochs: 300 }));
    fit.add(numbers(4 * 10_000));
    return fit;
  };
  await assert.rejects(runFit(open(), AbortSignal.abort()), failure('unavailable', /cancelled/));
  const controller = new AbortController();
  const fitting = runFit(open(), controller.signal);
  controller.abort();
  await assert.rejects(fitting, failure('unavailable', /cancelled/));
});

test('a fit that nobody holds goes on', async () => {
  const running = (() => {
    const fit = core.openAnomalyFit(settings('isolation_forest', 4));
    fit.add(numbers(4 * 20_000));
    return fit.run();
  })();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  assert.equal((await running).model.columns, 4);
});

const MODULES = JSON.stringify(new URL('../../native/loader.js', import.meta.url).href);
const begin = (background: boolean): string => `const { loadCore } = await import(${MODULES});
  const fit = loadCore().openAnomalyFit({ backend: 'isolation_forest', columns: 4, contamination: 0.1, normalization: 'raw', scaled: true, threads: 2, background: ${background} });
  const piece = Float64Array.from({ length: 2 ** 14 }, () => Math.random());
  for (let i = 0; i < 200; i++) fit.add(piece);`;

test('the process may end at any moment of a fit', () => {
  const scripts = [false, true].flatMap((background) => [
    `${begin(background)} fit.run(); process.exit(7);`,
    `${begin(background)} fit.run(); setTimeout(() => process.exit(7), 30);`,
    `${begin(background)} fit.run().catch(() => {}); fit.cancel(); process.exit(7);`,
    `${begin(background)} const running = fit.run(); fit.cancel(); await running.catch((error) => { if (error.kind === 'unavailable') process.exitCode = 7; });`,
  ]);
  for (const script of scripts) {
    const options = { encoding: 'utf8', timeout: 60_000 } as const;
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
    assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' });
  }
});

test('a worker thread may be terminated while it fits and scores', async () => {
  const source = (background: boolean): string => `import { parentPort } from 'node:worker_threads';
    ${begin(background)}
    const small = loadCore().openAnomalyFit({ backend: 'ecod', columns: 4, contamination: 0.1, normalization: 'raw', scaled: true });
    small.add(new Float64Array(400));
    const { model } = await small.run();
    for (let i = 0; i < 4; i++) model.score(new Float64Array(2 ** 19));
    fit.run();
    parentPort.postMessage('running');`;
  for (const background of [false, true, false, true]) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source(background))}`));
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
});
