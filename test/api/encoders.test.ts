import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Body, EMBEDDER, post, refused, SETTING, type Staged, stage, TEXTS_LIMIT } from '../support/encoders-stage.js';
import { type Stage, scenarios, send } from '../support/scenario.js';
import { classifying } from './encoders/classes.js';
import { embeddings } from './encoders/embeddings.js';
import { finding } from './encoders/entities.js';
import { reranking } from './encoders/reranking.js';

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
      const listed = body.data.flatMap(({ copies }: Body) => copies.map(({ key }: Body) => key));
      for (const [key] of LOADED) if (!key.includes('gguf')) assert.ok(listed.includes(`${key}:devicecpu`), `${key} in ${listed}`);
    },
  },
  {
    name: 'the models in memory are listed with their kind',
    path: '/v1/models',
    json: (body: Body) => {
      const listed = body.data.flatMap(({ copies }: Body) => copies.map(({ key, type }: Body) => `${key} ${type}`));
      const names = body.data.map(({ id }: Body) => id);
      assert.deepEqual(names, [...new Set(names)]);
      for (const { type, key, copies } of body.data) assert.deepEqual(copies[0], { type, key });
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
