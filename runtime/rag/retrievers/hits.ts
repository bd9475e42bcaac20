// The hits of a question: the dense and the lexical ones that the store gives, with scores from 0 to 1, and what every strategy does with a list of them.

import { Failure } from '../../../schemas/errors.js';
import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { withoutStopWords } from './question-stop-words.js';

/** Most hits of one ranking, whatever multiplies the number that was asked for. */
export const MOST_HITS = 1000;

/** The hits nearest to a vector, or to the question where none is given. */
export async function denseHits(query: RetrievalQuery, means: RetrievalMeans, k: number, vector?: Float32Array): Promise<Hit[]> {
  const near = vector ?? (await vectorOf(query.text, means));
  const { dense, plan } = await means.search({ vector: near, k: atMostHits(k), ...filterOf(query) });
  return rankedHits(query, dense, 'dense', { plan });
}

/** The hits that share words with the question, by BM25, brought to 0..1. */
export async function lexicalHits(query: RetrievalQuery, means: RetrievalMeans, k: number): Promise<Hit[]> {
  const text = withoutStopWords(query.text);
  const { lexical, plan } = await means.search({ text, k: atMostHits(k), ...filterOf(query) });
  return rankedHits(query, lexical, 'lexical', { lexical_query: text, plan });
}

/** Both rankings from one look into the store. */
export async function bothHits(query: RetrievalQuery, means: RetrievalMeans, k: number): Promise<{ dense: Hit[]; lexical: Hit[] }> {
  const vector = await vectorOf(query.text, means);
  const text = withoutStopWords(query.text);
  const { dense, lexical, plan } = await means.search({ vector, text, k: atMostHits(k), ...filterOf(query) });
  return {
    dense: rankedHits(query, dense, 'dense', { plan }),
    lexical: rankedHits(query, lexical, 'lexical', { lexical_query: text, plan }),
  };
}

/** The vector of one text. */
export async function vectorOf(text: string, means: RetrievalMeans): Promise<Float32Array> {
  const [vector] = await means.embed([text]);
  if (!vector) throw new Failure('model_failed', 'The question got no embedding.', { code: 'BadEmbedding' });
  return vector;
}

/** The BM25 score that counts as one half. BM25 has no upper end; so a threshold means the same for every question. */
const BM25_HALF = 8;

/** A lexical score without an upper end as a number from 0 to 1 in the same order. */
export function boundedScore(score: number): number {
  return Math.max(0, score) / (Math.max(0, score) + BM25_HALF);
}

/** The best hits first; equal scores are in the order of their ids, so that an answer is the same each time. */
export function bestHits(hits: readonly Hit[], count: number): Hit[] {
  return hits.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)).slice(0, count);
}

/** The hits by id, the first of each. */
export function hitsById(lists: Iterable<readonly Hit[]>): Map<string, Hit> {
  const found = new Map<string, Hit>();
  for (const list of lists) {
    for (const hit of list) {
      const known = found.get(hit.id);
      // What each ranking says of a hit is kept; the first word counts.
      if (!known) found.set(hit.id, hit);
      else if (hit.explanation) found.set(hit.id, { ...known, explanation: { ...hit.explanation, ...known.explanation } });
    }
  }
  return found;
}

/** A hit with a new score and, where the question asks for it, how that came about beside what was known before. */
export function withScore(query: Pick<RetrievalQuery, 'explain'>, hit: Hit, score: number, how: Metadata): Hit {
  return query.explain ? { ...hit, score, explanation: { ...hit.explanation, ...how } } : { ...hit, score };
}

const atMostHits = (k: number): number => Math.min(Math.ceil(k), MOST_HITS);

function rankedHits(query: RetrievalQuery, hits: readonly Hit[], kind: 'dense' | 'lexical', how: Metadata): Hit[] {
  return hits.map((hit, at) => {
    const score = kind === 'dense' ? hit.score : boundedScore(hit.score);
    return withScore(query, hit, score, { [`${kind}_rank`]: at + 1, [`${kind}_score`]: hit.score, ...how });
  });
}

const filterOf = ({ filter }: RetrievalQuery) => (filter === undefined ? {} : { filter });
