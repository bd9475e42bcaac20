import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelMissing } from '../../../../runtime/formats/model-files.js';
import type { NeedModel } from '../../../../runtime/models/fetch/on-use.js';
import { meansOf } from '../../../../runtime/rag/retrieval.js';
import { modelServices } from '../../../../runtime/services/model-services.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';

const { signal } = new AbortController();
const absent = (model: string) => () => Promise.reject(modelMissing(model, { why: 'it is not here', remedies: ['look'] }));

describe('services of the models of projects', () => {
  /** Which models were wanted from the hub, and for how long each may be waited for. */
  const wanted: [model: string, waitMs: number | undefined][] = [];
  const need: NeedModel = async (model, { waitMs }, work) => {
    wanted.push([model, waitMs]);
    return work();
  };
  const core = { completions: { open: absent('org/chat') }, encoders: { rerank: absent('org/ranker') } };
  const services = modelServices({ core, outbound: {}, need } as unknown as Parameters<typeof modelServices>[0]);
  const model = (name: string, more: Partial<ModelConfig> = {}): ModelConfig => ({ name, provider: 'universal', model: name, ...more });
  const told = async (work: () => Promise<unknown>): Promise<typeof wanted> => {
    wanted.length = 0;
    await assert.rejects(work);
    return [...wanted];
  };

  it('fetch what a chat needs, and let a stream wait for it as long as it takes', async () => {
    for (const [stream, waitMs] of [
      [true, Number.POSITIVE_INFINITY],
      [false, undefined],
    ] as const)
      assert.deepEqual(await told(() => services.completions.open(model('org/chat'), { messages: [], stream }, signal)), [
        ['org/chat', waitMs],
      ]);
  });

  it('fetch a reranker that the project names, and none that a question names itself', async () => {
    const parts = { scope: { config: {} }, models: { rerank: services.rerank }, requestedReranker: 'org/asked', signal };
    const means = meansOf(parts as unknown as Parameters<typeof meansOf>[0]);
    assert.deepEqual(await told(() => means.rerank('org/ranker', 'q', ['t'], 1000, true)), [['org/ranker', undefined]]);
    assert.deepEqual(await told(() => means.rerank('org/asked', 'q', ['t'], 1000, true)), []);
  });

  it('fetch nothing for a model that lies elsewhere', async () => {
    const there = model('org/chat', { base_url: 'http://127.0.0.1:9' });
    assert.deepEqual(await told(() => services.rerank(there, 'q', ['t'], { timeoutMs: 1000, normalise: true, signal })), []);
  });
});
