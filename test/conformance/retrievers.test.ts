import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Metadata } from '../../runtime/documents/contract.js';
import { RETRIEVERS } from '../../runtime/rag/retrievers/index.js';
import { STRATEGY_TYPES } from '../../runtime/rag/retrievers/strategy-types.js';
import type { RetrievalStrategyType } from '../../schemas/generated/config/rag.js';
import { configOf, openLibrary, SHELF, scopeOf } from '../support/library.js';
import { json, ScriptedOpenAI, type Seen } from '../support/scripted-openai.js';

const signal = new AbortController().signal;
const QUESTION = 'Which remote opens the garage door, and how long does Brewster need for the repair of a kettle?';

/** What a search host answers: the shelf's documents that share a word with the question and pass a range on the year. */
function elasticAnswer({ body }: Seen, shelf: typeof SHELF) {
  const { size, query } = body as {
    size: number;
    query: { bool: { must: { match: { content: { query: string } } }[]; filter: Metadata[] } };
  };
  const words = new Set(query.bool.must[0]!.match.content.query.toLowerCase().match(/\w+/g));
  const least = (query.bool.filter[0]?.range as { 'metadata.year'?: { gte: number } } | undefined)?.['metadata.year']?.gte ?? 0;
  const hits = shelf
    .filter(([, , metadata]) => (metadata.year as number) >= least)
    .map(([id, content, metadata]) => {
      const score = (content.toLowerCase().match(/\w+/g) ?? []).filter((word) => words.has(word)).length;
      return { _id: id, _score: score, _source: { content, metadata } };
    })
    .sort((x, y) => y._score - x._score)
    .slice(0, size);
  return json({ hits: { hits } });
}

describe('retrievers', () => {
  let host: ScriptedOpenAI;
  let shelf: typeof SHELF = SHELF;
  before(async () => {
    host = await ScriptedOpenAI.start();
    host.always((seen) => elasticAnswer(seen, shelf));
  });
  after(() => host.close());

  /** What a strategy cannot do without. */
  const needed = (type: RetrievalStrategyType): Metadata => {
    if (type === 'ElasticRetriever') return { host: host.origin };
    return type === 'CrossEncoderRerankedStrategy' ? { model_name: 'ranker' } : {};
  };
  const rerank = async (_model: unknown, _query: string, texts: readonly string[]): Promise<number[]> =>
    texts.map((text) => 1 / (1 + text.length));

  async function library(type: RetrievalStrategyType, chunks = SHELF) {
    shelf = chunks;
    const { retrieval, close } = await openLibrary({ rerank }, chunks);
    const scope = scopeOf(configOf(type, needed(type)));
    return { ask: (extra: object) => retrieval.ask(scope, { text: QUESTION, ...extra }, signal), close };
  }

  it('lists every name of a strategy', () => assert.deepEqual(Object.keys(RETRIEVERS).sort(), [...STRATEGY_TYPES].sort()));

  for (const [type, retriever] of Object.entries(RETRIEVERS) as [RetrievalStrategyType, (typeof RETRIEVERS)[RetrievalStrategyType]][]) {
    describe(type, () => {
      it('stands under its own name, with a size among its options', () => {
        assert.equal(retriever.type, type);
        assert.ok(retriever.size in retriever.options);
      });

      it('answers the same hits each time, the best first, as many as asked for', async () => {
        const { ask, close } = await library(type);
        const first = await ask({ topK: 3 });
        assert.equal(first.hits.length, 3);
        assert.deepEqual((await ask({ topK: 3 })).hits, first.hits);
        const scores = first.hits.map((hit) => hit.score);
        assert.deepEqual(
          scores,
          scores.toSorted((a, b) => b - a),
        );
        assert.ok(
          scores.every((score) => score >= 0 && score <= 1),
          String(scores),
        );
        assert.equal((await ask({ topK: 1 })).hits.length, 1);
        assert.ok(first.hits.every((hit) => SHELF.some(([id, text]) => id === hit.id && text === hit.text)));
        await close();
      });

      it('keeps to the filter and the threshold', async () => {
        const { ask, close } = await library(type);
        const { hits } = await ask({ topK: 6, filter: { year: { $gte: 2022 } } });
        assert.ok(hits.length > 0);
        assert.ok(
          hits.every((hit) => (hit.metadata.year as number) >= 2022),
          hits.map((hit) => hit.id).join(),
        );
        const all = (await ask({ topK: 6 })).hits;
        const threshold = all[1]!.score;
        assert.deepEqual(
          (await ask({ topK: 6, threshold })).hits.map((hit) => hit.id),
          all.filter((hit) => hit.score >= threshold).map((hit) => hit.id),
        );
        await close();
      });

      it('finds nothing in an empty store', async () => {
        const { ask, close } = await library(type, []);
        assert.deepEqual((await ask({ topK: 3 })).hits, []);
        await close();
      });

      it('explains its hits when asked, and only then', async () => {
        const { ask, close } = await library(type);
        assert.ok((await ask({ topK: 2 })).hits.every((hit) => hit.explanation === undefined));
        for (const { explanation } of (await ask({ topK: 2, explain: true })).hits) {
          assert.ok(
            explanation && ('dense_rank' in explanation || 'lexical_rank' in explanation) && 'plan' in explanation,
            JSON.stringify(explanation),
          );
        }
        await close();
      });

      it('ends with the reason of an abort', async () => {
        const { retrieval, close } = await openLibrary({ rerank });
        const gone = AbortSignal.abort(new Error('gone'));
        await assert.rejects(retrieval.ask(scopeOf(configOf(type, needed(type))), { text: QUESTION }, gone), /gone/);
        await close();
      });
    });
  }
});
