import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import type { VectorStore } from '../../../../../runtime/rag/stores/contract.js';
import { openStore } from '../../../../../runtime/rag/stores/index.js';
import type { Store } from '../../../../../runtime/store/store.js';
import { ScriptedQdrant } from '../../../../support/scripted-qdrant.js';
import { chunk, chunks, DIMENSIONS, direction, NEVER } from './fixture.js';

describe('a store on a server', () => {
  const outbound = new Outbound();
  let qdrant: ScriptedQdrant;
  let store: VectorStore;

  const openOn = (config: Record<string, unknown>): Promise<VectorStore> => {
    const scope = { namespace: 'ns', project: 'p', directory: '', store: undefined as unknown as Store, outbound };
    return openStore({ name: 'db', type: 'QdrantStore', config: { host: '127.0.0.1', port: qdrant.port, ...config } }, scope);
  };
  before(async () => {
    qdrant = await ScriptedQdrant.start();
  });
  after(async () => {
    await qdrant.stop();
    await outbound.close();
  });
  beforeEach(async () => {
    store = await openOn({});
    await store.drop();
    qdrant.requests.length = 0;
    qdrant.refusals.length = 0;
  });

  it('stores in batches, and pages through what is there', async () => {
    assert.deepEqual(await store.add(chunks('a', 0, 700), NEVER), { stored: 700, skipped: 0 });
    assert.equal(qdrant.requests.filter(([method, path]) => method === 'PUT' && path.endsWith('/points')).length, 3);
    const { chunks: count, documents } = await store.stats();
    assert.deepEqual([count, documents], [700, 1]);
    const ids: string[] = [];
    for await (const batch of store.chunks()) ids.push(...batch.map(({ id }) => id));
    assert.deepEqual(
      ids,
      chunks('a', 0, 700)
        .map(({ id }) => id)
        .sort(),
    );
    assert.equal((await store.documents(0, 10))[0]!.chunks, 700);
  });

  it('fetches more until a filter that the server cannot take is satisfied', async () => {
    await store.add(
      chunks('a', 0, 300).map((one, index) => ({ ...one, metadata: { where: { place: index === 250 ? 'here' : 'there' } } })),
      NEVER,
    );
    const { dense, plan } = await store.query({ vector: direction(3), k: 1, filter: { 'where.place': 'here' } }, NEVER);
    assert.deepEqual(
      dense.map(({ id }) => id),
      [chunk('a', 250).id],
    );
    assert.ok((plan.dense as { fetched: number }).fetched > 1);
  });

  it('tries again when the server is busy, three times in all', async () => {
    qdrant.refusals.push(503, 429);
    assert.equal((await store.stats()).chunks, 0);
    qdrant.refusals.push(503, 503, 503);
    const host = `127.0.0.1:${qdrant.port}`;
    await assert.rejects(store.removeDocument('a'), {
      kind: 'unavailable',
      message: new RegExp(`${host} answered 503 to POST /collections/documents/points/count`),
    });
  });

  it('does not repeat what the server refuses, and says its reason', async () => {
    await store.add([chunk('a', 0)], NEVER);
    qdrant.requests.length = 0;
    qdrant.refusals.push(403);
    await assert.rejects(store.query({ vector: direction(0), k: 1 }, NEVER), {
      kind: 'unavailable',
      message: /answered 403 .*refused with 403/,
    });
    assert.equal(qdrant.requests.length, 1);
  });

  it('removes what a failed addition has stored', async () => {
    await store.add([chunk('a', 0)], NEVER);
    // What is there is looked up in three requests; the second batch is refused.
    qdrant.refusals.push(undefined, undefined, undefined, undefined, 400);
    await assert.rejects(store.add(chunks('a', 0, 700), NEVER), { kind: 'unavailable' });
    assert.equal((await store.stats()).chunks, 1);
  });

  it('sends its key, from the environment where the configuration says so', async () => {
    process.env.QUERN_TEST_KEY = 'open sesame';
    const locked = await openOn({ api_key: '${env:QUERN_TEST_KEY}' });
    assert.equal((await locked.health()).status, 'healthy');
    assert.equal(qdrant.requests.at(-1)![2], 'open sesame');
    assert.equal((await store.health()).status, 'healthy');
    assert.equal(qdrant.requests.at(-1)![2], undefined);
    delete process.env.QUERN_TEST_KEY;
  });

  it('ranks by words over the chunks that have one of the question, and says over how many', async () => {
    const texts = ['Libraries lend books.', 'A book about the Library of Alexandria, a library.', 'Cows eat grass.', 'LIBRARY'];
    await store.add(
      texts.map((text, index) => ({ ...chunk('a', index), text, metadata: { odd: index % 2 === 1, deep: { index } } })),
      NEVER,
    );
    const ask = async (text: string, filter = {}) => store.query({ text, k: 5, filter }, NEVER);
    const { lexical, dense, plan } = await ask('Which library is it?');
    assert.deepEqual([lexical.map(({ id }) => id).toSorted(), dense], [[0, 1, 3].map((index) => chunk('a', index).id), []]);
    assert.ok(lexical.every(({ score }, at) => score > 0 && score <= (lexical[at - 1]?.score ?? score)));
    assert.deepEqual(plan.lexical, {
      plan: 'bm25 over fetched chunks',
      host: `127.0.0.1:${qdrant.port}`,
      words: ['libr'],
      fetched: 3,
      all: true,
    });
    assert.deepEqual(
      (await ask('library books', { odd: false, 'deep.index': { $gte: 0 } })).lexical.map(({ id }) => id),
      [chunk('a', 0).id],
    );
    assert.deepEqual((await ask('?!')).lexical, []);
  });

  it('says when a question of common words did not see all chunks', async () => {
    await store.add(
      chunks('a', 0, 1100).map((one) => ({ ...one, text: `common ${one.text}` })),
      NEVER,
    );
    const { lexical, plan } = await store.query({ text: 'common', k: 3 }, NEVER);
    const { fetched, all } = plan.lexical as { fetched: number; all: boolean };
    assert.deepEqual([lexical.length, fetched, all], [3, 1024, false]);
  });

  it('says which host does not answer, and never calls a metadata address', async () => {
    const gone = await openOn({ port: 1 });
    await assert.rejects(gone.add([chunk('a', 0)], NEVER), { kind: 'unavailable', message: /127\.0\.0\.1:1/ });
    const { status, message } = await gone.health();
    assert.deepEqual([status, /127\.0\.0\.1:1/.test(message)], ['unhealthy', true]);
    const metadata = await openOn({ host: '169.254.169.254', port: 80 });
    await assert.rejects(metadata.has(['x']), { kind: 'bad_request', code: 'AddressRefused' });
  });

  it('refuses names and ports that are wrong', async () => {
    for (const config of [{ port: 70_000 }, { host: 5 }, { host: 'http://' }, { collection_name: '../x' }]) {
      await assert.rejects(async () => openOn(config), { kind: 'invalid' }, JSON.stringify(config));
    }
    await assert.rejects(store.add([{ ...chunk('a', 0), vector: new Float32Array(DIMENSIONS) }], NEVER), {
      kind: 'invalid',
      message: /length 0/,
    });
  });
});
