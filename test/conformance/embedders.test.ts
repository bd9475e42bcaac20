import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Metadata } from '../../runtime/documents/contract.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { EmbedderParts } from '../../runtime/rag/embedders/contract.js';
import { createEmbedders, EMBEDDERS } from '../../runtime/rag/embedders/index.js';
import { Failure } from '../../schemas/errors.js';
import type { EmbedderType } from '../../schemas/generated/config/rag.js';
import { json, type Scene, ScriptedOpenAI, type Seen } from '../support/scripted-openai.js';

const signal = new AbortController().signal;
const TYPES = Object.keys(EMBEDDERS) as EmbedderType[];
const REMOTE = TYPES.filter((type) => type !== 'LexicalEmbedder');

/** A vector of four numbers that depends on the text. */
function vectorOf(text: string): number[] {
  return [text.length, text.charCodeAt(0), 1, 2];
}

/** Plays both APIs: base64 where it is asked for, and the rows of `/v1/embeddings` backwards. */
function answer({ path, body }: Seen, make: (text: string) => number[] = vectorOf): Scene {
  const { input, encoding_format: format } = body as { input: string[]; encoding_format?: string };
  const vectors = input.map(make);
  if (path === '/api/embed') return json({ embeddings: vectors });
  const shown = vectors.map((vector) => (format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector));
  return json({ data: shown.map((embedding, index) => ({ index, embedding })).reverse() });
}

describe('embedders', () => {
  let host: ScriptedOpenAI;
  let outbound: Outbound;
  before(async () => {
    host = await ScriptedOpenAI.start();
    outbound = new Outbound();
  });
  beforeEach(() => {
    host.seen.length = 0;
    host.always((seen) => answer(seen));
  });
  after(async () => {
    await outbound.close();
    await host.close();
  });

  function open(type: EmbedderType, config: Metadata = {}, parts: Partial<EmbedderParts> = {}) {
    const told = type === 'LexicalEmbedder' ? config : { model: 'm', base_url: host.base, api_key: 'k-1', ...config };
    return createEmbedders({ outbound, retryBaseMs: 1, ...parts }).of('db', { name: 's', type, config: told });
  }
  const inputs = (): string[][] => host.seen.map((seen) => (seen.body as { input: string[] }).input);
  const refused = (kind: string, words: RegExp) => (error: unknown) =>
    error instanceof Failure && error.kind === kind && words.test(error.message);

  for (const type of TYPES) {
    describe(type, () => {
      it('gives each text its vector of length 1, in order, whatever the batches', async () => {
        const embedder = open(type, { batch_size: 2 });
        const texts = ['one', 'second text', 'a third', 'four of them', 'five'];
        const vectors = await embedder.embed(texts, 'document', 'bulk', signal);
        assert.equal(vectors.length, 5);
        assert.equal(embedder.dimensions, vectors[0]!.length);
        for (const vector of vectors) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
        for (const [at, text] of texts.entries())
          assert.deepEqual((await open(type).embed([text], 'document', 'interactive', signal))[0], vectors[at]);
      });

      it('refuses empty texts', async () => {
        for (const blank of ['', ' \n'])
          await assert.rejects(open(type).embed(['a', blank], 'document', 'bulk', signal), refused('invalid', /Text 2 of 2.*empty/));
        assert.equal(host.seen.length, 0);
      });

      it('knows itself by its settings', () => {
        const keys = [open(type), open(type), open(type, { dimension: 128 })].map((one) => one.key);
        assert.equal(keys[0], keys[1]);
        assert.notEqual(keys[0], keys[2]);
        assert.ok(keys[0]!.startsWith(type) && !keys[0]!.includes('k-1'));
      });

      it('refuses options of a wrong type', () =>
        assert.throws(() => open(type, { batch_size: 'many' }), refused('invalid', /batch_size is "many"/)));

      it('ends with the reason of an abort', () =>
        assert.rejects(open(type).embed(['a'], 'document', 'bulk', AbortSignal.abort(new Error('gone'))), /gone/));
    });
  }

  for (const type of REMOTE) {
    describe(`${type} at a host`, () => {
      it('refuses other dimensions than configured, naming both', () =>
        assert.rejects(
          open(type, { dimension: 768 }).embed(['a'], 'query', 'interactive', signal),
          refused('invalid', /of 4 dimensions.*768/),
        ));

      it('refuses other dimensions than before, naming both', async () => {
        const embedder = open(type);
        await embedder.embed(['a'], 'query', 'interactive', signal);
        host.always((seen) => answer(seen, () => [1, 2, 3]));
        await assert.rejects(embedder.embed(['a'], 'query', 'interactive', signal), refused('invalid', /of 3 dimensions.*4/));
      });

      for (const [name, make] of [
        ['zero vectors', () => [0, 0, 0, 0]],
        ['no numbers', () => [null, 1] as number[]],
      ] as const)
        it(`refuses ${name}`, async () => {
          host.always((seen) => answer(seen, make));
          await assert.rejects(
            open(type, { encoding_format: 'float' }).embed(['a'], 'query', 'interactive', signal),
            (error: unknown) => (error as Failure).code === 'BadEmbedding',
          );
        });

      it('refuses an answer with a vector too few', async () => {
        host.always((seen) => answer({ ...seen, body: { ...(seen.body as object), input: ['only one'] } }));
        await assert.rejects(
          open(type).embed(['a', 'b'], 'document', 'bulk', signal),
          (error: unknown) => (error as Failure).code === 'BadEmbedding',
        );
      });

      it('tries again after 429 and 503, and ends when that does not help', async () => {
        host.script(json({}, 429), json({ error: 'busy' }, 503));
        assert.equal((await open(type).embed(['a'], 'document', 'bulk', signal)).length, 1);
        assert.equal(host.seen.length, 3);
        host.always(json({ error: 'down' }, 503));
        await assert.rejects(open(type, { max_retries: 2 }).embed(['a'], 'document', 'bulk', signal), refused('unavailable', /status 503/));
        assert.equal(host.seen.length, 6);
      });

      it('does not repeat what cannot help, and never shows the key', async () => {
        host.always(json({ error: { message: 'bad key k-1' } }, 400));
        await assert.rejects(
          open(type).embed(['a'], 'document', 'bulk', signal),
          (error: unknown) =>
            (error as Failure).kind === 'bad_request' && (type === 'OllamaEmbedder' || !(error as Error).message.includes('k-1')),
        );
        assert.equal(host.seen.length, 1);
      });

      it('gives up in time', async () => {
        host.always({ silent: true, steps: ['hang'] });
        await assert.rejects(
          open(type, { timeout: 0.1, max_retries: 0 }).embed(['a'], 'document', 'bulk', signal),
          refused('timed_out', /./),
        );
      });

      it('says when nobody listens', async () => {
        const gone = await ScriptedOpenAI.start();
        const base = gone.base;
        await gone.close();
        await assert.rejects(
          open(type, { base_url: base }).embed(['a'], 'document', 'bulk', signal),
          refused('unavailable', /not available/),
        );
      });

      it('puts prefixes before texts', async () => {
        await open(type, { model: 'nomic-embed-text' }).embed(['tea'], 'query', 'interactive', signal);
        await open(type, { query_prefix: 'Q ', document_prefix: 'D ' }).embed(['tea'], 'document', 'bulk', signal);
        assert.deepEqual(inputs(), [['search_query: tea'], ['D tea']]);
      });
    });
  }

  it('OpenAIEmbedder sends key, organisation, format and size', async () => {
    await open('OpenAIEmbedder', {
      organization: 'org',
      model_name: 'text-embedding-3-small',
      model: undefined,
      dimension: 4,
      encoding_format: 'float',
    }).embed(['a'], 'query', 'interactive', signal);
    const [seen] = host.seen;
    assert.equal(seen!.path, '/v1/embeddings');
    assert.equal(seen!.headers.authorization, 'Bearer k-1');
    assert.equal(seen!.headers['openai-organization'], 'org');
    assert.deepEqual(seen!.body, { model: 'text-embedding-3-small', input: ['a'], encoding_format: 'float', dimensions: 4 });
  });

  it('OpenAIEmbedder needs a key for the public host', () =>
    assert.throws(() => open('OpenAIEmbedder', { api_key: null, base_url: null }), refused('bad_request', /has no api_key/)));

  it('OllamaEmbedder pulls a model that is missing, once', async () => {
    const missing = json({ error: 'model "m" not found, try pulling it first' }, 404);
    host.script(missing, json({ status: 'success' }));
    assert.equal((await open('OllamaEmbedder').embed(['a'], 'query', 'interactive', signal)).length, 1);
    assert.deepEqual(
      host.seen.map((seen) => seen.path),
      ['/api/embed', '/api/pull', '/api/embed'],
    );
    host.script(missing);
    await assert.rejects(
      open('OllamaEmbedder', { auto_pull: false }).embed(['a'], 'query', 'interactive', signal),
      refused('bad_request', /knows no model 'm'/),
    );
  });

  for (const type of ['UniversalEmbedder', 'HuggingFaceEmbedder', 'SentenceTransformerEmbedder'] as const) {
    it(`${type} asks our own runtime, and says what is missing without one`, async () => {
      const asked: unknown[] = [];
      const runtime = async (model: string, texts: readonly string[]) => {
        asked.push([model, ...texts]);
        return texts.map((text) => Float32Array.from(vectorOf(text)));
      };
      await open(type, { base_url: null }, { runtime }).embed(['tea'], 'query', 'interactive', signal);
      await open(type, { base_url: 'http://localhost:11540' }, { runtime }).embed(['tea'], 'query', 'interactive', signal);
      assert.deepEqual(asked, [
        ['m', 'tea'],
        ['m', 'tea'],
      ]);
      await assert.rejects(
        open(type, { base_url: null }).embed(['tea'], 'query', 'interactive', signal),
        refused('unavailable', /'m'.*LexicalEmbedder.*without a download/s),
      );
      const slow = (_model: string, _texts: readonly string[], limit: AbortSignal) =>
        new Promise<never>((_resolve, reject) => limit.addEventListener('abort', () => reject(limit.reason)));
      await assert.rejects(
        open(type, { base_url: null, timeout: 0.1 }, { runtime: slow }).embed(['tea'], 'query', 'interactive', signal),
        refused('timed_out', /'timeout'/),
      );
    });
  }
});
