import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ClassifierFitOptions, NativeClassifierFit } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-classify-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

/** Calls with anything, as JavaScript can. */
type Loose = Record<string, (...values: unknown[]) => unknown>;

const DIMENSIONS = 8;
const OPTIONS: ClassifierFitOptions = { dimensions: DIMENSIONS, classes: 2 };
const open = (options: Partial<ClassifierFitOptions> = {}): NativeClassifierFit => loadCore().openClassifierFit({ ...OPTIONS, ...options });

/** Rows that lean to one of two sides, with their labels. */
function rows(count: number, dimensions = DIMENSIONS): { vectors: Float32Array; labels: Uint32Array } {
  const labels = Uint32Array.from({ length: count }, (_none, at) => at % 2);
  const vectors = Float32Array.from({ length: count * dimensions }, (_none, at) => {
    const row = Math.floor(at / dimensions);
    return Math.sin(at * 1.7) + (at % dimensions === 0 ? (row % 2 ? 2 : -2) : 0);
  });
  return { vectors, labels };
}

async function fitted(count = 40) {
  const fit = open();
  const { vectors, labels } = rows(count);
  fit.add(vectors.subarray(0, 2 * DIMENSIONS), labels.subarray(0, 2));
  fit.add(vectors.subarray(2 * DIMENSIONS), labels.subarray(2));
  return { ...(await fit.run()), vectors, labels };
}

test('the core exports what the contract lists of classifiers, and nothing else', async () => {
  assert.deepEqual(
    Object.keys(loadCore()).filter((name) => /classif/i.test(name)),
    ['openClassifierFit', 'loadClassifier'],
  );
  const methods = (of: object): string[] => Object.getOwnPropertyNames(Object.getPrototypeOf(of)).filter((name) => name !== 'constructor');
  assert.deepEqual(methods(open()).sort(), ['add', 'cancel', 'run']);
  const { model } = await fitted();
  assert.deepEqual(methods(model).sort(), ['predict', 'save']);
  assert.deepEqual([model.dimensions, model.classes, model.projected], [DIMENSIONS, 2, false]);
});

test('a fit learns, says how well, and comes back from disk with the same bits', async () => {
  const { model, quality, vectors, labels } = await fitted();
  assert.ok(quality);
  assert.equal(quality.folds, 5);
  assert.ok(quality.accuracy > 0.9 && quality.plainAccuracy === quality.accuracy);
  assert.deepEqual(Object.keys(quality.labels[0]!), ['precision', 'recall', 'f1', 'support', 'given']);
  assert.deepEqual(
    quality.labels.map(({ support }) => support),
    [20, 20],
  );
  const probabilities = await model.predict(vectors);
  assert.equal(probabilities.length, 80);
  for (const [at, label] of labels.entries()) {
    assert.ok(probabilities[at * 2 + label]! > 0.5);
    assert.ok(Math.abs(probabilities[at * 2]! + probabilities[at * 2 + 1]! - 1) < 1e-6);
  }
  assert.deepEqual(await model.predict(new Float32Array()), new Float32Array());
  const path = join(folder, 'head.bin');
  await model.save(path, 5n);
  const again = await loadCore().loadClassifier(path, 5n);
  assert.deepEqual(await again.predict(vectors), probabilities);
  await assert.rejects(loadCore().loadClassifier(path, 6n), failure('model_failed', /generation/));
  await assert.rejects(loadCore().loadClassifier(`${path}.none`, 5n), failure('not_found', /does not exist/));
  await assert.rejects(loadCore().loadClassifier(folder, 5n), failure('model_failed', /not a file/));
  await assert.rejects(model.save(join(folder, 'no/where'), 5n), failure('unavailable', /cannot be created/));
});

test('bad arguments are refused by name, and nothing is added', async () => {
  const options: [object, RegExp][] = [
    [{ dimensions: 0 }, /dimensions must be an integer from 1 to 16384/],
    [{ dimensions: Number.NaN }, /dimensions must be a finite number/],
    [{ classes: 4097 }, /classes must be an integer from 1 to 4096/],
    [{ rows: 2 ** 21 }, /rows must be an integer from 1 to 1048576/],
    [{ iterations: 0.5 }, /iterations/],
    [{ batchSize: -1 }, /batchSize/],
    [{ seed: 2 ** 32 }, /seed/],
    [{ threads: 2 ** 31 }, /threads/],
  ];
  for (const [wrong, text] of options) assert.throws(() => open(wrong), failure('invalid', text));
  assert.throws(() => (loadCore() as unknown as Loose).openClassifierFit!(), failure('invalid', /options must be an object/));
  const fit = open();
  const loose = fit as unknown as Loose;
  const one = Float32Array.from({ length: DIMENSIONS }, () => 1);
  const transferred = new Float32Array(DIMENSIONS);
  structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
  const added: [unknown, unknown, string, RegExp][] = [
    [[1], new Uint32Array(1), 'invalid', /vectors must be a Float32Array/],
    [one, [0], 'invalid', /labels must be a Uint32Array/],
    [one.subarray(1), new Uint32Array(1), 'invalid', /7 numbers are no 1 rows of 8/],
    [transferred, new Uint32Array(1), 'invalid', /0 numbers are no 1 rows/],
    [one, Uint32Array.of(2), 'invalid', /Label 2 is not one of the 2/],
    [new Float32Array(DIMENSIONS), new Uint32Array(1), 'invalid', /row 0 is all zeros/],
    [one.with(3, Number.POSITIVE_INFINITY), new Uint32Array(1), 'invalid', /row 0 holds inf at dimension 3/],
    [new Float32Array(2 ** 18 + 8), new Uint32Array(1), 'too_large', /more than 262144 numbers/],
  ];
  for (const [vectors, labels, kind, text] of added) assert.throws(() => loose.add!(vectors, labels), failure(kind, text));
  await assert.rejects(fit.run(), failure('bad_request', /at least 2/));
  await assert.rejects(fit.run(), failure('unavailable', /run already/));
  assert.throws(() => fit.add(one, new Uint32Array(1)), failure('unavailable', /runs already/));
  const { model } = await fitted();
  await assert.rejects(model.predict(new Float32Array(7)), failure('invalid', /8 dimensions/));
  await assert.rejects(model.predict(one.with(0, Number.NaN)), failure('invalid', /row 0/));
  await assert.rejects((model as unknown as Loose).predict!('x') as Promise<unknown>, failure('invalid', /vectors must be a Float32Array/));
});

/** A fit that runs for long. */
function longFit(): NativeClassifierFit {
  const dimensions = 256;
  const fit = loadCore().openClassifierFit({ dimensions, classes: 64, iterations: 1000, threads: 2 });
  for (let part = 0; part < 4; part += 1) {
    const { vectors } = rows(512, dimensions);
    fit.add(
      vectors.map((value, at) => value + Math.cos(at * (part + 1))),
      Uint32Array.from({ length: 512 }, (_none, at) => at % 64),
    );
  }
  return fit;
}

test('a cancelled fit ends, before it began as well', async () => {
  const fit = longFit();
  const running = fit.run();
  setTimeout(() => fit.cancel(), 100);
  await assert.rejects(running, failure('unavailable', /./));
  const never = longFit();
  never.cancel();
  await assert.rejects(never.run(), failure('unavailable', /./));
});

test('the process and a worker thread may end during a fit', async () => {
  const core = JSON.stringify(new URL('../../native/loader.js', import.meta.url).href);
  const begin = `const { loadCore } = await import(${core}); ${rows.toString().replaceAll('DIMENSIONS', '8')} ${longFit.toString()}`;
  for (const end of ['process.exit(7);', 'setTimeout(() => process.exit(7), 50);']) {
    const script = `${begin} longFit().run(); ${end}`;
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' });
  }
  for (let round = 0; round < 3; round += 1) {
    const source = `import { parentPort } from 'node:worker_threads'; ${begin} longFit().run(); parentPort.postMessage('running');`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
});
