import { Failure } from '../../../schemas/errors.js';
import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import { type OptionShapes, type OptionValues, readOptions } from '../../config/plugin-options.js';
import type { Metadata } from '../../documents/contract.js';
import { stopWordsOf } from '../../documents/text/stop-words.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery, Retriever } from './contract.js';

/** Every name of a strategy. */
export const STRATEGY_TYPES = [
  'VectorRetriever',
  'HybridRetriever',
  'BM25Retriever',
  'RerankedRetriever',
  'GraphRetriever',
  'ElasticRetriever',
  'BasicSimilarityStrategy',
  'MetadataFilteredStrategy',
  'MultiQueryStrategy',
  'RerankedStrategy',
  'HybridUniversalStrategy',
  'CrossEncoderRerankedStrategy',
  'MultiTurnRAGStrategy',
] as const satisfies readonly RetrievalStrategyType[];

/** Short names that strategies inside a strategy may have. */
const ALIASES: Readonly<Record<string, RetrievalStrategyType>> = {
  basic: 'BasicSimilarityStrategy',
  vector: 'VectorRetriever',
  filtered: 'MetadataFilteredStrategy',
  multi_query: 'MultiQueryStrategy',
  reranked: 'RerankedStrategy',
  bm25: 'BM25Retriever',
  hybrid: 'HybridRetriever',
  graph: 'GraphRetriever',
};

/** The strategy below another one. */
export const BASE_STRATEGY = {
  base_strategy: {
    type: 'string',
    default: 'BasicSimilarityStrategy',
    enum: STRATEGY_TYPES,
    description: 'The strategy that finds the hits to begin with.',
  },
  base_strategy_config: { type: 'object', default: {}, description: 'Its options.' },
} as const;

/** The type of a strategy inside a strategy, which may be given by a short name. Throws `invalid`. */
export function strategyType(name: unknown): RetrievalStrategyType {
  const key = String(name).toLowerCase();
  const found = STRATEGY_TYPES.find((type) => type.toLowerCase() === key) ?? (Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined);
  if (found) return found;
  const known = [...STRATEGY_TYPES, ...Object.keys(ALIASES)].join(', ');
  throw new Failure('invalid', `A strategy inside a strategy has the type ${JSON.stringify(name)?.slice(0, 100)}; known are ${known}.`);
}

/** Most hits of one ranking, whatever multiplies the number that was asked for. */
export const MOST_HITS = 1000;

/** How many hits come out unless the request says so. */
export const TOP_K = { type: 'integer', default: 10, minimum: 1, maximum: MOST_HITS, description: 'Hits that come out.' } as const;

/** A number of hits to begin with, more than come out. */
export function initialK(amount: number) {
  return { type: 'integer', default: amount, minimum: 1, maximum: MOST_HITS, description: 'Hits to begin with.' } as const;
}

/** A retriever that gets its options checked and typed, and whose hits come in order and in number. */
export function defineRetriever<const S extends OptionShapes>(
  type: RetrievalStrategyType,
  size: Retriever['size'],
  options: S,
  retrieve: (query: RetrievalQuery, options: OptionValues<S>, means: RetrievalMeans) => Promise<readonly Hit[]>,
): Retriever {
  return {
    type,
    size,
    options,
    retrieve: async (query, given, means) => bestHits(await retrieve(query, readOptions(type, options, given), means), query.topK),
  };
}

/** The best hits first; equal scores are in the order of their ids, so that an answer is the same each time. */
export function bestHits(hits: readonly Hit[], count: number): Hit[] {
  return hits.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)).slice(0, count);
}

/** Languages whose questions are known by their function words. */
const OTHER_LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl'] as const;
/** Function words of another language that make a question one of it; a single one may be an English word, such as "bin". */
const LEAST_FUNCTION_WORDS = 2;

/** The word in a token: lower case, without the punctuation around it. */
function wordOf(token: string): string {
  return token
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .replaceAll('’', "'")
    .toLowerCase();
}

/** The stop words of the language that a question is in, as far as they tell. */
function stopWordsFor(words: readonly string[]): ReadonlySet<string> {
  let best = stopWordsOf('en');
  let most = Math.max(LEAST_FUNCTION_WORDS - 1, words.filter((word) => best.has(word)).length);
  for (const language of OTHER_LANGUAGES) {
    const list = stopWordsOf(language);
    const count = words.filter((word) => list.has(word)).length;
    if (count > most) [best, most] = [list, count];
  }
  return best;
}

/**
 * A question without its function words, which few texts have in a small collection and which BM25 would therefore take for the rarest.
 * Left as it is with quotation marks in it, or where nothing would remain; what `+` or `-` stands before stays.
 */
export function withoutStopWords(question: string): string {
  if (question.includes('"')) return question;
  const tokens = question.split(/\s+/).filter((token) => token !== '');
  const stopWords = stopWordsFor(tokens.map(wordOf));
  const left = tokens.filter((token) => /^[+-]/.test(token) || !stopWords.has(wordOf(token)));
  return left.length > 0 ? left.join(' ') : question;
}

/** A hit with a new score and, where the question asks for it, how that came about beside what was known before. */
export function withScore(query: Pick<RetrievalQuery, 'explain'>, hit: Hit, score: number, how: Metadata): Hit {
  return query.explain ? { ...hit, score, explanation: { ...hit.explanation, ...how } } : { ...hit, score };
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

/** The vector of one text. */
export async function vectorOf(text: string, means: RetrievalMeans): Promise<Float32Array> {
  const [vector] = await means.embed([text]);
  if (!vector) throw new Failure('model_failed', 'The question got no embedding.', { code: 'BadEmbedding' });
  return vector;
}

const filterOf = ({ filter }: RetrievalQuery) => (filter === undefined ? {} : { filter });

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

/** The ways to compare vectors that a strategy may name; none = the way of the store. */
export const METRIC = {
  type: 'string',
  default: null,
  enum: ['cosine', 'euclidean', 'manhattan', 'dot'],
  description: "How vectors are compared; none = as the store does. Vectors have length 1, so all but 'manhattan' give the store's order.",
} as const;

/** `manhattan` is measured over this many times the hits that come out, since no store orders by it. */
const WIDER = 4;
const MOST_MEASURED = 100;

/** 1 where two unit vectors are the same, 0 where they are as far apart as unit vectors of this many dimensions can be. */
function nearness(a: Float32Array, b: Float32Array): number {
  let distance = 0;
  for (let i = 0; i < a.length; i += 1) distance += Math.abs(a[i]! - b[i]!);
  return 1 - distance / (2 * Math.sqrt(a.length));
}

/** Dense hits by a metric: the store's, or measured anew over the texts of its nearest hits. */
export async function hitsByMetric(query: RetrievalQuery, means: RetrievalMeans, k: number, metric: string | null): Promise<Hit[]> {
  if (metric !== 'manhattan') return denseHits(query, means, k);
  const vector = await vectorOf(query.text, means);
  const hits = await denseHits(query, means, Math.max(k, Math.min(MOST_MEASURED, k * WIDER)), vector);
  if (hits.length === 0) return [];
  const vectors = await means.embed(
    hits.map((hit) => hit.text),
    'document',
  );
  return hits.map((hit, at) => {
    const score = nearness(vector, vectors[at]!);
    return withScore(query, hit, score, { manhattan_score: score });
  });
}
