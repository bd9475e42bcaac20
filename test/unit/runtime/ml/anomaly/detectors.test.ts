import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FitAsk } from '../../../../../runtime/ml/anomaly/contract.js';
import { AnomalyDetectors, MODELS_IN_MEMORY } from '../../../../../runtime/ml/anomaly/detectors.js';
import { readPickle } from '../../../../../runtime/ml/pickle/read.js';
import type { Plain } from '../../../../../runtime/ml/pickle/values.js';
import { writePickle } from '../../../../../runtime/ml/pickle/write.js';

const NEVER = new AbortController().signal;
const ROWS = Array.from({ length: 50 }, (_none, i) => [Math.sin(i * 12.9898), Math.cos(i * 78.233)]);
const ask = (more: Partial<FitAsk>): FitAsk => ({
  model: 'm',
  backend: 'ecod',
  normalization: 'standardization',
  data: ROWS,
  contamination: 0.1,
  epochs: 10,
  batchSize: 32,
  overwrite: true,
  ...more,
});

// biome-ignore lint/suspicious/noExplicitAny: the content of a file, to be spoilt
type Content = any;

/** Changes one member of a content, or removes it where the change gives undefined. */
function spoil(content: Content, member: readonly string[], change: (value: Content) => unknown): void {
  const holder = member.slice(0, -1).reduce((inner, key) => inner[key], content);
  const key = member.at(-1)!;
  holder[key] = change(holder[key]);
  if (holder[key] === undefined) delete holder[key];
}
const withColumn = ({ schema, feature_order: order, encoders, ...encoder }: Content): Content => ({
  ...encoder,
  schema: { ...schema, c: 'hash' },
  feature_order: [...order, 'c'],
  encoders: { ...encoders, c: { type: 'hash' } },
});

describe('anomaly detectors', () => {
  let folder: string;
  let detectors: AnomalyDetectors;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-detectors-'));
    detectors = new AnomalyDetectors(folder);
  });
  after(async () => {
    await detectors.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('refuses files whose content was changed, naming the file', async () => {
    await detectors.fit(
      ask({ model: 'good', schema: { a: 'numeric', b: 'label' }, data: ROWS.map(([a, b]) => ({ a, b: b! > 0 ? 'x' : 'y' })) }),
      NEVER,
    );
    const good = readFileSync(join(folder, 'good_ecod.pkl'));
    const changes: [name: string, member: string[], change: (value: Content) => unknown][] = [
      ['another format', ['format'], () => 'other'],
      ['a later version', ['version'], () => 2],
      ['no state', ['state'], () => undefined],
      ['no name', ['name'], () => 5],
      ['a list for an encoder', ['encoder'], () => []],
      ['an encoder of three columns', ['encoder'], withColumn],
      ['a missing entry', ['state', 'scaler.centre'], () => undefined],
      ['an entry of another kind', ['state', 'scaler.centre'], () => 'text'],
      ['an entry that is a list', ['state', 'scaler.centre'], () => [1, 2]],
      ['half an array', ['state', 'scaler.centre', 'data'], (data) => data.subarray(0, 8)],
      ['a torn number', ['state', 'scaler.centre', 'data'], (data) => data.subarray(0, 7)],
      ['another type of array', ['state', 'scaler.centre', 'dtype'], () => '<f4'],
      ['too many columns', ['state', 'columns'], () => 1e9],
      ['NaN for the scale', ['state', 'scaler.scale', 'data'], () => Buffer.alloc(16, 0xff)],
      ['another backend', ['state', 'backend'], () => 'knn'],
    ];
    for (const [name, member, change] of changes) {
      const content = (await readPickle(good)) as Content;
      spoil(content, member, change);
      writeFileSync(join(folder, 'spoilt_ecod.pkl'), Buffer.concat(await writePickle(content as Plain)));
      await assert.rejects(detectors.load({ model: 'spoilt', backend: 'ecod' }), { kind: 'invalid', message: /^spoilt_ecod\.pkl: / }, name);
      await assert.rejects(
        detectors.score({ model: 'spoilt', backend: 'ecod', data: [[1, 1]], explain: false }, NEVER),
        { kind: 'invalid' },
        name,
      );
    }
    rmSync(join(folder, 'spoilt_ecod.pkl'));
  });

  it('gives versions of one second different names, also to fits at the same time', async () => {
    const fits = await Promise.all(Array.from({ length: 6 }, () => detectors.fit(ask({ model: 'many', overwrite: false }), NEVER)));
    const names = new Set(fits.map(({ model }) => model));
    assert.equal(names.size, 6);
    const { model } = await detectors.score({ model: 'many-latest', backend: 'ecod', data: ROWS, explain: false }, NEVER);
    assert.equal(model, [...names].sort().at(-1));
  });

  it('takes the base for the newest where it was fitted last', async () => {
    const latest = async (): Promise<string> => (await detectors.load({ model: 'both-latest', backend: 'ecod' })).model;
    const { model } = await detectors.fit(ask({ model: 'both', overwrite: false }), NEVER);
    assert.equal(await latest(), model);
    await detectors.fit(ask({ model: 'both' }), NEVER);
    assert.equal(await latest(), 'both');
  });

  it('saves nothing once its client is gone', async () => {
    const gone = new AbortController();
    const fit = detectors.fit(
      ask({ model: 'gone', backend: 'autoencoder', epochs: 1000, data: Array.from({ length: 5000 }, (_none, i) => [i % 7, i % 11]) }),
      gone.signal,
    );
    setTimeout(() => gone.abort(new Error('client gone')), 200);
    await assert.rejects(fit, /client gone/);
    await assert.rejects(detectors.fit(ask({ model: 'gone' }), AbortSignal.abort(new Error('never there'))), /never there/);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('gone')),
      [],
    );
  });

  it('keeps so many in memory and reads the others again', async () => {
    for (let i = 0; i <= MODELS_IN_MEMORY; i += 1) await detectors.fit(ask({ model: `n${i}` }), NEVER);
    const names = detectors.loaded().map(({ key }) => key);
    assert.equal(names.length, MODELS_IN_MEMORY);
    assert.equal(names.includes('anomaly:ecod:standardization:n0'), false);
    const rows = { backend: 'ecod' as const, data: ROWS, explain: false };
    const [old, young] = await Promise.all(['n0', 'n9'].map((model) => detectors.score({ ...rows, model }, NEVER)));
    assert.deepEqual(old!.scores, young!.scores);
    assert.ok(detectors.loaded().some(({ key }) => key === 'anomaly:ecod:standardization:n0'));
  });

  it('scores many rows as it scores each alone, whatever the blocks', async () => {
    const many = Array.from({ length: 40_000 }, (_none, i) => [Math.sin(i), Math.cos(i * 3)]);
    const whole = await detectors.score({ model: 'good', backend: 'ecod', data: many.map(([a]) => ({ a, b: 'x' })), explain: true }, NEVER);
    assert.equal(whole.scores.length, 40_000);
    for (const row of [0, 32_767, 32_768, 39_999]) {
      const alone = await detectors.score({ model: 'good', backend: 'ecod', data: [{ a: many[row]![0], b: 'x' }], explain: true }, NEVER);
      assert.deepEqual([alone.scores[0], alone.raw[0]], [whole.scores[row], whole.raw[row]]);
      assert.deepEqual([...alone.explanation!.contributions], [...whole.explanation!.contributions.subarray(row * 2, row * 2 + 2)]);
    }
  });

  it('does not write again what is saved', async () => {
    const path = join(folder, 'good_ecod.pkl');
    const { mtimeMs, ino } = statSync(path);
    await detectors.save({ model: 'good', backend: 'ecod' }, 'described');
    assert.deepEqual([statSync(path).mtimeMs, statSync(path).ino], [mtimeMs, ino]);
    const listed = (await detectors.list()).models.find(({ name }) => name === 'good');
    assert.equal(listed?.description, 'described');
  });

  it('removes the encoder of a former fit', async () => {
    await detectors.fit(ask({ model: 'good' }), NEVER);
    assert.equal(readdirSync(folder).includes('good_ecod_encoder.json'), false);
    assert.equal((await detectors.load({ model: 'good', backend: 'ecod' })).encoderPath, null);
  });

  it('says that the disk takes nothing, and keeps the old model', async () => {
    const inner = mkdtempSync(join(tmpdir(), 'quern-detectors-'));
    const closed = new AnomalyDetectors(join(inner, 'file', 'anomaly'));
    writeFileSync(join(inner, 'file'), '');
    await assert.rejects(closed.fit(ask({}), NEVER), /ENOTDIR/);
    rmSync(join(inner, 'file'));
    assert.equal((await closed.fit(ask({}), NEVER)).model, 'm');
    await closed.close();
    await assert.rejects(closed.fit(ask({}), NEVER), { kind: 'unavailable' });
    rmSync(inner, { recursive: true, force: true });
  });
});
