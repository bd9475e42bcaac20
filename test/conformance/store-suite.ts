import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Metadata } from '../../runtime/documents/contract.js';
import type { EmbeddedChunk, Filter } from '../../runtime/rag/contract.js';
import type { Metric, VectorStore } from '../../runtime/rag/stores/contract.js';

/** A store of the given metric, empty, whose vectors have three dimensions; `enable_deduplication` as given. */
export type OpenStore = (metric: Metric, deduplicate: boolean) => Promise<VectorStore>;

const never = new AbortController().signal;

/** A chunk with a vector of three dimensions. */
export function chunk(
  document: string,
  index: number,
  vector: readonly number[],
  metadata: Metadata = {},
  text = `text ${index}`,
): EmbeddedChunk {
  const id = `doc_${document.slice(0, 12)}_chunk_${index}_0`;
  return { id, documentHash: document, text, vector: Float32Array.from(vector), metadata: { file_name: `${document}.txt`, ...metadata } };
}

/** What lists and answers show by other names. */
const SHOWN_BY_OTHER_NAMES = { file_size: 12, parser_type: 'P', total_chunks: 1, document_hash: 'b' };

const A = [
  chunk('a', 0, [1, 0, 0], { year: 2019, tag: 'x', author: { name: 'Ada' }, tags: ['red', 'blue'], draft: true }),
  chunk('a', 1, [0.6, 0.8, 0], { year: 2020, tag: 'y', author: { name: 'Bob' } }),
  chunk('a', 2, [0, 1, 0], { year: 2021, tag: 'z', filename: 'own' }),
];
const B = [chunk('b', 0, [-1, 0, 0], { year: 2022, tag: 'x', file_name: 'B.txt', ratio: 0.5, ...SHOWN_BY_OTHER_NAMES })];

const FILTERS: readonly [Filter, readonly string[]][] = [
  [{ tag: 'x' }, ['a0', 'b0']],
  [{ year: 2020 }, ['a1']],
  [{ ratio: 0.5 }, ['b0']],
  [{ draft: true }, ['a0']],
  [{ year: { $gte: 2020 } }, ['a1', 'a2', 'b0']],
  [{ year: { gt: 2019, lt: 2022 } }, ['a1', 'a2']],
  [{ year: { $lte: 2020 }, tag: 'y' }, ['a1']],
  [{ tag: { $in: ['x', 'z'] } }, ['a0', 'a2', 'b0']],
  [{ year: { in: [2019, 2021] } }, ['a0', 'a2']],
  [{ tag: { $ne: 'x' } }, ['a1', 'a2']],
  [{ tag: { nin: ['x', 'y'] } }, ['a2']],
  [{ 'author.name': 'Ada' }, ['a0']],
  [{ author: { name: { $in: ['Bob'] } } }, ['a1']],
  [{ 'author.name': { $ne: 'Ada' } }, ['a1', 'a2', 'b0']],
  [{ tags: 'red' }, ['a0']],
  [{ tags: 'red,blue' }, ['a0']],
  [{ tags: ['red', 'blue'] }, ['a0']],
  [{ author: '{"name":"Ada"}' }, ['a0']],
  [{ tag: { $gte: 'y' } }, ['a1', 'a2']],
  [{ absent: null, year: 2022 }, ['b0']],
  [{ tag: 'nothing' }, []],
  [{ filename: 'a.txt' }, ['a0', 'a1', 'a2']],
  [{ filename: { $in: ['B.txt'] }, year: { $gt: 0 } }, ['b0']],
  [{ filename: { $ne: 'a.txt' } }, ['b0']],
  [{ original_filename: 'B.txt', parser_used: 'P' }, ['b0']],
  [{ size_bytes: { $gte: 10 } }, ['b0']],
  [{ size_bytes: 12, chunk_count: 1 }, ['b0']],
  [{ document_id: 'b' }, ['b0']],
  [{ id: 'b' }, ['b0']],
  [{ filename: 'own' }, ['a2']],
];

const short = (id: string): string => id.replace(/^doc_(.+)_chunk_(\d+)_0$/, '$1$2');

/** What every store does, whatever keeps its chunks. */
export function storeSuite(name: string, open: OpenStore, { skip = false }: { skip?: string | false } = {}): void {
  describe(`${name} as a store`, { skip }, () => {
    let store: VectorStore;
    const dense = async (vector: readonly number[], k = 10, filter?: Filter): Promise<string[]> => {
      const answer = await store.query({ vector: Float32Array.from(vector), k, ...(filter && { filter }) }, never);
      return answer.dense.map(({ id }) => short(id));
    };

    before(async () => {
      store = await open('cosine', true);
    });
    after(async () => {
      await store.drop();
      await store.close();
    });

    it('is empty at first', async () => {
      assert.deepEqual(await dense([1, 0, 0]), []);
      assert.deepEqual(await store.documents(0, 10), []);
      assert.equal((await store.stats()).chunks, 0);
      assert.deepEqual(await store.has(['x']), new Set());
      assert.equal(await store.removeDocument('nothing'), 0);
      assert.equal((await store.health()).status, 'healthy');
    });

    it('keeps chunks once, and says how many', async () => {
      assert.deepEqual(await store.add(A, never), { stored: 3, skipped: 0 });
      assert.deepEqual(await store.add([...B, A[0]!, B[0]!], never), { stored: 1, skipped: 2 });
      assert.deepEqual(await store.add([], never), { stored: 0, skipped: 0 });
      assert.deepEqual(await store.has([A[1]!.id, 'x']), new Set([A[1]!.id]));
      const { chunks, documents, dimensions, metric } = await store.stats();
      assert.deepEqual({ chunks, documents, dimensions, metric }, { chunks: 4, documents: 2, dimensions: 3, metric: 'cosine' });
    });

    it('finds the nearest first, with scores from 0 to 1 and everything that was stored', async () => {
      const { dense: hits } = await store.query({ vector: Float32Array.of(1, 0, 0), k: 10 }, never);
      assert.deepEqual(
        hits.map(({ id, score }) => [short(id), Number(score.toFixed(3))]),
        [
          ['a0', 1],
          ['a1', 0.8],
          ['a2', 0.5],
          ['b0', 0],
        ],
      );
      const { score: _, explanation: __, ...stored } = hits[0]!;
      const { vector: ___, ...given } = A[0]!;
      assert.deepEqual(stored, given);
      assert.deepEqual(await dense([0, 1, 0], 2), ['a2', 'a1']);
    });

    for (const [filter, expected] of FILTERS) {
      it(`finds what passes ${JSON.stringify(filter)}`, async () => {
        assert.deepEqual((await dense([1, 0, 0], 10, filter)).sort(), expected);
        assert.deepEqual(
          await dense([-1, 0, 0], 1, filter),
          expected.length === 0 ? [] : [expected.includes('b0') ? 'b0' : expected.at(-1)],
        );
      });
    }

    it('refuses filters that it does not know', async () => {
      const refused = { name: 'Failure', kind: 'bad_request' };
      for (const filter of [
        { year: { $near: 1 } },
        { $or: [] },
        { year: { $in: 3 } },
        { year: { $gt: true } },
        { year: { $gt: 1, name: 2 } },
      ]) {
        await assert.rejects(dense([1, 0, 0], 1, filter), refused, JSON.stringify(filter));
      }
    });

    it('ranks by words', async () => {
      const extra = [
        chunk('words', 0, [0, 0, 1], {}, 'The zebra crosses the savannah.'),
        chunk('words', 1, [0.1, 0, 1], {}, 'Trees grow.'),
      ];
      await store.add(extra, never);
      const { lexical: hits, dense: none } = await store.query({ text: 'zebras crossing', k: 5 }, never);
      assert.deepEqual([hits.map(({ id }) => short(id)), none], [['words0'], []]);
      const both = await store.query({ text: 'trees', vector: Float32Array.of(1, 0, 0), k: 1, filter: { file_name: 'words.txt' } }, never);
      assert.deepEqual([both.lexical.map(({ id }) => short(id)), both.dense.map(({ id }) => short(id))], [['words1'], ['words1']]);
      assert.equal(await store.removeDocument('words'), 2);
      assert.deepEqual((await store.query({ text: 'zebra', k: 5 }, never)).lexical, []);
    });

    it('refuses vectors of other dimensions, naming both, and vectors that are none, and keeps nothing of such a call', async () => {
      const wrong = chunk('c', 1, [1, 2]);
      await assert.rejects(store.add([chunk('c', 0, [1, 2, 3]), wrong], never), { kind: 'invalid', message: /2 dimensions.* 3/ });
      await assert.rejects(dense([1, 2, 3, 4]), { kind: 'invalid', message: /4 dimensions.* 3/ });
      for (const bad of [
        [0, 0, 0],
        [Number.NaN, 0, 0],
        [Number.POSITIVE_INFINITY, 0, 0],
      ]) {
        await assert.rejects(store.add([chunk('c', 0, [1, 2, 3]), chunk('c', 1, bad)], never), { kind: 'invalid' });
      }
      assert.equal((await store.stats()).chunks, 4);
      assert.deepEqual(await store.has([chunk('c', 0, [1, 2, 3]).id]), new Set());
    });

    it('lists documents by name, and chunks by id', async () => {
      const documents = await store.documents(0, 10);
      assert.deepEqual(
        documents.map(({ documentHash, chunks }) => [documentHash, chunks]),
        [
          ['a', 3],
          ['b', 1],
        ],
      );
      assert.deepEqual(documents[0]!.metadata, A[0]!.metadata);
      assert.deepEqual(
        (await store.documents(1, 1)).map(({ documentHash }) => documentHash),
        ['b'],
      );
      const all: EmbeddedChunk[] = [];
      for await (const batch of store.chunks()) all.push(...batch);
      assert.deepEqual(
        all.map(({ id }) => short(id)),
        ['a0', 'a1', 'a2', 'b0'],
      );
      assert.deepEqual(all[1]!.text, 'text 1');
      assert.ok(Math.abs(all[1]!.vector[1]! - 0.8) < 1e-6);
    });

    it('removes a document with all its chunks, which can come again', async () => {
      assert.equal(await store.removeDocument('a'), 3);
      assert.deepEqual(await dense([1, 0, 0]), ['b0']);
      assert.deepEqual(await dense([1, 0, 0], 10, { year: { $gte: 2000 } }), ['b0']);
      assert.equal(await store.removeDocument('a'), 0);
      assert.deepEqual(await store.add(A, never), { stored: 3, skipped: 0 });
      assert.deepEqual(await dense([1, 0, 0], 1), ['a0']);
    });

    it('finds the same after its indexes were made anew', async () => {
      assert.deepEqual(await store.reindex(), { chunks: 4 });
      const { bytesBefore, bytesAfter } = await store.compact();
      assert.ok(bytesBefore >= 0 && bytesAfter >= 0);
      assert.deepEqual(await dense([1, 0, 0]), ['a0', 'a1', 'a2', 'b0']);
    });

    it('ends with the signal of the caller', async () => {
      await assert.rejects(store.query({ vector: Float32Array.of(1, 0, 0), k: 1 }, AbortSignal.abort(new Error('gone'))), /gone/);
      await assert.rejects(store.add([chunk('d', 0, [1, 0, 0])], AbortSignal.abort(new Error('gone'))), /gone/);
      assert.equal((await store.stats()).chunks, 4);
    });

    it('is empty after it was dropped, and takes chunks again', async () => {
      await store.drop();
      assert.deepEqual(await dense([1, 0, 0]), []);
      assert.equal((await store.stats()).chunks, 0);
      assert.deepEqual(await store.add(B, never), { stored: 1, skipped: 0 });
      assert.deepEqual(await dense([1, 0, 0]), ['b0']);
    });

    it('lets chunks take the place of those with their ids when it does not deduplicate', async () => {
      const other = await open('cosine', false);
      await other.add(A, never);
      assert.deepEqual(await other.add([chunk('a', 0, [0, 0, 1], { year: 1 }, 'new')], never), { stored: 1, skipped: 0 });
      const { dense: hits } = await other.query({ vector: Float32Array.of(0, 0, 1), k: 1 }, never);
      assert.deepEqual([hits[0]!.text, hits[0]!.metadata.year], ['new', 1]);
      const { chunks, documents } = await other.stats();
      assert.deepEqual({ chunks, documents }, { chunks: 3, documents: 1 });
      await other.drop();
      await other.close();
    });

    for (const [metric, scores] of [
      ['l2', [1, 1 / 1.01, 1 / 1.04]],
      ['ip', [1, 0.5, 0]],
    ] as const) {
      it(`scores ${metric} from 0 to 1`, async () => {
        const other = await open(metric, true);
        await other.add(
          [chunk('a', 0, [1, 0, 0]), chunk('a', 1, metric === 'l2' ? [1, 1, 0] : [0, 1, 0]), chunk('a', 2, [-1, 0, 0])],
          never,
        );
        const { dense: hits } = await other.query({ vector: Float32Array.of(1, 0, 0), k: 3 }, never);
        assert.deepEqual(
          hits.map(({ id }) => short(id)),
          ['a0', 'a1', 'a2'],
        );
        for (const [index, { score }] of hits.entries())
          assert.ok(Math.abs(score - scores[index]!) < 1e-3, `${score} for ${scores[index]}`);
        await other.drop();
        await other.close();
      });
    }
  });
}
