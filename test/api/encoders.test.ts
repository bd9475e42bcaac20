import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { NLI_LABELS, writeEncoder, writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { type Scenario, type Stage, scenarios, send } from '../support/scenario.js';
import { openSomeServices } from '../support/services.js';

const TEXTS_LIMIT = 10_000;

/** Whatever processor the tests run on, BERT's graphs go through the native pass. */
const SETTING = 'QUERN_NATIVE_ENCODERS';
process.env[SETTING] = 'on';

interface Staged extends Runtime {
  readonly folder: string;
}

/** A runtime with nothing but encoders, on tiny models in an own data directory. */
function stage(endpoints: Stage<Staged>['endpoints']): Stage<Staged> {
  return {
    endpoints,
    context: () => {
      const folder = mkdtempSync(join(tmpdir(), 'quern-encoders-'));
      writeTinyEncoders(join(folder, 'models'));
      models = join(folder, 'models');
      damage();
      const loaded = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
      const outbound = new Outbound();
      const opened = openSomeServices({ models: loaded, outbound });
      const close = async (): Promise<void> => {
        await loaded.close();
        await outbound.close();
      };
      return { version: '0.0.0', folder, models: loaded, ...opened, close } as unknown as Staged;
    },
    close: async (runtime) => {
      await runtime.close();
      rmSync(runtime.folder, { recursive: true, force: true });
    },
  };
}

/** Where the models of the present stage lie. */
let models = '';

/** Gives `bad/tokens` its own tokens again. */
function mended(path: string): string {
  writeEncoder(join(models, 'bad/tokens'), { head: 'vectors', pooling: 'mean' });
  return path;
}

/** Repositories that cannot work, each in its own way. */
function damage(): void {
  writeEncoder(join(models, 'bad/graph'), { head: 'vectors' });
  writeFileSync(join(models, 'bad/graph/onnx/model.onnx'), 'this is no graph');
  writeEncoder(join(models, 'bad/tokenizer'), { head: 'vectors' });
  rmSync(join(models, 'bad/tokenizer/tokenizer.json'));
  writeEncoder(join(models, 'bad/tokens'), { head: 'vectors', pooling: 'mean' });
  const tokenizer = join(models, 'bad/tokens/tokenizer.json');
  writeFileSync(tokenizer, readFileSync(tokenizer, 'utf8').replace(/"dog":\s*\d+/, '"dog": 99999'));
  mkdirSync(join(models, 'bad/parts/onnx'), { recursive: true });
  for (const name of ['encoder', 'decoder']) writeFileSync(join(models, `bad/parts/onnx/${name}.onnx`), 'x');
  mkdirSync(join(models, 'bad/empty'), { recursive: true });
  writeFileSync(join(models, 'bad/empty/config.json'), '{}');
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Body = any;
const post = (path: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
  name: `${path} ${more.status ?? 200} ${JSON.stringify(body)?.slice(0, 100)}`,
  method: 'POST',
  path,
  body,
  ...more,
});
const refused = (path: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario =>
  post(path, body, { status, contains, ...(name ? { name } : {}) });
const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);
const cosine = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0);
const isUnit = (vector: readonly number[]): void => assert.ok(Math.abs(lengthOf(vector) - 1) < 1e-5, `length ${lengthOf(vector)}`);
const vectorsOf = (body: Body): number[][] => body.data.map((row: Body) => row.embedding);

const EMBEDDER = 'tiny/embedder';
const seen: Record<string, number[][]> = {};

const embeddings = (path: string): Scenario[] => [
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat', 'a ship in the harbour'] },
    {
      name: `35 ${path}: two texts make two items with their index`,
      json: (body: Body) => {
        assert.deepEqual([body.object, body.model, body.data.length], ['list', EMBEDDER, 2]);
        assert.deepEqual(
          body.data.map((row: Body) => [row.object, row.index, row.embedding.length]),
          [
            ['embedding', 0, 64],
            ['embedding', 1, 64],
          ],
        );
        for (const vector of vectorsOf(body)) isUnit(vector);
        // [CLS] the cat sat on the mat [SEP], and [CLS] a ship in the harbour [SEP].
        assert.deepEqual(body.usage, { prompt_tokens: 15, total_tokens: 15 });
        seen[path] = vectorsOf(body);
      },
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: 'a ship in the harbour' },
    { name: `35 ${path}: one text makes one item`, json: (body: Body) => near(vectorsOf(body), [seen[path]![1]!]) },
  ),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat'], encoding_format: 'base64' },
    {
      json: (body: Body) => {
        const bytes = Buffer.from(body.data[0].embedding, 'base64');
        const vector = Array.from({ length: bytes.length / 4 }, (_none, at) => bytes.readFloatLE(at * 4));
        near([vector], [seen[path]![0]!]);
      },
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat'], dimensions: 16 },
    {
      name: `${path}: dimensions cuts and brings back to length 1`,
      json: (body: Body) => {
        const [vector] = vectorsOf(body);
        isUnit(vector!);
        const head = seen[path]![0]!.slice(0, 16);
        near([vector!], [head.map((value) => value / lengthOf(head))]);
      },
    },
  ),
  refused(path, { model: EMBEDDER, input: 'x', dimensions: 65 }, 422, ['dimensions is 65', '64 dimensions', '"dimensions"']),
  refused(path, { model: EMBEDDER, input: [] }, 422, ['input', 'fewer than 1']),
  post(path, { model: EMBEDDER, input: '' }, { json: (body: Body) => isUnit(vectorsOf(body)[0]!) }),
  post(
    path,
    { model: EMBEDDER, input: 'word '.repeat(5000) },
    {
      name: `${path}: a text longer than the model is cut`,
      json: (body: Body) => assert.equal(body.usage.prompt_tokens, 128),
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: 'the cat sat on the mat', max_length: 4 },
    { json: (body: Body) => assert.equal(body.usage.total_tokens, 4) },
  ),
  refused(path, { model: EMBEDDER, input: 'x', max_length: 2 }, 422, ['max_length is 2', '3 are the least']),
  post(path, { model: EMBEDDER, input: 'x', extra_body: null }),
  post(path, { model: EMBEDDER, input: 'x', extra_body: { n_threads: 1, n_ctx: 512 } }),
  refused(path, { model: EMBEDDER, input: 'x', extra_body: { n_ctx: -3 } }, 422, ['extra_body', 'n_ctx']),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat', 'a ship in the harbour', 'tea'], transformers: { batch_size: 1 } },
    {
      name: `${path}: one text at a time`,
      json: (body) =>
        assert.ok(
          vectorsOf(body)
            .slice(0, 2)
            .every((one, at) => cosine(one, seen[path]![at]!) > 0.9999),
        ),
    },
  ),
  refused(path, { model: EMBEDDER, input: ['x'], transformers: { batch_size: 0 } }, 422, ['batch_size'], `${path}: a batch of none`),
  refused(path, { model: EMBEDDER, input: [1, 2, 3] }, 422, ['input[0] is a token id', 'Send texts']),
  refused(path, { model: EMBEDDER, input: ['x', [1, 2]] }, 422, ['input[1] is a list of token ids']),
  refused(path, { model: EMBEDDER, input: { a: 1 } }, 422, ['input']),
  refused(path, { model: EMBEDDER, input: null }, 422, ['input']),
  refused(path, { model: EMBEDDER }, 422, ['input']),
  refused(path, { input: 'x' }, 422, ['model']),
  refused(path, { model: 7, input: 'x' }, 422, ['model']),
  refused(path, { model: EMBEDDER, input: 'x', encoding_format: 'hex' }, 422, ['encoding_format']),
  refused(path, { model: EMBEDDER, input: 'x', dimensions: 0 }, 422, ['dimensions']),
  refused(path, { model: EMBEDDER, input: Array(TEXTS_LIMIT + 1).fill('x') }, 422, ['input', '10000'], `${path}: 10,001 texts`),
  refused(path, { model: EMBEDDER, input: 'x'.repeat(33 * 1024 * 1024) }, 413, ['33554432'], `${path}: a body over the limit`),
  refused(path, { model: 'no/model', input: 'x' }, 404, ['model_not_found', 'quern pull no/model']),
  refused(path, { model: 'no/model', input: [''] }, 404, ['quern pull no/model'], `${path}: an unknown model and an empty text`),
  refused(path, { model: '../etc/passwd', input: 'x' }, 400, ['InvalidModelName']),
  refused(path, { model: 'bad/empty', input: 'x' }, 404, ['no ONNX or GGUF file']),
  refused(path, { model: 'bad/graph', input: 'x' }, 422, ['model.onnx']),
  refused(path, { model: 'bad/tokenizer', input: 'x' }, 422, ['tokenizer.json']),
  refused(path, { model: 'bad/tokens', input: 'a dog' }, 422, ['tokenizer.json', 'bad/tokens', '99999']),
  post(
    path,
    { model: 'bad/tokens', input: 'a dog' },
    {
      name: `${path}: a mended tokenizer is read at the next request`,
      path: () => mended(path),
      json: (body: Body) => isUnit(vectorsOf(body)[0]!),
    },
  ),
  refused(path, { model: 'bad/parts', input: 'x' }, 422, ['encoder.onnx', 'decoder.onnx', 'model.onnx']),
  post(
    path,
    { model: 'tiny/gguf', input: ['the cat sat on the mat', 'a ship in the harbour'] },
    {
      name: `${path}: the same model as GGUF makes the same vectors`,
      json: (body: Body) => {
        for (const [at, vector] of vectorsOf(body).entries())
          assert.ok(cosine(vector, seen[path]![at]!) > 0.999, `cosine ${cosine(vector, seen[path]![at]!)}`);
        assert.equal(body.usage.prompt_tokens, 15);
      },
    },
  ),
  post(path, { model: 'tiny/embedder:INT8', input: 'x' }, { json: (body: Body) => assert.equal(body.model, 'tiny/embedder:INT8') }),
  post(
    path,
    { model: 'quern-lexical', input: ['the cat', 'the cat', 'a dog'] },
    {
      json: (body: Body) => {
        const [a, b, c] = vectorsOf(body);
        assert.deepEqual(a, b);
        assert.ok(cosine(a!, c!) < 0.9);
        assert.equal(body.usage.prompt_tokens, 6);
      },
    },
  ),
  post(path, { model: 'lexical', input: 'tea', dimensions: 64 }, { json: (body: Body) => assert.equal(vectorsOf(body)[0]!.length, 64) }),
  refused(path, { model: 'lexical', input: ['x', ' '] }, 422, ['input[1] is empty']),
  refused(path, { model: 'lexical', input: 'x', dimensions: 5000 }, 422, ['64 to 4096']),
];

function near(found: readonly number[][], expected: readonly number[][]): void {
  assert.equal(found.length, expected.length);
  for (const [at, vector] of found.entries()) assert.ok(cosine(vector, expected[at]!) > 0.99999, `text ${at}`);
}

const RERANKER = 'tiny/reranker';
const documents = ['tea is grown in a garden', 'the ship sat in the harbour', { text: 'the moon is yellow' }];
const sorted = (values: readonly number[]): boolean => values.every((value, at) => at === 0 || value <= values[at - 1]!);

const reranking = (path: string): Scenario[] => [
  post(
    path,
    { model: RERANKER, query: 'where is the ship', documents },
    {
      name: `36 ${path}: sorted by score, with documents`,
      json: (body: Body) => {
        assert.deepEqual([body.object, body.model, body.data.length], ['list', RERANKER, 3]);
        const scores = body.data.map((row: Body) => row.relevance_score);
        assert.ok(sorted(scores) && new Set(scores).size === 3, String(scores));
        for (const row of body.data) {
          assert.ok(Math.abs(row.normalized_score - 1 / (1 + Math.exp(-row.relevance_score))) < 1e-9);
          const document = documents[row.index]!;
          assert.equal(row.document, typeof document === 'string' ? document : document.text);
        }
        assert.ok(body.usage.prompt_tokens > 20);
      },
    },
  ),
  post(
    path,
    { model: RERANKER, query: 'where is the ship', documents, top_k: 2, return_documents: false },
    {
      name: `36 ${path}: return_documents false leaves the document null`,
      json: (body: Body) =>
        assert.deepEqual(
          body.data.map((row: Body) => row.document),
          [null, null],
        ),
    },
  ),
  post(path, { model: RERANKER, query: 'x', documents, top_n: 1 }, { json: (body: Body) => assert.equal(body.data.length, 1) }),
  refused(path, { model: RERANKER, query: 'x', documents: [] }, 422, ['documents', 'fewer than 1']),
  refused(path, { model: RERANKER, query: '', documents }, 422, ['query']),
  refused(path, { model: RERANKER, documents }, 422, ['query']),
  refused(path, { model: RERANKER, query: 'x', documents: 'y' }, 422, ['documents']),
  refused(path, { model: RERANKER, query: 'x', documents: [{ title: 'y' }] }, 422, ['documents']),
  refused(
    path,
    { model: RERANKER, query: 'x', documents: Array(TEXTS_LIMIT + 1).fill('y') },
    422,
    ['documents', '10000'],
    `${path}: 10,001`,
  ),
  refused(path, { model: RERANKER, query: 'x', documents, top_k: 0 }, 422, ['top_k']),
  refused(path, { model: RERANKER, query: 'x', documents, extra_body: { n_threads: 0 } }, 422, ['extra_body', 'n_threads']),
  refused(path, { model: 'tiny/gguf', query: 'x', documents }, 400, ['GGUF', 'no ranking head', 'reranks']),
  refused(path, { model: 'no/reranker', query: 'x', documents }, 404, ['ModelNotFound', 'quern pull no/reranker']),
  refused(path, { model: 'quern-lexical', query: 'x', documents }, 400, ['TaskNotSupported', 'embeddings only']),
];

const NLI = 'tiny/nli';
const total = (scores: Record<string, number>): number => Object.values(scores).reduce((sum, value) => sum + value, 0);

const classifying = (path: string): Scenario[] => [
  post(
    path,
    { model: NLI, texts: ['the river has water', 'tea'] },
    {
      name: `37 ${path}: total_count, label and all scores`,
      json: (body: Body) => {
        assert.deepEqual([body.object, body.total_count, body.data.length], ['list', 2, 2]);
        for (const [index, row] of body.data.entries()) {
          assert.equal(row.index, index);
          assert.deepEqual(Object.keys(row.all_scores), NLI_LABELS);
          assert.ok(Math.abs(total(row.all_scores) - 1) < 1e-6);
          assert.equal(row.score, row.all_scores[row.label]);
          assert.equal(row.score, Math.max(...(Object.values(row.all_scores) as number[])));
        }
      },
    },
  ),
  post(
    path,
    { model: NLI, texts: ['the river has water'], labels: ['river', 'moon', 'dog'] },
    {
      name: `${path}: labels of the caller, against each other`,
      json: (body: Body) => {
        assert.deepEqual(Object.keys(body.data[0].all_scores), ['river', 'moon', 'dog']);
        assert.ok(Math.abs(total(body.data[0].all_scores) - 1) < 1e-6);
      },
    },
  ),
  post(
    path,
    { model: NLI, texts: ['the river has water'], labels: ['river', 'moon'], multi_label: true, hypothesis_template: 'it is {}' },
    {
      json: (body: Body) =>
        assert.ok(Object.values(body.data[0].all_scores).every((score) => (score as number) > 0 && (score as number) < 1)),
    },
  ),
  post(
    path,
    { model: NLI, input: 'the river has water', labels: ['river', 'moon', 'dog'] },
    {
      name: `${path}: one text as input`,
      json: (body) => assert.deepEqual([body.total_count, Object.keys(body.data[0].all_scores).sort()], [1, ['dog', 'moon', 'river']]),
    },
  ),
  post(
    path,
    { model: NLI, input: ['the river has water', 'tea'] },
    { name: `${path}: texts as input`, json: (body) => assert.equal(body.total_count, 2) },
  ),
  refused(
    path,
    { model: NLI, input: ['x'], texts: ['x'] },
    422,
    ['"detail":"body.texts: must not be given with what else is given"'],
    `${path}: texts and input`,
  ),
  refused(path, { model: NLI, input: [] }, 422, ['input'], `${path}: an empty input`),
  refused(path, { model: NLI }, 422, ['"detail":"body.texts: is required"'], `${path}: neither texts nor input`),
  refused(path, { model: NLI, texts: [] }, 422, ['texts', 'fewer than 1']),
  post(
    path,
    { model: NLI, texts: ['a cat sat on a mat'], max_length: 3 },
    { json: (body: Body) => assert.equal(body.usage.prompt_tokens, 3) },
  ),
  refused(path, { model: RERANKER, texts: ['x'], labels: ['a'] }, 400, ['entailment', 'labels']),
  post(path, { model: NLI, texts: ['tea'], labels: ['river'], hypothesis_template: null, multi_label: null }),
  refused(path, { model: 'lexical', texts: ['x'] }, 400, ['TaskNotSupported', 'embeddings only']),
  refused(path, { model: NLI, texts: ['x'], labels: [] }, 422, ['labels']),
  refused(path, { model: NLI, texts: ['x'], labels: ['a', 'a'] }, 422, ['labels']),
  refused(path, { model: NLI, texts: ['x'], labels: ['a'], hypothesis_template: 'none' }, 422, ['hypothesis_template']),
  refused(
    path,
    { model: NLI, texts: Array(TEXTS_LIMIT).fill('x'), labels: ['a', 'b', 'c'] },
    422,
    ['30000 pairs'],
    `${path}: too many pairs`,
  ),
  refused(path, { model: NLI, texts: 'x' }, 422, ['texts']),
  refused(path, { model: NLI, texts: ['x'], extra_body: { n_threads: 1e9 } }, 422, ['extra_body', 'n_threads']),
  refused(path, { model: NLI, texts: [1] }, 422, ['texts']),
  refused(path, { model: NLI, texts: ['x'], max_length: 0 }, 422, ['max_length']),
  refused(path, { model: 'tiny/gguf', texts: ['x'] }, 400, ['classifies']),
  refused(path, { model: 'no/classifier', texts: ['x'] }, 404, ['quern pull no/classifier']),
];

const finding = (path: string): Scenario[] => [
  post(
    path,
    { model: 'tiny/ner', texts: ['\u{1F600} Anna Bruno works in Hamburg .', 'tea'] },
    {
      name: `37 ${path}: entities with offsets in code points`,
      json: (body: Body) => {
        assert.equal(body.data.length, 2);
        const found = body.data[0].entities.map(({ text, label, start, end }: Body) => [text, label, start, end]);
        assert.deepEqual(found, [
          ['Anna Bruno', 'PER', 2, 12],
          ['Hamburg', 'LOC', 22, 29],
        ]);
        for (const { score } of body.data[0].entities) assert.ok(score > 0.5 && score <= 1, String(score));
        assert.deepEqual(body.data[1], { index: 1, entities: [] });
      },
    },
  ),
  post(
    path,
    { model: 'tiny/ner', input: '\u{1F600} Anna Bruno works in Hamburg .' },
    { name: `${path}: one text as input`, json: (body) => assert.ok(body.data[0].entities.length > 0) },
  ),
  refused(path, { model: 'tiny/ner', texts: [] }, 422, ['texts', 'fewer than 1']),
  refused(path, { model: 'tiny/ner', texts: null }, 422, ['texts']),
  refused(path, { model: 'tiny/ner' }, 422, ['texts']),
  refused(path, { model: 'tiny/gguf', texts: ['x'] }, 400, ['finds entities']),
  refused(path, { model: 'no/ner', texts: ['x'] }, 404, ['quern pull no/ner']),
];

const LOADED = [
  ['encoder:embedding:transformers:tiny/embedder:quantdefault:lenauto', 'encoder_embedding'],
  ['encoder:embedding:gguf:tiny/gguf:quantdefault:lenauto', 'encoder_embedding'],
  ['encoder:reranking:transformers:tiny/reranker:quantdefault:lenauto', 'encoder_reranking'],
  ['encoder:classification:transformers:tiny/nli:quantdefault:lenauto', 'encoder_classification'],
  ['encoder:ner:transformers:tiny/ner:quantdefault:lenauto', 'encoder_ner'],
] as const;

scenarios('encoders of the universal runtime', stage(universalEndpoints as Stage<Staged>['endpoints']), [
  ...embeddings('/v1/embeddings'),
  ...reranking('/v1/rerank'),
  ...classifying('/v1/classify'),
  ...finding('/v1/ner'),
  ...(
    [
      ['embeddings', 'tiny/embedder', { input: 'a ship' }],
      ['rerank', 'tiny/reranker', { query: 'ship', documents: ['a ship'] }],
      ['classify', 'tiny/nli', { texts: ['a ship'] }],
      ['ner', 'tiny/ner', { texts: ['a ship'] }],
    ] as const
  ).flatMap(([name, model, body]) => [
    post(`/v1/${name}`, { model, keep_loaded: null, transformers: null, ...body }),
    post(`/v1/${name}`, { model, keep_loaded: true, transformers: { device: 'cpu', dtype: 'auto' }, ...body }),
    refused(`/v1/${name}`, { model, transformers: { device: 'abacus' }, ...body }, 422, ['transformers', 'device', 'mps']),
  ]),
  {
    name: 'one that was asked for by its device is a copy of its own',
    path: '/v1/models',
    json: (body: Body) => {
      const listed = body.data.map(({ key }: Body) => key);
      for (const [key] of LOADED) if (!key.includes('gguf')) assert.ok(listed.includes(`${key}:devicecpu`), `${key} in ${listed}`);
    },
  },
  {
    name: 'the models in memory are listed with their kind',
    path: '/v1/models',
    json: (body: Body) => {
      const listed = body.data.map(({ key, type }: Body) => `${key} ${type}`);
      for (const [key, type] of LOADED) assert.ok(listed.includes(`${key} ${type}`), `${key} is not in ${listed}`);
    },
  },
  {
    name: 'health tells where each encoder runs and why',
    path: '/health',
    json: (body: Body) => {
      for (const [key] of LOADED) {
        const engine = body.engines.find(({ model }: Body) => model === key);
        assert.equal(engine.requested, 'auto');
        assert.ok(engine.available.length > 0 && engine.used.length > 0 && engine.why !== null, JSON.stringify(engine));
        assert.equal(engine.options.engine, key.includes('gguf') ? undefined : 'native');
      }
    },
  },
  {
    name: 'a body of another type',
    method: 'POST',
    path: '/v1/embeddings',
    headers: { 'content-type': 'text/plain' },
    body: 'x',
    status: 415,
  },
]);

/** The same under another setting, which leaves all encoders to `engine`. */
function set(setting: string, engine: string, { endpoints, context, close }: Stage<Staged>): Stage<Staged> {
  return {
    endpoints,
    context: () => {
      process.env[SETTING] = setting;
      return context();
    },
    close: async (runtime) => {
      const engines = runtime.models.loaded().map(({ status }) => status.options?.engine);
      process.env[SETTING] = 'on';
      await close?.(runtime);
      assert.ok(engines.length > 2 && engines.every((own) => own === engine), engines.join());
    },
  };
}

const coreStage = stage(coreEndpoints as Stage<Staged>['endpoints']);
/** Without a setting, where the kernel tells what the processor has. */
const flags = existsSync('/proc/cpuinfo')
  ? (/^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? [])
  : undefined;
const some = [
  ...embeddings('/v1/nlp/embeddings').slice(0, 3),
  refused('/v1/nlp/embeddings', { model: 'no/model', input: 'x' }, 404, ['quern pull no/model']),
  ...reranking('/v1/nlp/rerank').slice(0, 2),
  ...classifying('/v1/nlp/classify').slice(0, 1),
  ...finding('/v1/nlp/ner').slice(0, 1),
];
scenarios('encoders by the core, by ONNX Runtime', set('off', 'onnxruntime', coreStage), some);
if (flags) {
  const faster = flags.includes('avx2') && flags.includes('fma') ? 'native' : 'onnxruntime';
  scenarios('encoders by the core, by what is faster here', set('', faster, coreStage), some);
}

describe('an encoder whose host dies', () => {
  it('fails what it was doing with 503, and works again', async () => {
    const { context, close } = stage(universalEndpoints as Stage<Staged>['endpoints']);
    const runtime = await context();
    const application = dispatch({ endpoints: universalEndpoints, context: runtime as Runtime, access: { bindHost: '127.0.0.1' } });
    const ask = (model: string, input: unknown) => send(application, { method: 'POST', path: '/v1/embeddings', body: { model, input } });
    for (const model of [EMBEDDER, 'tiny/gguf']) {
      assert.equal((await ask(model, 'tea')).status, 200);
      const loaded = () => runtime.models.loaded().find(({ name }) => name === model)!;
      const { pid } = loaded();
      const asked = ask(model, Array(TEXTS_LIMIT).fill('the cat sat on the mat '.repeat(15)));
      // A request that comes after the crash is answered by the next life.
      while (loaded().uses === 0) await new Promise((resolve) => setImmediate(resolve));
      process.kill(pid!, 'SIGKILL');
      const answer = await asked;
      assert.deepEqual([answer.status, answer.text.includes('engine_crashed')], [503, true], answer.text.slice(0, 300));
      assert.equal((await ask(model, 'tea')).status, 200);
    }
    await close?.(runtime);
  });
});
