import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { onlyBase, RoundRobin } from '../../../../runtime/net/ask/bases.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { RemoteEncoders } from '../../../../runtime/remote/encoders.js';
import { json, ScriptedOpenAI } from '../../../support/scripted-openai.js';

const ask = { model: 'm', signal: new AbortController().signal };
const vectors = (...embeddings: number[][]) =>
  json({ data: embeddings.map((embedding, index) => ({ index, embedding })), usage: { prompt_tokens: 2 } });

describe('the encoders of a runtime elsewhere', () => {
  const outbound = new Outbound();
  let host: ScriptedOpenAI;
  let remote: RemoteEncoders;
  beforeEach(async () => {
    host = await ScriptedOpenAI.start();
    remote = new RemoteEncoders(outbound, onlyBase(host.base));
  });
  afterEach(() => host.close());
  after(() => outbound.close());

  it('give vectors of the length that was asked for', async () => {
    host.script(vectors([1, 0], [0, 1]));
    const { vectors: made, tokens } = await remote.embed(ask, ['a', 'b'], 2);
    assert.deepEqual(
      [made.map((vector) => [...vector]), tokens],
      [
        [
          [1, 0],
          [0, 1],
        ],
        2,
      ],
    );
    assert.equal((host.seen[0]!.body as { dimensions?: number }).dimensions, 2);
  });

  it('are loaded as the settings say', async () => {
    host.script(vectors([1]), vectors([1]), json({ results: [{ index: 0, relevance_score: 1 }] }), vectors([1]), vectors([1]));
    const settings = { maxLength: 64, device: 'cpu', dtype: 'fp16', keepLoaded: true };
    await remote.embed({ ...ask, settings }, ['a']);
    await remote.embed({ ...ask, settings: { maxLength: 64 } }, ['a']);
    await remote.rerank({ ...ask, settings: { device: 'cpu' } }, 'a', ['b']);
    await remote.embed({ ...ask, settings: { flashAttention: false } }, ['a']);
    await remote.embed({ ...ask, settings: { threads: 2, gpuLayers: 0 } }, ['a']);
    const said = host.seen.map(({ body }) => {
      const { max_length, keep_loaded, transformers, extra_body } = body as Record<string, unknown>;
      return [max_length, keep_loaded, transformers, extra_body];
    });
    assert.deepEqual(said, [
      [64, true, { device: 'cpu', dtype: 'fp16' }, undefined],
      [64, undefined, undefined, undefined],
      [undefined, undefined, { device: 'cpu' }, undefined],
      [undefined, undefined, undefined, { flash_attn: false }],
      [undefined, undefined, undefined, { n_threads: 2, n_gpu_layers: 0 }],
    ]);
  });

  it('fail where the runtime does not know dimensions', async () => {
    host.script(vectors([1, 0, 0]), vectors([1, 0, 0]));
    const message = /vectors of 3 dimensions .*2 were asked for/;
    await assert.rejects(remote.embed(ask, ['a'], 2), { status: 500, code: 'BadEncoderAnswer', message });
    assert.equal((await remote.embed(ask, ['a'])).vectors[0]!.length, 3, 'nothing asked for');
  });

  it('fail where what a runtime names is no entity', async () => {
    const whole = { text: 'Ann', label: 'PER', start: 0, end: 3, score: 1 };
    const found = (...entities: unknown[]): ReturnType<typeof json> => json({ data: [{ index: 0, entities }] });
    host.script(found(whole));
    assert.deepEqual((await remote.entities(ask, ['Ann'])).entities, [[whole]]);
    for (const wrong of [null, 'Ann', { ...whole, label: null }, { ...whole, start: '0' }, { ...whole, score: undefined }]) {
      host.script(found(whole, wrong));
      await assert.rejects(remote.entities(ask, ['Ann']), { code: 'BadEncoderAnswer', message: /entities are missing/ });
    }
  });

  it('refuse with the words and the list of the runtime', async () => {
    const errors = [{ type: 'value_error', loc: ['body', 'dimensions'], msg: 'dimensions is 900', input: 900 }];
    const detail = `body.dimensions: ${'dimensions is 900 '.repeat(60)}`;
    host.script(json({ detail, error: 'invalid', message: detail, errors, request_id: 'req_there' }, 422));
    await assert.rejects(remote.embed(ask, ['a'], 900), { status: 422, message: detail, errors });
  });

  it('say which setting names them when they do not answer', async () => {
    const gone = 'http://127.0.0.1:9/v1';
    for (const [bases, setting] of [
      [onlyBase(gone), /correct base_url in project\.yaml\.$/],
      [new RoundRobin([gone]), /correct --runtime-url \(RUNTIME_URL\)\.$/],
    ] as const)
      await assert.rejects(new RemoteEncoders(outbound, bases).embed(ask, ['a']), { code: 'RuntimeUnavailable', message: setting });
  });

  it('are waited for as long as the reference system waits', async () => {
    const asked: number[] = [];
    const patient = { request: async ({ limits }: { limits: { totalMs: number } }) => Promise.reject(asked.push(limits.totalMs)) };
    const waiting = new RemoteEncoders(patient as unknown as Outbound, onlyBase(host.base));
    await assert.rejects(waiting.embed(ask, ['a']));
    assert.deepEqual(asked, [300_000]);
  });
});
