import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pooling } from '../../../../../../runtime/engines/contracts/encoder.js';
import { poolStates } from '../../../../../../runtime/engines/encoders/onnx/pooling.js';
import { modulesOf, poolingOf, vectorSteps } from '../../../../../../runtime/engines/encoders/onnx/sentence-modules.js';
import { Failure } from '../../../../../../schemas/errors.js';

let folder = '';
let made = 0;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'quern-modules-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A model's folder with these files. */
function written(files: Readonly<Record<string, unknown>>): string {
  const place = join(folder, `model-${made++}`);
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), JSON.stringify(value));
  }
  return place;
}
const refused = (call: () => unknown, message: RegExp): void =>
  assert.throws(call, (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.deepEqual([error.kind, error.code], ['invalid', 'InvalidModelFile']);
    assert.match(error.message, message);
    assert.ok(!error.message.includes(folder), error.message);
    return true;
  });

describe('the pooling of a sentence model', () => {
  const poolingIn = (config: object): Pooling | undefined => poolingOf(written({ '1_Pooling/config.json': config }), []);
  const WIDTH = { embedding_dimension: 32, include_prompt: true };
  const read: [object, Pooling | undefined][] = [
    [{ pooling_mode: 'cls' }, 'cls'],
    [{ pooling_mode: 'max' }, 'max'],
    [{ pooling_mode: 'mean' }, 'mean'],
    [{ pooling_mode: 'mean_sqrt_len_tokens' }, 'mean_sqrt'],
    [{ pooling_mode: 'weightedmean' }, 'weighted'],
    [{ pooling_mode: 'lasttoken' }, 'last'],
    [{ pooling_mode: ['lasttoken'] }, 'last'],
    [{ pooling_mode: [] }, undefined],
    [{ pooling_mode: null, pooling_mode_cls_token: true }, 'cls'],
    [{ pooling_mode: 'max', pooling_mode_cls_token: true }, 'max'],
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, 'cls'],
    [{ pooling_mode_max_tokens: true }, 'max'],
    [{ pooling_mode_mean_tokens: true }, 'mean'],
    [{ pooling_mode_mean_sqrt_len_tokens: true }, 'mean_sqrt'],
    [{ pooling_mode_weightedmean_tokens: true }, 'weighted'],
    [{ pooling_mode_lasttoken: true }, 'last'],
    [{}, undefined],
  ];
  for (const [config, pooling] of read)
    it(`is ${pooling} where the file says ${JSON.stringify(config)}`, () => assert.equal(poolingIn({ ...WIDTH, ...config }), pooling));

  const wrong: [object, RegExp][] = [
    [{ pooling_mode: ['cls', 'mean'] }, /1_Pooling\/config\.json asks for cls and mean at once/],
    [{ pooling_mode: ['mean', 'mean'] }, /at once/],
    [{ pooling_mode: 'median' }, /1_Pooling\/config\.json asks for the pooling "median"; known are cls, mean, /],
    [{ pooling_mode: 'constructor' }, /asks for the pooling "constructor"/],
    [{ pooling_mode: true }, /asks for the pooling "true"/],
    [{ pooling_mode_cls_token: true, pooling_mode_max_tokens: true }, /asks for cls and max at once/],
  ];
  for (const [config, message] of wrong)
    it(`is refused where the file says ${JSON.stringify(config)}`, () => refused(() => poolingIn(config), message));

  it('takes the sum by the root of the number of tokens', () => {
    const states = { values: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), tokens: 4, dimensions: 2 };
    assert.deepEqual([...poolStates(states, 'mean_sqrt')], [8, 10]);
    assert.deepEqual([...poolStates(states, 'mean')], [4, 5]);
  });
});

describe('the modules of a sentence model', () => {
  const START = ['Transformer', 'Pooling'];
  const listed = (names: readonly string[]): object[] =>
    names.map((name, idx) => ({
      idx,
      name: `${idx}`,
      path: idx === 0 ? '' : `${idx}_${name}`,
      type: `sentence_transformers.models.${name}`,
    }));
  const steps = (names: readonly string[], files: Readonly<Record<string, unknown>> = {}): unknown[] => {
    const place = written({ 'modules.json': listed(names), ...files });
    return vectorSteps(place, modulesOf(place), 4);
  };

  const plain = [
    START,
    ['MLMTransformer', 'Pooling'],
    ['CamemBERT', 'Pooling'],
    [...START, 'Normalize'],
    [...START, 'Dropout', 'Normalize', 'Normalize'],
    ['Transformer'],
  ];
  for (const names of plain) it(`are nothing after pooling: ${names.join(', ')}`, () => assert.deepEqual(steps(names), []));

  const before = ['CNN', 'LSTM', 'WeightedLayerPooling', 'WordWeights', 'Dense', 'Normalize'];
  for (const name of before)
    it(`are refused with ${name} before pooling`, () =>
      refused(
        () => steps(['Transformer', name, 'Pooling']),
        new RegExp(`modules\\.json of model-\\d+ has the module ${name} \\("1_${name}"\\) before Pooling`),
      ));
  for (const name of ['WordEmbeddings', 'BoW', 'Router'])
    it(`are refused with ${name} first`, () =>
      refused(() => steps([name, 'Pooling']), new RegExp(`has the module ${name} \\(""\\) before Pooling`)));
  for (const name of ['LayerNorm', 'Transformer', 'Pooling', 'constructor'])
    it(`are refused with ${name} after pooling`, () =>
      refused(() => steps([...START, name, 'Normalize']), new RegExp(`has the module ${name} \\("2_${name}"\\) after Pooling`)));

  it('are refused with Dense and no pooling, which is for tokens', () =>
    refused(() => steps(['Transformer', 'Dense']), /has the module Dense \("1_Dense"\) without a Pooling before it/));

  const elsewhere: [string, object][] = [
    ['Normalize', { module_input_name: 'token_embeddings' }],
    ['Dense', { module_input_name: 'token_embeddings', module_output_name: 'sentence_embedding' }],
    ['Dense', { module_output_name: 'other' }],
  ];
  for (const [name, config] of elsewhere)
    it(`are refused with ${name} of ${JSON.stringify(config)}`, () =>
      refused(
        () => steps([...START, name], { [`2_${name}/config.json`]: config }),
        new RegExp(`2_${name}/config\\.json of model-\\d+ reads .*only modules of sentence_embedding`),
      ));
});
