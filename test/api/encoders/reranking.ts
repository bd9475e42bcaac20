import assert from 'node:assert/strict';
import { type Body, cosine, post, refused, TEXTS_LIMIT } from '../../support/encoders-stage.js';
import type { Scenario } from '../../support/scenario.js';

export function near(found: readonly number[][], expected: readonly number[][]): void {
  assert.equal(found.length, expected.length);
  for (const [at, vector] of found.entries()) assert.ok(cosine(vector, expected[at]!) > 0.99999, `text ${at}`);
}

export const RERANKER = 'tiny/reranker';
const documents = ['tea is grown in a garden', 'the ship sat in the harbour', { text: 'the moon is yellow' }];
const sorted = (values: readonly number[]): boolean => values.every((value, at) => at === 0 || value <= values[at - 1]!);

/** Rows on the order of documents, at one path. */
export const reranking = (path: string): Scenario[] => [
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
