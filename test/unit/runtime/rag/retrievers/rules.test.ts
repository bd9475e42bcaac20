import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Metadata } from '../../../../../runtime/documents/contract.js';
import { relevances } from '../../../../../runtime/rag/retrievers/cross-encoder.js';
import { filterClauses, searchBody } from '../../../../../runtime/rag/retrievers/elastic.js';
import { linksOf } from '../../../../../runtime/rag/retrievers/graph.js';
import { isComplex, splitOf } from '../../../../../runtime/rag/retrievers/multi-turn.js';
import { coverageOf } from '../../../../../runtime/rag/retrievers/reranked-retriever.js';
import { boostOf, factored, factorsOf, lengthOf, recencyOf } from '../../../../../runtime/rag/retrievers/reranked-strategy.js';
import { linesOfAnswer, rewritesOf, stemOf } from '../../../../../runtime/rag/retrievers/rewrites.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-06-30T12:00:00Z');
const ago = (days: number): Metadata => ({ date: new Date(NOW - days * DAY_MS).toISOString() });

describe('reranking by what is known', () => {
  for (const [days, score] of [
    [0, 1],
    [1, 1],
    [1.01, 0.8],
    [7, 0.8],
    [30, 0.5],
    [31, 0.2],
    [90, 0.2],
    [91, 0],
  ] as const)
    it(`${days} days old is ${score}`, () => assert.equal(recencyOf(ago(days), NOW), score));

  it('reads seconds and milliseconds, and prefers when it was written', () => {
    assert.equal(recencyOf({ timestamp: NOW / 1000 }, NOW), 1);
    assert.equal(recencyOf({ timestamp: NOW }, NOW), 1);
    assert.equal(recencyOf({ ingested_at: NOW, ...ago(60) }, NOW), 0.2);
    assert.equal(recencyOf({ date: 'soon' }, NOW), 0);
  });

  for (const [metadata, boost] of [
    [{}, 0],
    [{ priority: 'high' }, 0.3],
    [{ priority: 'critical', type: 'FAQ', category: 'featured', verified: true, expert: 'true' }, 1],
    [{ type: 'docs', priority: 'medium' }, 0.3],
    [{ type: 'policy' }, 0.1],
    [{ views: 1 }, 0],
    [{ views: 4 }, Math.log10(4) / 4],
    [{ views: 1_000_000 }, 0.2],
  ] as const)
    it(`${JSON.stringify(metadata)} is worth ${boost.toFixed(2)}`, () => assert.ok(Math.abs(boostOf(metadata) - boost) < 1e-12));

  it('weighs similarity, recency, length and metadata', () => {
    const hit = { id: 'x', documentHash: '', text: 'x'.repeat(500), score: 0.8, metadata: { ...ago(3), priority: 'high' } };
    assert.equal(lengthOf(hit.text, 1000), 0.5);
    const { score } = factored(hit, factorsOf({}), 1000, NOW);
    assert.ok(Math.abs(score - (0.7 * 0.8 + 0.1 * 0.8 + 0.1 * 0.5 + 0.1 * 0.3)) < 1e-12);
    assert.equal(factored(hit, factorsOf({ similarity: 0, recency: 0, length: 0, metadata_boost: 1 }), 1000, NOW).score, 0.3);
  });

  it('turns logits into relevances, all or none', () => {
    assert.deepEqual(relevances([0, 0.4, 1]), [0, 0.4, 1]);
    assert.deepEqual(relevances([0, 3]), [0.5, 1 / (1 + Math.exp(-3))]);
  });

  it('knows how much of a question a text covers', () => {
    assert.equal(coverageOf('repairing the kettles', 'A kettle that needs repair'), 1);
    assert.equal(coverageOf('repairing the kettles', 'A kettle'), 0.5);
    assert.equal(coverageOf('the of and', 'A kettle'), 0);
  });
});

describe('other ways to ask', () => {
  it('makes real variants, each different, the question first', () => {
    const ways = rewritesOf('How do I configure the QdrantStore timeout for uploads?', 10);
    assert.deepEqual(ways.slice(0, 5), [
      'How do I configure the QdrantStore timeout for uploads?',
      'configure QdrantStore timeout uploads',
      'configure qdrantstore timeout upload',
      'QdrantStore configure timeout uploads',
      'QdrantStore',
    ]);
    assert.equal(new Set(ways.map((way) => way.toLowerCase())).size, ways.length);
    assert.equal(rewritesOf('tea', 5).length, 1);
  });

  for (const [word, stem] of [
    ['queries', 'query'],
    ['boxes', 'box'],
    ['uploads', 'upload'],
    ['class', 'class'],
    ['status', 'status'],
    ['indexing', 'index'],
    ['is', 'is'],
  ])
    it(`stems ${word}`, () => assert.equal(stemOf(word!), stem));

  it('reads the lines of a model', () =>
    assert.deepEqual(linesOfAnswer('Here are some:\n1. first way\n- "second way"\n\n2) first way\n(3) third', 3), [
      'first way',
      'second way',
      'third',
    ]));
});

describe('taking questions apart', () => {
  const rules = { complexity: 50, least: 20, most: 3 };
  for (const [text, complex] of [
    ['What is the refund policy and how long does shipping take to France?', true],
    ['How do refunds work? And how long does the shipping to France take?', true],
    ['How do refunds work with the new payment provider of our shop in France', false],
    ['Refunds and shipping?', false],
    ['and?', false],
    ['The sandy land of Oakland is where they would like to hand over brands', false],
  ] as const)
    it(`${complex ? 'several' : 'one'}: ${text}`, () => assert.equal(isComplex(text, rules), complex));

  for (const [text, parts] of [
    ['What is the refund policy and how long does shipping take?', ['What is the refund policy', 'how long does shipping take?']],
    ['How do refunds work? How long does shipping take? Who pays?', ['How do refunds work?', 'How long does shipping take?', 'Who pays?']],
    ['Compare the price of red and green tea at the market today', ['Compare the price of red and green tea at the market today']],
    ['One is long enough? Two is long enough? Three? Four?', ['One is long enough?', 'Two is long enough?', 'Three? Four?']],
  ] as const)
    it(text, () => assert.deepEqual(splitOf(text, rules), parts));
});

describe('ties between chunks', () => {
  const all = { entities: true, headings: true };
  it('reads flat entities, else the extracted ones, and headings', () => {
    assert.deepEqual(linksOf({ entities_org: ['Acme', 'Acme'], section: 'Start' }, all), [
      { path: 'entities_org', value: 'Acme' },
      { path: 'section', value: 'Start' },
    ]);
    const extracted = { extractors: { entities: { ORG: [{ text: 'Acme', start: 0, end: 4 }] } } };
    assert.deepEqual(linksOf(extracted, all), [{ path: 'extractors.entities.ORG.text', value: 'Acme' }]);
    assert.deepEqual(linksOf(extracted, { ...all, entities: false }), []);
  });
});

describe('questions to Elasticsearch', () => {
  it('writes every operator', () =>
    assert.deepEqual(filterClauses({ a: 1, b: { $ne: 2 }, c: { $in: [3] }, d: { nin: [4] }, e: { gte: 5 }, f: null }, 'metadata'), [
      { term: { 'metadata.a': 1 } },
      { bool: { must_not: [{ term: { 'metadata.b': 2 } }] } },
      { terms: { 'metadata.c': [3] } },
      { bool: { must_not: [{ terms: { 'metadata.d': [4] } }] } },
      { range: { 'metadata.e': { gte: 5 } } },
      { bool: { must_not: [{ exists: { field: 'metadata.f' } }] } },
    ]));

  it('asks for words, and for vectors in the way of each engine', () => {
    const question = { text: 'tea', size: 2, vector: Float32Array.of(1, 0) };
    const plain = { bool: { must: [{ match: { content: { query: 'tea' } } }], filter: [] } };
    assert.deepEqual(searchBody(question, { text: 'content', metadata: '', vector: null }, false), { size: 2, query: plain });
    const fields = { text: 'content', metadata: '', vector: 'v' };
    assert.deepEqual(searchBody(question, fields, false).knn, { field: 'v', query_vector: [1, 0], k: 2, num_candidates: 100, filter: [] });
    assert.deepEqual(searchBody(question, fields, true).query, {
      bool: { should: [plain, { knn: { v: { vector: [1, 0], k: 2 } } }], minimum_should_match: 1 },
    });
  });
});
