// What retrievers ask of the store: the dense and the lexical hits of a question, with scores from 0 to 1.

import { Failure } from '../../../schemas/errors.js';
import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { MOST_HITS } from './define-retriever.js';
import { withScore } from './hits.js';
import { withoutStopWords } from './question-stop-words.js';

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

const atMostHits = (k: number): number => Math.min(Math.ceil(k), MOST_HITS);

function rankedHits(query: RetrievalQuery, hits: readonly Hit[], kind: 'dense' | 'lexical', how: Metadata): Hit[] {
  return hits.map((hit, at) => {
    const score = kind === 'dense' ? hit.score : boundedScore(hit.score);
    return withScore(query, hit, score, { [`${kind}_rank`]: at + 1, [`${kind}_score`]: hit.score, ...how });
  });
}

const filterOf = ({ filter }: RetrievalQuery) => (filter === undefined ? {} : { filter });
