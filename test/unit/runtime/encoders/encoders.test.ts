import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { settingsOfModel } from '../../../../runtime/encoders/contract.js';
import { inBatches, shortenVectors } from '../../../../runtime/encoders/encoders.js';
import { entailmentOf, relevance, scoresByLabel, sigmoid, softmax, zeroShotScores } from '../../../../runtime/encoders/scores.js';
import type { EncoderModel, EncoderTask } from '../../../../runtime/engines/contracts/encoder.js';
import { chooseOnnx, hasOnnx } from '../../../../runtime/formats/onnx-names.js';
import { findEncoder } from '../../../../runtime/models/find/encoder.js';
import { modelPlaces } from '../../../../runtime/models/find/places.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';
import { floats, writeOnnx } from '../../../support/models/writers/onnx-writer.js';

const near = (found: number, expected: number): void => assert.ok(Math.abs(found - expected) < 1e-6, `${found}, not ${expected}`);

describe('the choice of an ONNX file', () => {
  const MANY = ['model.onnx', 'model_fp16.onnx', 'model_int8.onnx', 'model_q4.onnx', 'model_quantized.onnx'].map((file) => `onnx/${file}`);
  /** The same graph made in two ways. */
  const GATHER = ['onnx/model_no_gather_q4.onnx', 'onnx/model_fp16.onnx', 'onnx/model_q4.onnx', 'onnx/model.onnx'];
  const cases: [wanted: string | null, files: string[], file: string | undefined, missed?: boolean][] = [
    [null, MANY, 'onnx/model.onnx'],
    ['INT8', MANY, 'onnx/model_int8.onnx'],
    ['Q8', ['onnx/model_quantized.onnx', 'onnx/model.onnx'], 'onnx/model_quantized.onnx'],
    ['FP16', MANY, 'onnx/model_fp16.onnx'],
    ['F32', MANY, 'onnx/model.onnx'],
    ['Q4', MANY, 'onnx/model_q4.onnx'],
    ['Q4F16', ['onnx/model_q4.onnx', 'onnx/model_q4f16.onnx'], 'onnx/model_q4f16.onnx'],
    ['INT8', ['onnx/model.onnx', 'onnx/model_qint8_avx512_vnni.onnx'], 'onnx/model_qint8_avx512_vnni.onnx'],
    ['UINT8', ['onnx/model.onnx', 'onnx/model_quint8_avx2.onnx'], 'onnx/model_quint8_avx2.onnx'],
    ['Q5_K_M', MANY, 'onnx/model.onnx', true],
    ['BF16', MANY, 'onnx/model.onnx', true],
    [null, ['onnx/model_quantized.onnx'], 'onnx/model_quantized.onnx'],
    [null, ['model.onnx', 'onnx/model.onnx'], 'onnx/model.onnx'],
    [null, ['model_O2.onnx', 'model_O4.onnx'], 'model_O2.onnx'],
    [null, ['deep/down/encoder.onnx', 'config.json'], 'deep/down/encoder.onnx'],
    [null, ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx'], undefined],
    [null, GATHER, 'onnx/model.onnx'],
    ['Q4', GATHER, 'onnx/model_q4.onnx'],
    [null, ['onnx/model_no_gather_q4.onnx'], 'onnx/model_no_gather_q4.onnx'],
    [null, [], undefined],
  ];
  for (const [wanted, files, file, missed = false] of cases) {
    it(`${wanted} of ${files.join(' ')}`, () => {
      const choice = chooseOnnx(files, wanted);
      assert.equal(choice?.file, file);
      assert.equal(choice !== undefined && choice.note !== null, missed);
      if (missed) assert.ok(choice!.note!.startsWith(`${wanted} is not there`));
    });
  }

  describe('for the processor', () => {
    const { arch } = process;
    const become = (value: string): object => Object.defineProperty(process, 'arch', { value, configurable: true });
    after(() => become(arch));
    const LAYOUT = ['qint8_arm64', 'qint8_avx512', 'qint8_avx512_vnni', 'quint8_avx2'].map((format) => `onnx/model_${format}.onnx`);
    const [ARM, AVX512, VNNI, AVX2] = LAYOUT as [string, string, string, string];
    const machines: [processor: string, wanted: string | null, files: string[], file: string][] = [
      ['x64', 'INT8', LAYOUT, AVX512],
      ['x64', 'Q8', ['onnx/model.onnx', ...LAYOUT], AVX512],
      ['x64', 'INT8', [ARM, VNNI], VNNI],
      ['x64', 'UINT8', LAYOUT, AVX2],
      ['x64', 'QINT8_ARM64', LAYOUT, ARM],
      ['x64', null, LAYOUT, AVX512],
      ['x64', null, [ARM, AVX2], AVX2],
      ['x64', 'INT8', [ARM], ARM],
      ['x64', 'INT8', [ARM, 'onnx/model_qint8_dynamic.onnx'], 'onnx/model_qint8_dynamic.onnx'],
      ['arm64', 'INT8', LAYOUT, ARM],
      ['arm64', 'INT8', [AVX512, ARM], ARM],
      ['arm64', 'Q8_0', [AVX512, 'onnx/model_qint8_dynamic.onnx'], 'onnx/model_qint8_dynamic.onnx'],
      ['arm64', null, [AVX2, ARM], ARM],
      ['s390x', 'INT8', LAYOUT, ARM],
    ];
    for (const [processor, wanted, files, file] of machines)
      it(`${wanted} on ${processor} of ${files.join(' ')}`, () => {
        become(processor);
        assert.equal(chooseOnnx(files, wanted)?.file, file);
      });
  });

  it('knows whether a format is there', () => {
    assert.deepEqual(
      [hasOnnx(MANY, 'INT8'), hasOnnx(MANY, 'Q8_0'), hasOnnx(MANY, 'Q5_K_M'), hasOnnx(['x.onnx'], 'INT8')],
      [true, true, false, false],
    );
  });
});

describe('the place of an encoder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'locate-'));
  after(() => rmSync(dataDir, { recursive: true }));
  const places = { ...modelPlaces(dataDir), hub: join(dataDir, 'hub') };
  const put = (path: string, bytes: number | Uint8Array): void => {
    mkdirSync(join(dataDir, 'models', path, '..'), { recursive: true });
    writeFileSync(join(dataDir, 'models', path), typeof bytes === 'number' ? Buffer.alloc(bytes) : bytes);
  };
  const graph = writeOnnx({
    nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
    initializers: [{ ...floats('w', [2, 2], [1, 2, 3, 4]), external: { location: 'weights.pb' } }],
    inputs: [{ name: 'x', type: 'float32', dims: ['n', 2] }],
    outputs: [{ name: 'y', type: 'float32', dims: ['n', 2] }],
  });
  put('org/both/onnx/model.onnx', graph);
  put('org/both/onnx/weights.pb', 90);
  put('org/both/onnx/model.onnx.bak', 1000);
  put('org/both/onnx/model_int8.onnx', 40);
  put('org/both/both.Q8_0.gguf', 7);
  put('org/both/both.F16.gguf', 9);
  put('org/split/x-00001-of-00002.gguf', 3);
  put('org/split/x-00002-of-00002.gguf', 4);
  put('org/split/x-00001-of-00002.gguf.part', 100);
  put('alone.gguf', 5);
  put('alone.gguf.bak', 50);
  const at = (name: string, task: EncoderTask = 'embedding', wish: string | null = null) => findEncoder(name, task, wish, places);

  it('takes GGUF for embeddings where both are there, unless the name wants an ONNX file', async () => {
    const plain = await at('org/both');
    assert.deepEqual([plain.format, plain.sizeBytes, plain.quantisation], ['gguf', 7, null]);
    assert.deepEqual([(await at('org/both:F16')).format, (await at('org/both:f16')).sizeBytes], ['gguf', 9]);
    const int8 = await at('org/both:INT8');
    assert.deepEqual([int8.format, int8.sizeBytes, int8.quantisation], ['onnx', 40, 'INT8']);
  });

  it('takes ONNX for what GGUF cannot do, with the size of the weights that its graph names', async () => {
    const { format, folder, sizeBytes } = await at('org/both', 'ner');
    assert.deepEqual([format, sizeBytes, folder], ['onnx', graph.length + 90, join(dataDir, 'models/org/both')]);
  });

  it('lets the number format of a project choose where the name does not', async () => {
    assert.equal((await at('org/both', 'reranking', 'FP32')).sizeBytes, graph.length + 90);
    assert.equal((await at('org/both', 'reranking', 'INT8')).sizeBytes, 40);
    assert.equal((await at('org/both:F32', 'reranking', 'INT8')).sizeBytes, graph.length + 90);
  });

  it('counts all parts of a split file, and finds single ones', async () => {
    assert.equal((await at('org/split')).sizeBytes, 7);
    for (const name of ['alone', 'alone.gguf', join(dataDir, 'models/alone.gguf')]) assert.equal((await at(name)).sizeBytes, 5, name);
  });

  it('refuses a GGUF model for another task, and tells a missing one how to come', async () => {
    const embedsOnly = { kind: 'bad_request', code: 'TaskNotSupported', message: /embeddings or reranks.*classifies/ };
    await assert.rejects(at('alone', 'classification'), embedsOnly);
    await assert.rejects(at('org/split', 'classification'), embedsOnly);
    await assert.rejects(at('org/none'), { kind: 'not_found', code: 'ModelNotFound', message: /quern pull org\/none/ });
    await assert.rejects(at('none'), { kind: 'not_found', message: /quern pull none/ });
  });
});

describe('scores', () => {
  it('makes probabilities of logits, however large', () => {
    const [a, b, c] = softmax([1000, 1000, -1000]);
    near(a!, 0.5);
    near(b!, 0.5);
    near(c!, 0);
    near(sigmoid(0), 0.5);
    assert.equal(sigmoid(-1000), 0);
  });

  it('takes the one logit of a reranker, or the last', () => assert.deepEqual([relevance([3]), relevance([3, 5])], [3, 5]));

  it('names outputs, and counts those without a name', () =>
    assert.deepEqual(Object.keys(scoresByLabel(['a'], [1, 2])).sort(), ['1', 'a']));

  it('takes outputs that do not exclude each other one by one, and those of a regression as they are', () => {
    const labels = ['a', 'b'];
    assert.deepEqual(scoresByLabel(labels, [0, 0], 'multi_label'), { a: 0.5, b: 0.5 });
    near(scoresByLabel(labels, [2, -1], 'multi_label').a!, 1 / (1 + Math.exp(-2)));
    near(scoresByLabel(labels, [2]).a!, 1 / (1 + Math.exp(-2)));
    assert.deepEqual(scoresByLabel(labels, [3.5], 'regression'), { a: 3.5 });
  });

  it('finds the entailment by name, in any order and case', () => {
    assert.deepEqual(entailmentOf('m', ['ENTAILMENT', 'neutral', 'CONTRADICTION']), { entails: 0, contradicts: 2 });
    assert.deepEqual(entailmentOf('m', ['not_entailment', 'entailment']), { entails: 1, contradicts: 0 });
    assert.throws(() => entailmentOf('m', ['negative', 'positive']), { kind: 'bad_request', message: /"m" has negative, positive/ });
  });

  it('compares labels with each other, or weighs each alone', () => {
    const rows = [
      [2, 0, 0],
      [0, 0, 0],
    ];
    const entailment = { entails: 0, contradicts: 2 };
    const together = zeroShotScores(['x', 'y'], rows, entailment, false);
    near(together.x!, 1 / (1 + Math.exp(-2)));
    near(together.x! + together.y!, 1);
    const alone = zeroShotScores(['x', 'y'], rows, entailment, true);
    near(alone.x!, 1 / (1 + Math.exp(-2)));
    near(alone.y!, 0.5);
    assert.deepEqual(zeroShotScores(['x'], rows.slice(0, 1), entailment, false), { x: alone.x }, 'one label has none to be compared with');
  });
});

describe('shorter vectors', () => {
  it('keeps the first components at length 1', () => {
    const [vector] = shortenVectors([Float32Array.of(0.3, 0.4, 0.5)], 2, 'm');
    near(vector![0]!, 0.6);
    near(vector![1]!, 0.8);
  });

  it('refuses more than there are, and what leaves nothing', () => {
    assert.throws(() => shortenVectors([Float32Array.of(1, 0)], 3, 'm'), {
      kind: 'invalid',
      message: /dimensions is 3.*"m".*2 dimensions/,
    });
    assert.throws(() => shortenVectors([Float32Array.of(0, 1)], 1, 'm'), { kind: 'invalid', message: /nothing of text 1/ });
  });
});

describe('settings of a project', () => {
  const model = (more: Partial<ModelConfig>): ModelConfig => ({ name: 'm', provider: 'universal', model: 'x', ...more });

  it('come from encoder_config, transformers and keep_loaded', () => {
    assert.deepEqual(settingsOfModel(model({}), 'embedding'), {});
    const full = model({
      encoder_config: { max_length: 64, use_flash_attention: false, task: 'embedding' },
      transformers: { device: 'cpu', dtype: 'fp16', batch_size: 3, model_type: 'embedding' },
      keep_loaded: true,
    });
    assert.deepEqual(settingsOfModel(full, 'embedding'), {
      maxLength: 64,
      flashAttention: false,
      device: 'cpu',
      dtype: 'fp16',
      batchSize: 3,
      keepLoaded: true,
    });
  });

  it('refuse a model that is there for another task', () => {
    const ranker = model({ encoder_config: { task: 'reranking' } });
    assert.deepEqual(settingsOfModel(ranker, 'reranking'), {});
    assert.throws(() => settingsOfModel(ranker, 'embedding'), { kind: 'bad_request', message: /'m'.*task reranking.*embedding/ });
    const typed = (type: 'text' | 'image' | 'reranking'): ModelConfig => model({ transformers: { model_type: type } });
    assert.deepEqual(settingsOfModel(typed('reranking'), 'reranking'), {});
    for (const type of ['text', 'image', 'reranking'] as const)
      assert.throws(() => settingsOfModel(typed(type), 'embedding'), {
        kind: 'bad_request',
        message: new RegExp(`model_type ${type}.*embedding`),
      });
  });
});

describe('batches of a size that the caller chose', () => {
  const sizes: number[] = [];
  const given = (texts: readonly string[]): number[] => {
    sizes.push(texts.length);
    return texts.map((text) => text.length);
  };
  const vectors = (texts: readonly string[]): Float32Array[] => texts.map((text) => Float32Array.of(text.length));
  const model = {
    embed: async (texts: readonly string[]) => ({ vectors: vectors(texts), tokens: given(texts) }),
    score: async (_query: string, texts: readonly string[]) => ({ logits: vectors(texts), tokens: given(texts) }),
    classify: async (texts: readonly string[], _call: unknown, pairs?: readonly string[]) => ({
      logits: vectors(pairs ?? texts),
      tokens: given(texts),
    }),
    entities: async (texts: readonly string[]) => ({ entities: texts.map(() => []), tokens: given(texts) }),
  } as unknown as EncoderModel;
  const call = { signal: new AbortController().signal };
  const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];

  for (const [name, ask] of Object.entries({
    embed: (one: EncoderModel) => one.embed(texts, call),
    score: (one: EncoderModel) => one.score('q', texts, call),
    classify: (one: EncoderModel) => one.classify(texts, call, [...texts].reverse()),
    entities: (one: EncoderModel) => one.entities(texts, call),
  }))
    for (const [size, expected] of [
      [2, [2, 2, 1]],
      [5, [5]],
      [100, [5]],
    ] as const)
      it(`${name}, ${size} at a time`, async () => {
        const whole = await ask(model);
        sizes.length = 0;
        assert.deepEqual(await ask(inBatches(model, size)), whole);
        assert.deepEqual(sizes, expected);
      });
});
