import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { DATASET_BYTES } from '../../runtime/library/datasets/contract.js';
import { openRuntime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { pagePng } from '../support/vision/glyphs.js';
import { binaryForm } from '../support/vision/stage.js';

setLogLevel('error');
process.env.HF_HUB_CACHE = join(emptyDataDir(), 'hub');
const dataDir = emptyDataDir();
mkdirSync(join(dataDir, 'projects/a/b'), { recursive: true });
writeFileSync(
  join(dataDir, 'projects/a/b/project.yaml'),
  `version: v1
runtime: {models: [{name: m, provider: universal, model: 'nobody/nothing:Q4_K_M'}, {name: r, provider: universal, model: nobody/nothing}]}
rag:
  databases:
    - name: d
      type: NativeStore
      embedding_strategies: [{name: e, type: UniversalEmbedder, config: {model: nobody/nothing}}]
      retrieval_strategies: [{name: s, type: VectorRetriever}]
`,
);

const png = await pagePng(64, 64, []);
const image = Buffer.from(png).toString('base64');
const model = 'nobody/nothing';
const messages = [{ role: 'user', content: 'x' }];

/** Requests that name a model which is not on this machine, and how the answer names it. */
const UNIVERSAL: readonly (readonly [path: string, body: object, pulls?: string])[] = [
  ['/v1/chat/completions', { model, messages }],
  ['/v1/chat/completions', { model, messages, stream: true }],
  ['/v1/embeddings', { model, input: 'x' }],
  ['/v1/rerank', { model, query: 'x', documents: ['y'] }],
  ['/v1/classify', { model, texts: ['x'] }],
  ['/v1/ner', { model, texts: ['x'] }],
  ['/v1/images/generations', { model, prompt: 'x' }],
  ['/v1/images/generations', { model, prompt: 'x', stream: true }],
  ['/v1/images/edits', { model, prompt: 'x', image: `data:image/png;base64,${image}` }],
  ['/v1/ocr', { model: 'easyocr', images: [image] }, 'runemic-ai/easyocr-onnx'],
  ['/v1/documents/extract', { model, task: 'vqa', images: [image], prompts: ['x?'] }],
  [
    '/v1/classifier/fit',
    { model: 'c', base_model: model, training_data: ['a', 'b', 'c', 'd'].map((text, at) => ({ text, label: `${at % 2}` })) },
  ],
];
const PROJECT = '/v1/projects/a/b';
const CORE: typeof UNIVERSAL = [
  [`${PROJECT}/chat/completions`, { messages, rag_enabled: false }, 'nobody/nothing:Q4_K_M'],
  [`${PROJECT}/rag/query`, { query: 'x' }],
  ['/v1/nlp/embeddings', { model, input: 'x' }],
  ['/v1/nlp/rerank', { model, query: 'x', documents: ['y'] }],
  ['/v1/nlp/classify', { model, texts: ['x'] }],
  ['/v1/nlp/ner', { model, texts: ['x'] }],
  [
    '/v1/ml/classifier/fit',
    { model: 'c', base_model: model, training_data: ['a', 'b', 'c', 'd'].map((text, at) => ({ text, label: `${at % 2}` })) },
  ],
];

const table = (rows: typeof UNIVERSAL): Scenario[] =>
  rows.map(([path, body, pulls = model]) => ({
    name: `${path} ${'stream' in body ? 'as a stream ' : ''}says 404, and both ways to fetch the model`,
    method: 'POST',
    path,
    body,
    status: 404,
    contains: ['not found', `quern pull ${pulls}`, `POST /v1/models/download with {\\"model_name\\":\\"${pulls}\\"}`],
  }));

/** The core's own forms of reading images take files. */
const forms = table([
  ['/v1/vision/ocr', { model: 'easyocr' }, 'runemic-ai/easyocr-onnx'],
  ['/v1/vision/documents/extract', { model, task: 'vqa', prompts: 'x?' }],
]).map((row) => ({ ...row, ...binaryForm([['file', 'a.png', png]], row.body as Record<string, string>) }));

const gone: Scenario[] = ['/v1/models/nobody/nothing', '/v1/ml/classifier/models/none', '/v1/ml/anomaly/models/none.json'].map((path) => ({
  name: `DELETE ${path} says what is not found`,
  method: 'DELETE',
  path,
  status: 404,
  contains: ['not found'],
}));

for (const [title, endpoints, rows] of [
  ['missing models, universal runtime', universalEndpoints, table(UNIVERSAL)],
  ['missing models, core API', coreEndpoints, [...table(CORE), ...forms, ...gone]],
] as const) {
  scenarios(
    title,
    {
      endpoints,
      context: () =>
        openRuntime({
          version: '9.9.9',
          dataDir,
          runtimeUrls: [],
          runtimePort: 0,
          datasetQuotaBytes: DATASET_BYTES,
          startRunner: () => Promise.reject(new Error('not in this test')),
        }),
      close: (runtime) => runtime.close(),
    },
    rows,
  );
}
