import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Metadata } from '../../../../../runtime/documents/contract.js';
import type { Question } from '../../../../../runtime/rag/contract.js';
import type { RetrievalParts } from '../../../../../runtime/rag/retrieval.js';
import { Failure } from '../../../../../schemas/errors.js';
import type { RetrievalStrategyType } from '../../../../../schemas/generated/config/rag.js';
import { configOf, openLibrary, scopeOf } from '../../../../support/library.js';

const signal = new AbortController().signal;
type Models = Pick<RetrievalParts, 'rerank' | 'complete'>;

async function ask(type: RetrievalStrategyType, config: Metadata, question: Partial<Question> = {}, models: Models = {}) {
  const { retrieval, close, asked: searches } = await openLibrary(models);
  try {
    const asked = { text: 'boiling water for tea', topK: 3, explain: true, ...question };
    const { hits } = await retrieval.ask(scopeOf(configOf(type, config)), asked, signal);
    return { hits, ids: hits.map((hit) => hit.id), searches };
  } finally {
    await close();
  }
}

const refused = (status: number, words: RegExp) => (error: unknown) =>
  error instanceof Failure && error.status === status && words.test(error.message);

describe('HybridRetriever', () => {
  it('is dense at 1 and BM25 at 0', async () => {
    const text = 'remote battery';
    const ids = async (type: RetrievalStrategyType, config: Metadata) => (await ask(type, config, { text, topK: 2 })).ids;
    assert.deepEqual(await ids('HybridRetriever', { hybrid_alpha: 1 }), await ids('VectorRetriever', {}));
    assert.deepEqual(await ids('HybridRetriever', { hybrid_alpha: 0 }), await ids('BM25Retriever', {}));
  });

  it('searches once, and says both ranks', async () => {
    const { hits, searches } = await ask('HybridRetriever', { fusion: 'rrf', hybrid_alpha: 0.5 });
    assert.equal(searches.length, 1);
    const { dense_rank: dense, lexical_rank: lexical, fused_score: fused, fusion } = hits[0]!.explanation!;
    const expected = (1 / (60 + (dense as number)) + 1 / (60 + (lexical as number))) / (2 / 61);
    assert.ok(Math.abs((fused as number) - expected) < 1e-12);
    assert.equal(fusion, 'rrf');
  });

  it('takes scores, a third of them dense, where nothing else is said; so does its universal sibling', async () => {
    const text = 'remote battery';
    const scores = async (type: RetrievalStrategyType, config: Metadata) =>
      (await ask(type, config, { text })).hits.map(({ id, score }) => [id, Math.round(score * 1e9)]);
    const named = await scores('HybridRetriever', { fusion: 'weighted', hybrid_alpha: 1 / 3 });
    assert.deepEqual(await scores('HybridRetriever', {}), named);
    assert.deepEqual(await scores('HybridUniversalStrategy', {}), await scores('HybridUniversalStrategy', { hybrid_alpha: 1 / 3 }));
    assert.notDeepEqual(await scores('HybridRetriever', { fusion: 'weighted', hybrid_alpha: 0.5 }), named);
  });

  it('looks for the words of a question that say something', async () => {
    const { searches } = await ask('HybridRetriever', {}, { text: 'Where is the battery of the remote?' });
    assert.equal(searches[0]!.text, 'battery remote?');
    const { searches: alone, hits } = await ask('BM25Retriever', {}, { text: 'Where is the battery?' });
    assert.deepEqual([alone[0]!.text, hits[0]!.explanation!.lexical_query], ['battery?', 'battery?']);
  });
});

describe('MetadataFilteredStrategy', () => {
  it('filters inside the search, or after a wider one', async () => {
    const pre = await ask('MetadataFilteredStrategy', { filters: { year: { $gte: 2021 } } });
    assert.deepEqual(pre.searches[0]!.filter, { year: { $gte: 2021 } });
    const post = await ask('MetadataFilteredStrategy', { filters: { year: { $gte: 2021 } }, filter_mode: 'post', fallback_multiplier: 2 });
    assert.equal(post.searches[0]!.filter, undefined);
    assert.equal(post.searches[0]!.k, 6);
    assert.deepEqual(post.ids, pre.ids);
  });

  it('asks for both filters, and for default_filters only where nothing else is said', async () => {
    const both = await ask('MetadataFilteredStrategy', { filters: { year: { $gte: 2021 } } }, { filter: { year: { $lt: 2023 } } });
    assert.deepEqual(both.ids.toSorted(), ['b', 'c']);
    const same = await ask('MetadataFilteredStrategy', { filters: { year: 2021 } }, { filter: { year: { $in: [2021, 2022] } } });
    assert.deepEqual(same.ids, ['b']);
    const config = { default_filters: { year: 2018 } };
    assert.deepEqual((await ask('MetadataFilteredStrategy', config)).ids, ['e']);
    assert.deepEqual((await ask('MetadataFilteredStrategy', config, { filter: { year: 2021 } })).ids, ['b']);
  });
});

describe('BasicSimilarityStrategy', () => {
  it('measures manhattan anew', async () => {
    const { hits } = await ask('BasicSimilarityStrategy', { distance_metric: 'manhattan' });
    assert.ok(hits.every((hit) => hit.explanation!.manhattan_score === hit.score && hit.score > 0 && hit.score < 1));
    const same = await ask(
      'BasicSimilarityStrategy',
      { distance_metric: 'manhattan' },
      { text: 'Invoices are paid within thirty days of delivery.' },
    );
    assert.equal(same.hits[0]!.score, 1);
  });
});

describe('MultiQueryStrategy', () => {
  it('asks in different ways and counts how many found a hit', async () => {
    const { hits, searches } = await ask('MultiQueryStrategy', { num_queries: 3 }, { text: 'How is the water boiled for the tea?' });
    assert.equal(searches.length, 3);
    assert.equal(new Set(searches.map((one) => String(one.vector))).size, 3);
    assert.ok(hits.every((hit) => Number(hit.metadata.query_frequency) >= 1 && Number(hit.metadata.query_frequency) <= 3));
  });

  it('lets a model write the ways, and falls back to rules when it fails', async () => {
    const prompts: string[] = [];
    const complete = async (_model: unknown, prompt: string) => {
      prompts.push(prompt);
      return '1. paid invoices\n2. money for delivery';
    };
    const text = 'boiling water for tea';
    const written = await ask('MultiQueryStrategy', { model_name: 'writer' }, { text }, { complete });
    assert.ok(prompts[0]!.includes(text));
    assert.deepEqual(written.hits[0]!.explanation!.queries, [text, 'paid invoices', 'money for delivery']);
    const fallen = await ask(
      'MultiQueryStrategy',
      { model_name: 'writer' },
      { text },
      { complete: () => Promise.reject(new Error('down')) },
    );
    assert.equal((fallen.hits[0]!.explanation!.queries as string[])[1], 'boiling water tea');
    await assert.rejects(ask('MultiQueryStrategy', { model_name: 'nobody' }), refused(404, /'nobody'.*ranker, writer/));
  });

  it('takes the best score where told so', async () => {
    const { hits } = await ask('MultiQueryStrategy', { num_queries: 1, aggregation_method: 'max' });
    const plain = await ask('BasicSimilarityStrategy', {});
    assert.deepEqual(
      hits.map((hit) => hit.score),
      plain.hits.map((hit) => hit.score),
    );
  });
});

describe('CrossEncoderRerankedStrategy', () => {
  const longest = async (_model: unknown, _query: string, texts: readonly string[]) => texts.map((text) => text.length / 100);
  const config = { model_name: 'ranker', initial_k: 6 };

  it('puts the hits in the order of the model, in batches, and cuts below the threshold', async () => {
    const sizes: number[] = [];
    const rerank: Models['rerank'] = async (model, query, texts) => {
      sizes.push(texts.length);
      return longest(model, query, texts);
    };
    const { ids, hits } = await ask('CrossEncoderRerankedStrategy', { ...config, batch_size: 4 }, { topK: 6 }, { rerank });
    assert.equal(ids[0], 'f');
    assert.deepEqual(sizes, [4, 2]);
    assert.ok('base_rank' in hits[0]!.explanation! && 'rerank_score' in hits[0]!.explanation!);
    const cut = await ask('CrossEncoderRerankedStrategy', { ...config, relevance_threshold: 0.6 }, { topK: 6 }, { rerank });
    assert.deepEqual(cut.ids, ['f']);
  });

  it('keeps the order from before when the model fails, is late or is not there', async () => {
    const base = (await ask('BasicSimilarityStrategy', {})).ids;
    const fails: Models[] = [
      { rerank: () => Promise.reject(new Failure('unavailable', 'down')) },
      { rerank: async () => [0.5] },
      { rerank: async (_model, _query, texts) => texts.map(() => Number.NaN) },
      {},
    ];
    for (const models of fails) assert.deepEqual((await ask('CrossEncoderRerankedStrategy', config, {}, models)).ids, base);
  });

  it('refuses a model that is missing or unknown', async () => {
    await assert.rejects(ask('CrossEncoderRerankedStrategy', {}), refused(400, /needs 'model_name'/));
    const rerank: Models['rerank'] = ({ provider, model }) => Promise.reject(new Failure('not_found', `${provider} has no ${model}`));
    await assert.rejects(
      ask('CrossEncoderRerankedStrategy', { model_name: 'nobody' }, {}, { rerank }),
      refused(404, /'nobody'.*ranker.*universal has no nobody/),
    );
  });

  it('shows the model no more of a text than told', async () => {
    const rerank: Models['rerank'] = async (_model, _query, texts) => texts.map((text) => (text.length <= 100 ? 1 : 0));
    const { hits } = await ask('CrossEncoderRerankedStrategy', { ...config, max_chars_per_doc: 100 }, {}, { rerank });
    assert.ok(hits.every((hit) => hit.score === 1));
  });
});

describe('HybridUniversalStrategy', () => {
  it('weighs strategies by their short names', async () => {
    const strategies = [
      { type: 'basic', weight: 0 },
      { type: 'bm25', weight: 1 },
    ];
    assert.deepEqual((await ask('HybridUniversalStrategy', { strategies }, { text: 'remote battery', topK: 2 })).ids, ['f', 'c']);
  });

  it('takes the mean of scores brought to 0..1', async () => {
    const { hits } = await ask(
      'HybridUniversalStrategy',
      { hybrid_alpha: 0.25 },
      { text: 'Invoices are paid within thirty days of delivery.' },
    );
    assert.equal(hits[0]!.score, 1);
    assert.deepEqual(
      (hits[0]!.explanation!.strategies as { weight: number }[]).map((one) => one.weight),
      [0.25, 0.75],
    );
  });

  it('refuses one strategy, unknown ones, and weights outside', async () => {
    const of = (...strategies: Metadata[]) => ask('HybridUniversalStrategy', { strategies });
    await assert.rejects(of({ type: 'basic' }), refused(422, /names 1; it must name 2 to 5/));
    await assert.rejects(of({ type: 'basic' }, { type: 'magic' }), refused(422, /"magic".*BM25Retriever/));
    await assert.rejects(of({ type: 'basic' }, { type: 'bm25', weight: 2 }), refused(422, /weight 2/));
  });

  it('nests four levels deep, not five', async () => {
    const nested = (levels: number): Metadata =>
      levels === 0 ? { num_queries: 1 } : { base_strategy: 'MultiQueryStrategy', base_strategy_config: nested(levels - 1), num_queries: 1 };
    assert.equal((await ask('MultiQueryStrategy', nested(2))).hits.length, 3);
    await assert.rejects(ask('MultiQueryStrategy', nested(3)), refused(400, /nested deeper than 4/));
  });
});

describe('MultiTurnRAGStrategy', () => {
  const text = 'How is green tea made with hot water? And which remote opens the garage door?';

  it('asks each part of a question', async () => {
    const { hits, searches } = await ask('MultiTurnRAGStrategy', {}, { text, topK: 4 });
    assert.equal(searches.length, 2);
    const first = hits.slice(0, 3).map((hit) => hit.id);
    assert.ok(first.includes('b') && first.includes('c'), first.join());
  });

  it('asks a simple question as it is', async () => {
    const simple = await ask('MultiTurnRAGStrategy', {});
    assert.deepEqual(simple.ids, (await ask('BasicSimilarityStrategy', {})).ids);
    assert.equal((await ask('MultiTurnRAGStrategy', { complexity_threshold: 1000 }, { text })).searches.length, 1);
  });

  it('lets a model take it apart, and a reranker order each part', async () => {
    const complete = async () => '- paid invoices\n- battery of a remote\n- one more\n- too many';
    const queries: string[] = [];
    const rerank: Models['rerank'] = async (_model, query, texts) => {
      queries.push(query);
      return texts.map(() => 0.5);
    };
    const config = { model_name: 'writer', enable_reranking: true, reranker_config: { model_name: 'ranker' } };
    await ask('MultiTurnRAGStrategy', config, { text }, { complete, rerank });
    assert.deepEqual(queries.toSorted(), ['battery of a remote', 'one more', 'paid invoices']);
  });
});

describe('GraphRetriever', () => {
  it('follows a shared entity to a chunk that the question does not name', async () => {
    const text = 'kettle boils water in three minutes';
    const plain = (await ask('VectorRetriever', {}, { text, topK: 6 })).hits.find((hit) => hit.id === 'd')!;
    const { hits } = await ask('GraphRetriever', { initial_k: 1 }, { text, topK: 3 });
    const found = hits.find((hit) => hit.id === 'd')!;
    assert.deepEqual(found.explanation!.links, ['entities_org=Brewster']);
    assert.ok(found.score > plain.score);
    const own = await ask('GraphRetriever', { initial_k: 1, follow_entities: false, follow_headings: false }, { text });
    assert.ok(own.hits.every((hit) => hit.explanation!.links === undefined));
  });
});

describe('ElasticRetriever', () => {
  it('says that it needs a host', () => assert.rejects(ask('ElasticRetriever', {}), refused(400, /needs 'host'/)));
});
