import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EncoderCall, EncoderFiles, EncoderOptions, EncoderTask } from '../../runtime/engines/contracts/encoder.js';
import { EncoderClient } from '../../runtime/engines/encoders/onnx/client.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';
import { Failure } from '../../schemas/errors.js';
import {
  TINY_LENGTH,
  type TinyEncoder,
  type TinyTask,
  type TinyTokenizer,
  writeTinyEncoder,
} from '../support/models/tiny-encoders/tiny-encoders.js';
import { NER_LABELS, NLI_LABELS, SENTIMENT_LABELS } from '../support/models/tiny-encoders/weights.js';
import type { OnnxGraph } from '../support/models/writers/onnx-writer.js';

const TOKENIZERS: readonly TinyTokenizer[] = ['uncased', 'cased', 'bpe', 'unigram'];
const TASKS: Readonly<Record<TinyTask, EncoderTask>> = {
  embedding: 'embedding',
  reranking: 'reranking',
  sentiment: 'classification',
  nli: 'classification',
  ner: 'ner',
};
const CALL: EncoderCall = { signal: new AbortController().signal };

let folder = '';
let made = 0;
const open: EncoderClient[] = [];
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'quern-encoders-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function written(encoder: TinyEncoder): EncoderFiles {
  const place = join(folder, `encoder-${made++}`);
  writeTinyEncoder(place, encoder);
  return { name: `tiny/${encoder.task}`, format: 'onnx', model: join(place, 'onnx/model.onnx'), folder: place, notes: [] };
}

async function loaded(encoder: TinyEncoder, more: Partial<EncoderFiles> = {}, options: EncoderOptions = {}): Promise<EncoderClient> {
  const files = { ...written(encoder), ...more };
  const client = await load(files, TASKS[encoder.task], options);
  open.push(client);
  assert.equal(client.info.engine, engine);
  return client;
}
/** What the present suite runs graphs with. */
let engine: NonNullable<EncoderOptions['engine']> = 'native';
const load = (files: EncoderFiles, task: EncoderTask, options: EncoderOptions = {}): Promise<EncoderClient> =>
  EncoderClient.load(
    { task, files, options: { threads: 1, device: 'cpu', engine, ...options }, circuit: new CircuitBreaker(files.name) },
    CALL.signal,
  );
/** A suite that is run with the native pass, and again with ONNX Runtime unless it is told that others do so. */
function withBoth(name: string, suite: () => void, isKnown = false): void {
  for (const chosen of isKnown ? (['native'] as const) : (['native', 'onnxruntime'] as const))
    describe(`${name}, ${chosen === 'native' ? 'the native pass' : 'ONNX Runtime'}`, () => {
      before(() => {
        engine = chosen;
      });
      after(closeAll);
      suite();
    });
}
async function refusal(files: EncoderFiles, task: EncoderTask): Promise<Failure> {
  try {
    await (await load(files, task)).close();
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
  assert.fail('it was loaded');
}
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);
const closeAll = async (): Promise<void> => {
  await Promise.all(open.splice(0).map((client) => client.close()));
};

for (const tokenizer of TOKENIZERS) {
  withBoth(
    `ONNX encoders with the ${tokenizer} vocabulary`,
    () => {
      it('embeds: like texts are near, lengths are 1, batches change nothing', async () => {
        const client = await loaded({ task: 'embedding', tokenizer });
        const texts = ['the cat is in the house', 'the cat is in the garden', 'price of milk and bread', '', `${'river '.repeat(500)}`];
        const { vectors, tokens } = await client.embed(texts, CALL);
        assert.ok(dot(vectors[0]!, vectors[1]!) > dot(vectors[0]!, vectors[2]!) + 0.2);
        assert.deepEqual(tokens, [8, 8, 7, 2, TINY_LENGTH]);
        for (const [index, vector] of vectors.entries()) {
          assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-5);
          const alone = await client.embed([texts[index]!], CALL);
          assert.ok(dot(vector, alone.vectors[0]!) > 0.99999, `text ${index}`);
        }
        assert.equal(client.info.dimensions, 64);
      });

      it('cuts texts to the length of the call, never beyond the model', async () => {
        const client = await loaded({ task: 'embedding', tokenizer });
        const text = ['red river '.repeat(100)];
        assert.deepEqual((await client.embed(text, { ...CALL, maxLength: 10 })).tokens, [10]);
        assert.deepEqual((await client.embed(text, { ...CALL, maxLength: 1000 })).tokens, [TINY_LENGTH]);
        assert.equal(client.info.maxLength, TINY_LENGTH);
      });

      it('cuts texts without white space', async () => {
        const client = await loaded({ task: 'embedding', tokenizer });
        const long = 'red.river'.repeat(70_000);
        const { vectors, tokens } = await client.embed([long, long.slice(0, 1000)], CALL);
        assert.deepEqual(tokens, [TINY_LENGTH, TINY_LENGTH]);
        assert.ok(dot(vectors[0]!, vectors[1]!) > 0.99999);
      });

      it('classifies by the words of a text', async () => {
        const client = await loaded({ task: 'sentiment', tokenizer });
        const { logits } = await client.classify(['great film', 'awful film'], CALL);
        assert.deepEqual(client.info.labels, SENTIMENT_LABELS);
        assert.ok(logits[0]![1]! > logits[0]![0]! + 1 && logits[1]![0]! > logits[1]![1]! + 1);
      });

      if (tokenizer !== 'uncased')
        it('finds entities by whole words, with places as Python counts them', async () => {
          const client = await loaded({ task: 'ner', tokenizer });
          assert.deepEqual(client.info.labels, NER_LABELS);
          const text = '😀 Anna Smith lives in Oslo, Peter in Lima. é Maria';
          const { entities } = await client.entities([text, ''], CALL);
          const points = Array.from(text);
          assert.deepEqual(
            entities[0]!.map(({ text: part, label }) => [part, label]),
            [
              ['Anna Smith', 'PER'],
              ['Oslo', 'LOC'],
              ['Peter', 'PER'],
              ['Lima', 'LOC'],
              ['Maria', 'PER'],
            ],
          );
          for (const one of entities[0]!) {
            assert.equal(points.slice(one.start, one.end).join(''), one.text);
            assert.ok(one.score > 0.9 && one.score <= 1);
          }
          assert.deepEqual(entities[1], []);
        });

      if (tokenizer !== 'uncased')
        it('finds entities all through a text that is longer than the model reads at once', async () => {
          const client = await loaded({ task: 'ner', tokenizer });
          const sentence = '😀 Maria walks. The red dog of Anna Smith lives in Oslo, é. ';
          // The sentences meet the edges of the windows at every place.
          const text = sentence.repeat(60);
          const { entities, tokens } = await client.entities([text, 'Anna'], CALL);
          assert.ok(tokens[0]! > 8 * TINY_LENGTH, `${tokens[0]} tokens`);
          const points = Array.from(text);
          const length = Array.from(sentence).length;
          assert.deepEqual(
            entities[0]!.map(({ text: part, start }) => [part, start]),
            Array.from({ length: 60 }, (_, at) => [
              ['Maria', at * length + 2],
              ['Anna Smith', at * length + 30],
              ['Oslo', at * length + 50],
            ]).flat(),
          );
          for (const one of entities[0]!) assert.equal(points.slice(one.start, one.end).join(''), one.text);
          assert.deepEqual(
            entities[1]!.map(({ text: part }) => part),
            ['Anna'],
          );
          const short = await client.entities([text], { ...CALL, maxLength: 12 });
          assert.deepEqual(
            short.entities[0]!.map(({ start, end }) => [start, end]),
            entities[0]!.map(({ start, end }) => [start, end]),
          );
          for (const long of ['Anna '.repeat(40_000), 'A.'.repeat(300_000)])
            await assert.rejects(client.entities([long], CALL), { kind: 'invalid', message: /more than 32768 tokens/ });
        });

      if (tokenizer === 'cased')
        it('finds entities beside ideographs, and around what is not seen', async () => {
          const client = await loaded({ task: 'ner', tokenizer });
          const { entities } = await client.entities(['我住在Oslo和Lima', 'Anna\u200b Smi\u00adth lives in Os\u2060lo.'], CALL);
          assert.deepEqual(
            entities.map((of) => of.map(({ text, start, end }) => [text, start, end])),
            [
              [
                ['Oslo', 3, 7],
                ['Lima', 8, 12],
              ],
              [
                ['Anna\u200b Smi\u00adth', 0, 12],
                ['Os\u2060lo', 22, 27],
              ],
            ],
          );
        });

      if (tokenizer !== 'uncased')
        it('finds entities behind a long word', async () => {
          const client = await loaded({ task: 'ner', tokenizer });
          const text = `${'😀x.é'.repeat(3000)} Anna Smith`;
          const { entities } = await client.entities([text], CALL);
          assert.deepEqual(
            entities[0]!.map(({ text: part, start, end }) => [part, start, end]),
            [['Anna Smith', 12_001, 12_011]],
          );
        });
    },
    tokenizer === 'bpe' || tokenizer === 'unigram',
  );
}

withBoth('ONNX encoders on pairs', () => {
  it('ranks by the words that query and document share', async () => {
    const client = await loaded({ task: 'reranking' });
    const { logits, tokens } = await client.score('red dog', ['milk and bread', 'the red dog', 'a dog'], CALL);
    const [none, both, one] = logits.map((row) => row[0]!);
    assert.ok(both! > one! && one! > none!);
    assert.deepEqual(tokens, [8, 8, 7]);
  });

  it('cuts the longer text of a pair first', async () => {
    const client = await loaded({ task: 'reranking' });
    const long = 'river '.repeat(200);
    const { tokens } = await client.score('red dog', [long, 'dog'], { ...CALL, maxLength: 12 });
    assert.deepEqual(tokens, [12, 6]);
    const whole = await client.score('red dog', ['red dog'], CALL);
    const after = await client.score('red dog', [`red dog ${long}`], { ...CALL, maxLength: 7 });
    assert.deepEqual(after.logits, whole.logits);
  });

  it('weighs a text against a hypothesis', async () => {
    const client = await loaded({ task: 'nli' });
    assert.deepEqual(client.info.labels, NLI_LABELS);
    const { logits } = await client.classify(['red dog', 'red dog'], CALL, ['red dog', 'milk']);
    assert.ok(logits[0]![2]! > logits[0]![0]! && logits[1]![0]! > logits[1]![2]!);
  });
});

withBoth('pooling of ONNX encoders', () => {
  const MODES: readonly [string, string][] = [
    ['pooling_mode_mean_tokens', 'mean'],
    ['pooling_mode_cls_token', 'cls'],
    ['pooling_mode_max_tokens', 'max'],
    ['pooling_mode_lasttoken', 'last'],
    ['pooling_mode_weightedmean_tokens', 'weighted'],
    ['pooling_mode_mean_sqrt_len_tokens', 'mean_sqrt'],
  ];
  const text = ['red dog in the river', 'milk'];

  it('follows 1_Pooling/config.json, each way another vector', async () => {
    const vectors: Float32Array[] = [];
    for (const [pooling, name] of MODES) {
      const client = await loaded({ task: 'embedding', pooling });
      assert.equal(client.info.pooling, name);
      assert.deepEqual(client.info.notes, []);
      const { vectors: both } = await client.embed(text, CALL);
      if (name === 'cls' || name === 'last') assert.ok(dot(both[0]!, both[1]!) > 0.9, 'the ends of texts are alike');
      vectors.push(both[0]!);
    }
    for (let a = 0; a < 5; a += 1) for (let b = 0; b < a; b += 1) assert.ok(dot(vectors[a]!, vectors[b]!) < 0.999, `${a} and ${b}`);
    assert.ok(dot(vectors[0]!, vectors[5]!) > 0.99999);
  });

  it('reads the newer form of 1_Pooling/config.json', async () => {
    for (const [line, name] of MODES) {
      const files = written({ task: 'embedding', pooling: line });
      const older = await load(files, 'embedding');
      const mode = line.replace(/^pooling_mode_|(?<=cls|max|mean|weightedmean)_tokens?$/g, '');
      const config = { embedding_dimension: 64, pooling_mode: mode, include_prompt: true };
      writeFileSync(join(files.folder, '1_Pooling/config.json'), JSON.stringify(config));
      const newer = await load(files, 'embedding');
      open.push(older, newer);
      assert.deepEqual([newer.info.pooling, newer.info.notes], [name, []], mode);
      assert.deepEqual(await newer.embed(text, CALL), await older.embed(text, CALL), mode);
    }
  });

  it("takes the facts of others where the files say nothing, and the graph's own vectors where it has them", async () => {
    const stated = await loaded({ task: 'embedding' }, { pooling: 'cls' });
    assert.equal(stated.info.pooling, 'cls');
    const mean = await loaded({ task: 'embedding', pooling: 'pooling_mode_mean_tokens' }, { pooling: 'cls' });
    assert.equal(mean.info.pooling, 'mean');
    const own = await loaded({ task: 'embedding', sentenceOutput: true, pooling: 'pooling_mode_cls_token' });
    assert.equal(own.info.pooling, null);
    const [first, second] = await Promise.all([mean.embed(text, CALL), own.embed(text, CALL)]);
    assert.ok(dot(first.vectors[0]!, second.vectors[0]!) > 0.99999);
  });

  it('says that it takes the mean where nobody says anything, and only where vectors are pooled', async () => {
    const about = async (encoder: TinyEncoder): Promise<[string | null, boolean]> => {
      const { pooling, notes } = (await loaded(encoder)).info;
      return [pooling, notes.some((note) => note.includes('pooled'))];
    };
    assert.deepEqual(await about({ task: 'embedding' }), ['mean', true]);
    assert.deepEqual(await about({ task: 'embedding', sentenceOutput: true }), [null, false]);
    for (const task of ['reranking', 'ner'] as const) assert.deepEqual(await about({ task }), [null, false], task);
  });

  it('fills position_ids, and reads int8 weights', async () => {
    const plain = await loaded({ task: 'embedding' });
    const placed = await loaded({ task: 'embedding', positionInput: true });
    const int8 = await loaded({ task: 'embedding', int8: true });
    const [first, second, third] = await Promise.all([plain, placed, int8].map((client) => client.embed(text, CALL)));
    assert.ok(dot(first!.vectors[0]!, second!.vectors[0]!) > 0.99999);
    assert.ok(dot(first!.vectors[0]!, third!.vectors[0]!) > 0.99);
  });

  it('keeps to the length of sentence_bert_config.json unless the caller says another, never beyond the model', async () => {
    const files = written({ task: 'embedding' });
    const lengths = async (own: number): Promise<(number | boolean)[]> => {
      writeFileSync(join(files.folder, 'sentence_bert_config.json'), `{"max_seq_length": ${own}}`);
      const client = await load(files, 'embedding');
      open.push(client);
      const tokens = async (call: EncoderCall): Promise<number> => (await client.embed(['river '.repeat(200)], call)).tokens[0]!;
      const found = [await tokens(CALL), await tokens({ ...CALL, maxLength: 32 }), await tokens({ ...CALL, maxLength: 9999 })];
      return [client.info.maxLength, ...found, client.info.notes.some((note) => note.includes('9999'))];
    };
    assert.deepEqual(await lengths(16), [16, 16, 32, TINY_LENGTH, false]);
    assert.deepEqual(await lengths(9999), [TINY_LENGTH, TINY_LENGTH, 32, TINY_LENGTH, true]);
  });
});

withBoth('settings of ONNX encoders', () => {
  const text = ['red dog in the river', 'milk'];
  const SETTINGS = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'sentence_bert_config.json'];

  it('may lie beside the graph', async () => {
    const files = written({ task: 'sentiment' });
    writeFileSync(join(files.folder, 'sentence_bert_config.json'), '{"max_seq_length": 16}');
    const usual = await load(files, 'classification');
    const { logits } = await usual.classify(text, CALL);
    for (const name of SETTINGS) renameSync(join(files.folder, name), join(files.folder, 'onnx', name));
    const client = await load(files, 'classification');
    assert.deepEqual(
      [client.info.labels, client.info.maxLength, client.info.architecture],
      [SENTIMENT_LABELS, 16, usual.info.architecture],
    );
    assert.deepEqual((await client.classify(text, CALL)).logits, logits);
    await Promise.all([usual.close(), client.close()]);
  });

  it('are those of the folder itself where both are there', async () => {
    const files = written({ task: 'sentiment' });
    for (const name of SETTINGS) writeFileSync(join(files.folder, 'onnx', name), '{"max_position_embeddings": 4}');
    const client = await load(files, 'classification');
    assert.deepEqual([client.info.labels, client.info.maxLength > 4], [SENTIMENT_LABELS, true]);
    await client.close();
  });

  for (const [type, problem] of [
    ['multi_label_classification', 'multi_label'],
    ['regression', 'regression'],
    ['single_label_classification', undefined],
  ])
    it(`tell what the outputs are: ${type}`, async () => {
      const files = written({ task: 'sentiment' });
      const path = join(files.folder, 'config.json');
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), problem_type: type }));
      const client = await load(files, 'classification');
      assert.equal(client.info.problem, problem);
      await client.close();
    });

  it('bring texts to lower case where they say so, and keep their ends', async () => {
    const words = ['Red Dog in the River', 'red dog in the river', 'red dog', 'the river'];
    const tokenizer = 'tokenizer_config.json';
    const changed = async (kind: TinyTokenizer, changes: Record<string, string>, task: TinyTask = 'embedding'): Promise<number[]> => {
      const files = written({ task, tokenizer: kind });
      for (const [name, change] of Object.entries(changes)) {
        const path = join(files.folder, name);
        const before: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
        writeFileSync(path, JSON.stringify({ ...(before as object), ...(JSON.parse(change) as object) }));
      }
      const client = await load(files, TASKS[task]);
      open.push(client);
      const call = { ...CALL, maxLength: 4 };
      const [whole, cut] =
        task === 'embedding'
          ? [(await client.embed(words, CALL)).vectors, (await client.embed(words, call)).vectors]
          : [(await client.classify(words, CALL)).logits, (await client.classify(words, call)).logits];
      const likeness = (a: Float32Array, b: Float32Array): number => Number(a.every((value, at) => Math.abs(value - b[at]!) < 1e-5));
      // Whether case shows; whether a cut text is its beginning; whether it is its end.
      return [likeness(whole[0]!, whole[1]!), likeness(cut[1]!, whole[2]!), likeness(cut[1]!, whole[3]!)];
    };
    const lower = '{"do_lower_case": true}';
    const left = '{"truncation_side": "left"}';
    assert.deepEqual(await changed('cased', {}), [0, 1, 0]);
    assert.deepEqual(await changed('cased', { [tokenizer]: lower }), [1, 1, 0]);
    assert.deepEqual(await changed('uncased', { [tokenizer]: '{"do_lower_case": false}' }), [0, 1, 0]);
    assert.deepEqual(await changed('uncased', { [tokenizer]: left }), [1, 0, 1]);
    for (const kind of ['cased', 'bpe', 'unigram'] as const)
      assert.deepEqual(await changed(kind, { 'sentence_bert_config.json': lower }), [1, 1, 0], kind);
    assert.deepEqual((await changed('cased', { 'sentence_bert_config.json': lower }, 'sentiment'))[0], 0, 'only of embeddings');
  });

  it('are named by their place', async () => {
    const files = written({ task: 'sentiment' });
    rmSync(join(files.folder, 'config.json'));
    writeFileSync(join(files.folder, 'onnx/config.json'), '{');
    assert.match((await refusal(files, 'classification')).message, /onnx\/config\.json of encoder-\d+ is not JSON/);
  });
});

withBoth('ONNX encoders that cannot be', () => {
  const broken: [string, (files: EncoderFiles) => void, RegExp][] = [
    ['no tokenizer.json', ({ folder: at }) => rmSync(join(at, 'tokenizer.json')), /has no tokenizer\.json/],
    [
      'a tokenizer that is none',
      ({ folder: at }) => writeFileSync(join(at, 'tokenizer.json'), '{"model": {}}'),
      /tokenizer\.json is not a usable tokenizer/,
    ],
    ['settings that are no JSON', ({ folder: at }) => writeFileSync(join(at, 'config.json'), '{'), /config\.json of .* is not JSON/],
    ['a corrupt graph', ({ model }) => writeFileSync(model, 'no graph'), /^onnx\/model\.onnx is not a usable ONNX file/],
    [
      'a module outside',
      ({ folder: at }) => writeFileSync(join(at, 'modules.json'), '[{"path": "../x", "type": "m.Dense"}]'),
      /names the folder "\.\.\/x"/,
    ],
    [
      'two ways of pooling',
      ({ folder: at }) =>
        writeFileSync(join(at, '1_Pooling/config.json'), '{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}'),
      /at once/,
    ],
    [
      'a dense layer without weights',
      ({ folder: at }) =>
        writeFileSync(join(at, 'modules.json'), '[{"path": "1_Pooling", "type": "m.Pooling"}, {"path": "1_Pooling", "type": "m.Dense"}]'),
      /1_Pooling\/model\.safetensors of .* is missing/,
    ],
  ];
  for (const [name, harm, message] of broken)
    it(`refuses ${name}`, async () => {
      const files = written({ task: 'embedding', pooling: 'pooling_mode_mean_tokens' });
      harm(files);
      const failure = await refusal(files, 'embedding');
      assert.equal(failure.status, 422, failure.message);
      assert.match(failure.message, message);
      assert.ok(!failure.message.includes(folder), failure.message);
    });

  it('refuses the task of another model', async () => {
    assert.match((await refusal(written({ task: 'ner' }), 'reranking')).message, /cannot be used for reranking/);
    assert.match((await refusal(written({ task: 'sentiment' }), 'ner')).message, /cannot be used for ner/);
    assert.match((await refusal(written({ task: 'embedding' }), 'classification')).message, /outputs are last_hidden_state/);
    assert.equal((await refusal(written({ task: 'sentiment' }), 'embedding')).status, 400);
  });

  it('refuses inputs that nobody can fill', async () => {
    const change = (graph: OnnxGraph): OnnxGraph => ({
      ...graph,
      inputs: [...graph.inputs, { name: 'pixel_values', type: 'float32', dims: [1] }],
    });
    assert.match((await refusal(written({ task: 'embedding', change }), 'embedding')).message, /takes the input "pixel_values"/);
  });

  it('fails the texts of which nothing finite comes, and no others', async () => {
    // The vector of one word is not a number.
    const change = (graph: OnnxGraph): OnnxGraph => ({
      ...graph,
      initializers: graph.initializers.map((tensor) =>
        tensor.name === 'embeddings.position_embeddings.weight'
          ? { ...tensor, values: Float32Array.from(tensor.values as Float32Array, (value, at) => (at >= 40 * 64 ? Number.NaN : value)) }
          : tensor,
      ),
    });
    const client = await loaded({ task: 'embedding', change });
    await assert.rejects(client.embed(['river '.repeat(60)], CALL), { kind: 'model_failed', message: /not finite/ });
    assert.equal((await client.embed(['river'], CALL)).vectors.length, 1);
    await closeAll();
  });
});

describe('hosts of ONNX encoders', () => {
  after(closeAll);

  it('fail what they were doing with 503 when they die, and come back', async () => {
    const client = await loaded({ task: 'embedding' });
    const pid = client.pid!;
    const asked = client.embed(Array(2000).fill('river '.repeat(40)), CALL);
    const outcome = asked.then(
      () => assert.fail('it was answered'),
      (error: unknown) => error,
    );
    process.kill(pid, 'SIGKILL');
    const failure = await outcome;
    assert.ok(failure instanceof Failure && failure.status === 503, String(failure));
    assert.equal((await client.embed(['river'], CALL)).vectors.length, 1);
    assert.notEqual(client.pid, pid);
  });

  it('work through 10,000 texts of mixed length, let others pass, and stop when the caller goes', async () => {
    const client = await loaded({ task: 'embedding' });
    const stop = new AbortController();
    const texts = Array.from({ length: 10_000 }, (_, index) => 'red river '.repeat(1 + (index % 30)));
    const { vectors, tokens } = await client.embed(texts, { signal: stop.signal, urgency: 'bulk' });
    assert.equal(vectors.length, 10_000);
    assert.ok(dot(vectors[3]!, vectors[9993]!) > 0.9999 && tokens[3] === tokens[9993]);
    let isDone = false;
    const bulk = client.embed(texts, { signal: stop.signal, urgency: 'bulk' }).then(() => (isDone = true));
    bulk.catch(() => {});
    await client.embed(['red'], CALL);
    assert.equal(isDone, false);
    stop.abort(new Error('gone'));
    await assert.rejects(bulk, /gone/);
    assert.equal((await client.embed(['red'], CALL)).vectors.length, 1);
  });
});
