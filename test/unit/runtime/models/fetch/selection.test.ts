import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quantisationOptions, selectFiles } from '../../../../../runtime/models/fetch/selection.js';
import { processorMs } from '../../../../support/processor-time.js';

const listing = (...paths: string[]): Parameters<typeof selectFiles>[1] =>
  paths.map((path, index) => ({ path, sizeBytes: 10 + index, etag: index.toString(16).padStart(64, '0') }));
const chosen = (paths: string[], wanted: string | null = null): string[] | undefined =>
  selectFiles('org/repo', listing(...paths), wanted)?.files.map(({ path }) => path);

const TRANSFORMERS_JS = [
  ...['config.json', 'tokenizer.json', 'README.md', 'quantize_config.json', 'model.safetensors', 'pytorch_model.bin'],
  ...['onnx/model.onnx', 'onnx/model_fp16.onnx', 'onnx/model_int8.onnx', 'onnx/model_quantized.onnx', 'onnx/model_q4f16.onnx'],
];
const SENTENCE_TRANSFORMERS = [
  ...['modules.json', '1_Pooling/config.json', '2_Dense/config.json', '2_Dense/model.safetensors', 'vocab.txt', 'LICENSE'],
  ...['2_Dense/pytorch_model.bin', '3_Dense_1024/model.safetensors', 'model.safetensors', 'onnx/2_Dense/model.safetensors'],
  ...['onnx/model.onnx', 'onnx/model_O2.onnx', 'onnx/model_qint8_avx512_vnni.onnx', 'openvino/openvino_model.xml', 'openvino/x.json'],
];
const MODULES = [
  ...['modules.json', '1_Pooling/config.json', '2_Dense/config.json', '2_Dense/model.safetensors', 'vocab.txt', 'LICENSE'],
  '3_Dense_1024/model.safetensors',
];
const DECODER = [
  ...[
    'config.json',
    'onnx/encoder_model.onnx',
    'onnx/encoder_model_q4.onnx',
    'onnx/decoder_model.onnx',
    'onnx/decoder_with_past_model.onnx',
  ],
  ...['onnx/decoder_model_merged.onnx', 'onnx/decoder_model_merged_q4.onnx', 'onnx/decoder_model_merged.onnx_data'],
  'onnx/decoder_model_merged_q4.onnx_data',
];
const SPLIT = (format: string): string[] => ['decoder_model', 'decoder_with_past_model'].map((graph) => `onnx/${graph}${format}.onnx`);
const ENCODER_FP16 = 'onnx/encoder_model_fp16.onnx';
const LATER_FP16 = 'onnx/decoder_with_past_model_fp16.onnx';
const MERGED_Q4 = 'onnx/decoder_model_merged_q4.onnx';
const PIPELINE = [
  ...['model_index.json', 'scheduler/scheduler_config.json', 'tokenizer/vocab.json', 'tokenizer/merges.txt', 'unet/config.json'],
  ...['unet/model.onnx', 'unet/weights.pb', 'unet/model.safetensors', 'vae_decoder/model.onnx', 'text_encoder/model.onnx', 'sd.ckpt'],
];
const BESIDE = ['README.txt', 'onnx/config.json', 'onnx/model.onnx', 'onnx/tokenizer.json', 'onnx/tokenizer_config.json'];
const BOTH = ['config.json', 'onnx/model.onnx', 'onnx/model_fp16.onnx', 'gguf/m-f32.gguf'];
const GEN_AI = [
  'cpu/int4/model.onnx',
  'cpu/int4/model.onnx.data',
  'cpu/int4/genai_config.json',
  'cuda/fp16/model.onnx',
  'cuda/fp16/genai_config.json',
];
const GGUF = [
  ...['a-Q4_K_M.gguf', 'a-Q8_0-00001-of-00002.gguf', 'a-Q8_0-00002-of-00002.gguf', 'UD/a-UD-Q4_K_XL.gguf'],
  ...['mmproj-a-F32.gguf', 'mmproj-a-BF16.gguf', 'config.json', 'a-imatrix.gguf', 'a.imatrix.gguf', 'imatrix.gguf'],
];

describe('what is fetched of a repository', () => {
  const cases: [string, string[], string | null, string[]][] = [
    ['the plain graph', TRANSFORMERS_JS, null, ['config.json', 'tokenizer.json', 'quantize_config.json', 'onnx/model.onnx']],
    [
      'of a graph made in two ways the usual one',
      ['onnx/model_no_gather_q4.onnx', 'onnx/model_q4.onnx', 'onnx/model.onnx'],
      null,
      ['onnx/model.onnx'],
    ],
    ['the wanted graph', TRANSFORMERS_JS, 'FP16', ['config.json', 'tokenizer.json', 'quantize_config.json', 'onnx/model_fp16.onnx']],
    [
      'eight bits by their other name',
      TRANSFORMERS_JS,
      'Q8_0',
      ['config.json', 'tokenizer.json', 'quantize_config.json', 'onnx/model_quantized.onnx'],
    ],
    ['folders of modules', SENTENCE_TRANSFORMERS, null, [...MODULES, 'onnx/model.onnx']],
    ['a graph for one kind of machine', SENTENCE_TRANSFORMERS, 'INT8', [...MODULES, 'onnx/model_qint8_avx512_vnni.onnx']],
    [
      'merged decoders with their own outside weights',
      DECODER,
      'Q4',
      ['config.json', 'onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx', 'onnx/decoder_model_merged_q4.onnx_data'],
    ],
    [
      'of a decoder in two, which alone has the wanted format, the graph that writes without an encoder',
      [...SPLIT('_fp16'), MERGED_Q4],
      'FP16',
      ['onnx/decoder_with_past_model_fp16.onnx'],
    ],
    ['that graph where its beginning has another format', ['onnx/decoder_model.onnx', LATER_FP16, MERGED_Q4], 'FP16', [LATER_FP16]],
    ['that graph where nothing is merged', SPLIT(''), null, ['onnx/decoder_with_past_model.onnx']],
    ['a beginning where nothing else is there', ['onnx/decoder_model.onnx'], null, ['onnx/decoder_model.onnx']],
    ['both beside an encoder', [ENCODER_FP16, ...SPLIT('_fp16'), MERGED_Q4], 'FP16', [ENCODER_FP16, ...SPLIT('_fp16')]],
    [
      'both where the encoder lies elsewhere',
      ['onnx/a/encoder_model.onnx', 'onnx/b/decoder_model.onnx', 'onnx/b/decoder_with_past_model.onnx'],
      null,
      ['onnx/a/encoder_model.onnx', 'onnx/b/decoder_model.onnx', 'onnx/b/decoder_with_past_model.onnx'],
    ],
    [
      'a merged decoder beside an encoder where one of two lacks the wanted format',
      [ENCODER_FP16, ...SPLIT('_q4'), LATER_FP16, MERGED_Q4],
      'FP16',
      [ENCODER_FP16, MERGED_Q4],
    ],
    [
      'of plain parts both beside an encoder where one of them alone has the wanted format',
      [ENCODER_FP16, ...SPLIT(''), LATER_FP16, MERGED_Q4],
      'FP16',
      [ENCODER_FP16, ...SPLIT('')],
    ],
    [
      'a merged decoder beside an encoder where the graph for later tokens alone has the wanted format',
      [ENCODER_FP16, LATER_FP16, MERGED_Q4],
      'FP16',
      [ENCODER_FP16, MERGED_Q4],
    ],
    [
      'plain parts instead of lesser weights in one',
      ['onnx/encoder_model.onnx', ...SPLIT(''), MERGED_Q4],
      null,
      ['onnx/encoder_model.onnx', ...SPLIT('')],
    ],
    ['a merged decoder where only it has the wanted format', [...SPLIT('_fp16'), MERGED_Q4], 'Q4', [MERGED_Q4]],
    ['a merged decoder where neither form has the wanted format', [...SPLIT('_fp16'), MERGED_Q4], 'INT8', [MERGED_Q4]],
    ['a merged decoder where no format is wanted', [...SPLIT('_fp16'), MERGED_Q4], null, [MERGED_Q4]],
    [
      'a merged decoder where one of two lacks the wanted format',
      [...SPLIT(''), 'onnx/decoder_model_fp16.onnx', MERGED_Q4],
      'FP16',
      [MERGED_Q4],
    ],
    [
      'a merged decoder where its beginning alone, which cannot write, has the wanted format',
      ['onnx/decoder_model_fp16.onnx', MERGED_Q4],
      'FP16',
      [MERGED_Q4],
    ],
    [
      'that beginning beside an encoder, which it can write with',
      [ENCODER_FP16, 'onnx/decoder_model_fp16.onnx', MERGED_Q4],
      'FP16',
      [ENCODER_FP16, 'onnx/decoder_model_fp16.onnx'],
    ],
    ['every part of a pipeline', PIPELINE, null, PIPELINE.filter((path) => !/safetensors|ckpt/.test(path))],
    [
      'every graph in the format that all have',
      ['config.json', 'onnx/encoder_model.onnx', 'onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'],
      null,
      ['config.json', 'onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'],
    ],
    ['one quantisation', GGUF, null, ['a-Q4_K_M.gguf']],
    ['all shards', GGUF, 'Q8_0', ['a-Q8_0-00001-of-00002.gguf', 'a-Q8_0-00002-of-00002.gguf']],
    ['a dynamic quantisation', GGUF, 'UD-Q4_K_XL', ['UD/a-UD-Q4_K_XL.gguf']],
    ['no importance matrix', ['a.imatrix.gguf', 'a-Q3_K_S.gguf', 'a-Q3_K_L.gguf'], null, ['a-Q3_K_S.gguf']],
    ['a quantisation that was made with one', ['a-imatrix.gguf', 'a-imatrix-Q8_0.gguf'], null, ['a-imatrix-Q8_0.gguf']],
    ['the graph beside an importance matrix', ['imatrix.gguf', 'onnx/model.onnx', 'config.json'], null, ['onnx/model.onnx', 'config.json']],
    ['a format that only the graphs beside a GGUF file have', BOTH, 'FP16', ['config.json', 'onnx/model_fp16.onnx']],
    ['of both the GGUF file', BOTH, null, ['gguf/m-f32.gguf']],
    ['of both the GGUF file where neither has the format', BOTH, 'Q4_K_M', ['gguf/m-f32.gguf']],
    ['of both the GGUF file where both have the format', BOTH, 'FP32', ['gguf/m-f32.gguf']],
    ['settings beside the graph', BESIDE, null, BESIDE],
    ['the better projector', GGUF, 'MMPROJ', ['mmproj-a-BF16.gguf']],
    ['the named projector', GGUF, 'MMPROJ-F32', ['mmproj-a-F32.gguf']],
    [
      'graphs of older exports',
      ['model.onnx', 'model.onnx_data', 'config.json', 'x.bin'],
      null,
      ['model.onnx', 'model.onnx_data', 'config.json'],
    ],
  ];
  for (const [what, paths, wanted, expected] of cases) {
    it(`is ${what}`, () => assert.deepEqual(chosen(paths, wanted), expected));
  }

  it('is nothing where nothing runs here', () => {
    assert.equal(chosen(['model.safetensors', 'config.json']), undefined);
    assert.equal(chosen(['model.safetensors', 'model.imatrix.gguf']), undefined);
    assert.equal(chosen(GEN_AI), undefined);
    assert.deepEqual(chosen(['onnx/model.onnx', 'onnx/genai_config.json', ...GEN_AI]), ['onnx/model.onnx', 'onnx/genai_config.json']);
  });

  it('is told where something else is taken', () => {
    assert.match(selectFiles('org/repo', listing(...TRANSFORMERS_JS), 'BNB4')?.note ?? '', /BNB4/);
    assert.match(selectFiles('org/repo', listing(...GGUF), 'Q2_K')?.note ?? '', /Q2_K/);
    assert.equal(selectFiles('org/repo', listing(...GGUF), 'Q8_0')?.note, null);
  });

  it('is refused where shards or the projector are missing', () => {
    assert.throws(() => chosen(['a-00001-of-00003.gguf', 'a-00002-of-00003.gguf']), { code: 'ShardsMissing' });
    assert.throws(() => chosen(['a.gguf'], 'MMPROJ'), { kind: 'not_found' });
  });

  it('can be had in these forms', () => {
    const options = (paths: string[]): [string, string | null][] =>
      quantisationOptions(listing(...paths)).map(({ filename, quantization }) => [filename, quantization]);
    assert.deepEqual(options(GGUF), [
      ['a-Q4_K_M.gguf', 'Q4_K_M'],
      ['UD/a-UD-Q4_K_XL.gguf', 'UD-Q4_K_XL'],
      ['a-Q8_0-00001-of-00002.gguf', 'Q8_0'],
    ]);
    assert.deepEqual(options(['onnx/model.onnx', 'onnx/model_int8.onnx', 'other.onnx']), [
      ['onnx/model.onnx', null],
      ['onnx/model_int8.onnx', 'INT8'],
    ]);
    assert.deepEqual(
      options([
        'onnx/encoder_model.onnx',
        'onnx/encoder_model_q4.onnx',
        'onnx/decoder_model_merged_q4.onnx',
        'onnx/model_qint8_avx512_vnni.onnx',
      ]),
      [
        ['onnx/encoder_model.onnx', null],
        ['onnx/encoder_model_q4.onnx', 'Q4'],
        ['onnx/decoder_model_merged_q4.onnx', 'Q4'],
        ['onnx/model_qint8_avx512_vnni.onnx', 'QINT8_AVX512_VNNI'],
      ],
    );
  });

  it('can be had in as many forms as are listed, each with its own weights, without holding up everything else', () => {
    const one = (index: number): string[] => [`onnx/m${index}_q4.onnx`, `onnx/m${index}_q4.onnx_data`, `onnx/m${index}_q4.data`];
    const formats = Array.from({ length: 1000 }, (_, index) => `onnx/model_f${index}.onnx`);
    let options: ReturnType<typeof quantisationOptions> = [];
    const ms = processorMs(() => {
      assert.equal(quantisationOptions(listing(...formats)).length, 1000);
      assert.deepEqual(chosen(['a.gguf', ...formats]), ['a.gguf']);
      options = quantisationOptions(listing(...Array.from({ length: 3000 }, (_, index) => one(index)).flat(), 'onnx/weights.pb'));
    });
    assert.ok(ms < 4000, `${ms} ms`);
    // Files have 10 bytes and one more each; all graphs share the last one.
    assert.deepEqual([options.length, options[0]!.sizeBytes, options[2999]!.sizeBytes], [3000, 10 + 11 + 12 + 9010, 3 * 9008 + 9010]);
  });

  it('takes the voices of a model that speaks, in the languages that are read here', () => {
    const files = [
      'config.json',
      'onnx/model.onnx',
      'onnx/model_quantized.onnx',
      'onnx/model_fp16.onnx',
      'voices/af_heart.bin',
      'voices/bm_lewis.bin',
      'voices/zf_xiaobei.bin',
      'samples/HEARTS.wav',
    ];
    assert.deepEqual(chosen(files, 'INT8'), ['config.json', 'onnx/model_quantized.onnx', 'voices/af_heart.bin', 'voices/bm_lewis.bin']);
  });

  it('takes all of a model for sherpa-onnx in one form, without the recordings to try it with', () => {
    const voice = ['espeak-ng-data/phontab', 'espeak-ng-data/lang/gmw/en', 'model.onnx', 'tokens.txt', 'voices.bin'];
    assert.deepEqual(chosen([...voice, 'model.int8.onnx', 'README.md', 'test_wavs/0.wav']), voice);
    const ear = ['decoder.int8.onnx', 'encoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'];
    assert.deepEqual(chosen([...ear, 'decoder.onnx', 'encoder.onnx', 'joiner.onnx', 'bpe.model', 'test_wavs/en.wav']), ear);
    assert.deepEqual(chosen(['model.int8.onnx', 'model.onnx', 'tokens.txt']), ['model.int8.onnx', 'tokens.txt']);
    const moonshine = ['cached_decode.int8.onnx', 'encode.int8.onnx', 'preprocess.onnx', 'tokens.txt', 'uncached_decode.int8.onnx'];
    assert.deepEqual(chosen([...moonshine, 'LICENSE', 'test_wavs/0.wav']), moonshine);
  });
});
