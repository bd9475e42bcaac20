import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Metadata } from '../../../../runtime/documents/contract.js';
import type { Question } from '../../../../runtime/rag/contract.js';
import { type MeansParts, meansOf, planOf, type RetrievalParts, topKOf, withinLimits } from '../../../../runtime/rag/retrieval.js';
import { DENSE_TRUST } from '../../../../runtime/rag/retrievers/fusion.js';
import { Failure } from '../../../../schemas/errors.js';
import type { ProjectConfig } from '../../../../schemas/generated/config/project.js';
import type { Database, RetrievalStrategy, RetrievalStrategyType } from '../../../../schemas/generated/config/rag.js';
import { configOf, openLibrary, scopeOf } from '../../../support/library.js';

const signal = new AbortController().signal;

async function ask(config: ProjectConfig, question: Partial<Question> = {}, models: Pick<RetrievalParts, 'rerank' | 'complete'> = {}) {
  const { retrieval, close, asked: searches } = await openLibrary(models);
  try {
    const findings = await retrieval.ask(scopeOf(config), { text: 'boiling water for tea', ...question }, signal);
    return { ...findings, ids: findings.hits.map((hit) => hit.id), searches };
  } finally {
    await close();
  }
}

const withRag = (rag: unknown): ProjectConfig => ({ ...configOf('VectorRetriever'), rag }) as ProjectConfig;
const database = (extra: Partial<Database>): Database => ({ ...configOf('VectorRetriever').rag!.databases![0]!, ...extra });
const refused = (status: number, words: RegExp) => (error: unknown) =>
  error instanceof Failure && error.status === status && words.test(error.message);

describe('which database and strategy', () => {
  for (const [name, config, question, status, words] of [
    ['no rag section', withRag(undefined), {}, 400, /RAG not configured for this project/],
    ['no database', withRag({}), {}, 400, /No database/],
    ['an unknown database', configOf('VectorRetriever'), { database: 'other' }, 404, /'other' not found.*: main\./],
    ['an unknown strategy', configOf('VectorRetriever'), { strategy: 'other' }, 404, /'other' not found.*'main'.*: asked\./],
    ['no strategy', withRag({ databases: [database({ retrieval_strategies: [] })] }), {}, 400, /'main' has none/],
    [
      'no embedding strategy',
      withRag({ databases: [database({ embedding_strategies: [] })] }),
      {},
      500,
      /Failed to perform RAG query.*no embedding strategy/,
    ],
    ['an empty query', configOf('VectorRetriever'), { text: ' ' }, 422, /query is empty/],
    ['an unknown filter operator', configOf('VectorRetriever'), { filter: { year: { $near: 1 } } }, 400, /\$near/],
    ['a wrong option', configOf('VectorRetriever', { distance_metric: 'far' }), {}, 422, /distance_metric is "far".*cosine/],
  ] as const)
    it(`${name} is ${status}`, () => assert.rejects(ask(config, question as Partial<Question>), refused(status, words)));

  it('falls back from a default that does not exist to the marked, and to the first', async () => {
    const strategies: RetrievalStrategy[] = [
      { name: 'one', type: 'BM25Retriever' },
      { name: 'two', type: 'BM25Retriever', default: true },
    ];
    const of = (extra: Partial<Database>, rag: Metadata = {}) =>
      withRag({ databases: [database({ retrieval_strategies: strategies, ...extra }), database({ name: 'second' })], ...rag });
    assert.equal((await ask(of({ default_retrieval_strategy: 'one' }))).strategy, 'one');
    assert.equal((await ask(of({ default_retrieval_strategy: 'gone' }))).strategy, 'two');
    assert.equal((await ask(of({}, { default_database: 'second' }))).database, 'second');
    assert.equal((await ask(of({}, { default_database: 'gone' }))).database, 'main');
  });

  it('needs no embedder for BM25', async () => {
    const config = withRag({
      databases: [database({ embedding_strategies: [], retrieval_strategies: [{ name: 'b', type: 'BM25Retriever' }] })],
    });
    assert.deepEqual((await ask(config, { text: 'battery', topK: 2 })).ids, ['f']);
  });

  it('says nothing of what broke inside', async () => {
    const { retrieval, store, close } = await openLibrary();
    store.query = () => Promise.reject(new Error('secret path'));
    await assert.rejects(
      retrieval.ask(scopeOf(configOf('VectorRetriever')), { text: 'tea' }, signal),
      (error: unknown) => refused(500, /Failed to perform RAG query/)(error) && !/secret/.test((error as Error).message),
    );
    await close();
  });
});

describe('how many and how good', () => {
  const strategy = (type: RetrievalStrategyType, config: Metadata = {}): RetrievalStrategy => ({ name: 's', type, config });
  for (const [type, config, question, topK] of [
    ['BasicSimilarityStrategy', {}, {}, 5],
    ['BasicSimilarityStrategy', { top_k: 7 }, {}, 7],
    ['BasicSimilarityStrategy', { top_k: 7 }, { topK: 2 }, 2],
    ['RerankedStrategy', { final_k: 8, top_k: 3 }, {}, 8],
    ['MultiTurnRAGStrategy', { final_top_k: 4 }, {}, 4],
    ['BasicSimilarityStrategy', {}, { topK: 5000 }, 1000],
  ] as const)
    it(`${type} ${JSON.stringify(config)} ${JSON.stringify(question)}: ${topK}`, () =>
      assert.equal(topKOf(strategy(type, config), { text: 'x', ...question }), topK));

  it('keeps what reaches the threshold, the question before the strategy, and what fits into the tokens', () => {
    const hits = [0.9, 0.5, 0.2].map((score, at) => ({ id: `${at}`, documentHash: '', text: 'x'.repeat(40), metadata: {}, score }));
    const count = (config: Metadata, question: Partial<Question>): number =>
      withinLimits(hits, strategy('VectorRetriever', config), { text: 'x', ...question }).length;
    assert.equal(count({}, {}), 3);
    assert.equal(count({ score_threshold: 0.5 }, {}), 2);
    assert.equal(count({ score_threshold: 0.5 }, { threshold: 0 }), 3);
    assert.equal(count({}, { maxTokens: 20 }), 2);
    assert.equal(count({}, { maxTokens: 1 }), 1);
  });

  it('asks in several ways once only', () => {
    const { type, options } = planOf(strategy('MultiQueryStrategy', { num_queries: 4 }), { text: 'x', queryExpansion: true });
    assert.deepEqual([type, options], ['MultiQueryStrategy', { num_queries: 4 }]);
  });

  it('trusts an embedding model more than hashed words', () => {
    const trustIn = (type: string) => meansOf({ embedder: () => ({ type }) } as unknown as MeansParts).denseTrust();
    const { model, words } = DENSE_TRUST;
    assert.deepEqual([trustIn('LexicalEmbedder'), trustIn('UniversalEmbedder'), trustIn('OpenAIEmbedder')], [words, model, model]);
    assert.ok(model.share > words.share);
  });

  it('wraps the strategy in what the question asks for', () => {
    const plan = planOf(strategy('VectorRetriever', { a: 1 }), { text: 'x', hybridAlpha: 0.2, queryExpansion: true, rerankModel: 'r' });
    const inner = { base_strategy: 'HybridRetriever', base_strategy_config: { a: 1, hybrid_alpha: 0.2 } };
    assert.deepEqual(plan, {
      type: 'CrossEncoderRerankedStrategy',
      options: { model_name: 'r', base_strategy: 'MultiQueryStrategy', base_strategy_config: inner },
    });
  });
});
