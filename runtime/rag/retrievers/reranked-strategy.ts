import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import { defineRetriever, initialK, TOP_K } from './define-retriever.js';
import { withScore } from './hits.js';
import { hitsByMetric, METRIC } from './vector-metric.js';

const DAY_MS = 86_400_000;
const STEPS: readonly (readonly [days: number, score: number])[] = [
  [1, 1],
  [7, 0.8],
  [30, 0.5],
  [90, 0.2],
];
/** Where the age of a document stands, the surest first: when it was written, then when it came in. */
const DATE_KEYS = [
  'date', 'published_at', 'published', 'updated_at', 'last_updated', 'modified_at', 'last_modified', 'file_modified', 'modified', 'created_at',
  'created', 'timestamp', 'processing_timestamp', 'processing_date', 'ingestion_timestamp', 'ingested_at',
]; // biome-ignore format: a list of words
const PRIORITIES: Readonly<Record<string, number>> = { critical: 0.5, high: 0.3, medium: 0.1 };
const TYPES: Readonly<Record<string, number>> = { faq: 0.3, docs: 0.2, documentation: 0.2, policy: 0.1 };
const FEATURED = 0.15;
const TRUSTED = 0.1;
/** Views count by their power of ten, divided by this. */
const VIEWS_POWER = 4;
const MOST_OF_VIEWS = 0.2;

/** A time in milliseconds: ISO text, or seconds or milliseconds since 1970. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.abs(value) < 1e11 ? value * 1000 : value;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** How new a document is: 1.0 up to a day, 0.8 a week, 0.5 thirty days, 0.2 ninety days, else 0. */
export function recencyOf(metadata: Metadata, nowMs: number): number {
  for (const key of DATE_KEYS) {
    const time = timeOf(metadata[key]);
    if (time === undefined) continue;
    return STEPS.find(([days]) => nowMs - time <= days * DAY_MS)?.[1] ?? 0;
  }
  return 0;
}

/** How long a text is, 1 from `normalisation` code units on. */
export function lengthOf(text: string, normalisation: number): number {
  return Math.min(1, text.length / normalisation);
}

const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');
const yes = (value: unknown): boolean => value === true || word(value) === 'true';

/** What a document's own words about itself are worth, 0 to 1: priority, type, category, verified, expert, views. */
export function boostOf(metadata: Metadata): number {
  const views = Number(metadata.views ?? metadata.view_count ?? 0);
  const boost =
    (PRIORITIES[word(metadata.priority)] ?? 0) +
    (TYPES[word(metadata.type ?? metadata.doc_type)] ?? 0) +
    (word(metadata.category) === 'featured' ? FEATURED : 0) +
    (yes(metadata.verified) ? TRUSTED : 0) +
    (yes(metadata.expert) ? TRUSTED : 0) +
    (views >= 1 ? Math.min(MOST_OF_VIEWS, Math.log10(views) / VIEWS_POWER) : 0);
  return Math.min(1, boost);
}

/** Shares of the parts of a score. */
interface Factors {
  readonly similarity: number;
  readonly recency: number;
  readonly length: number;
  readonly metadata: number;
}

const DEFAULTS: Factors = { similarity: 0.7, recency: 0.1, length: 0.1, metadata: 0.1 };

/** The configured factors over the defaults; `metadata_boost` is the older name of `metadata`. */
export function factorsOf(configured: Metadata): Factors {
  const given: Metadata = { metadata: configured.metadata_boost, ...configured };
  const read = (name: keyof Factors): number => {
    const value = given[name];
    return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : DEFAULTS[name];
  };
  return { similarity: read('similarity'), recency: read('recency'), length: read('length'), metadata: read('metadata') };
}

/** The parts of a hit's new score, and the score: their mean by the factors, so that it stays in 0..1. */
export function factored(hit: Hit, factors: Factors, normalisation: number, nowMs: number): { score: number; parts: Metadata } {
  const parts = {
    similarity: hit.score,
    recency: recencyOf(hit.metadata, nowMs),
    length: lengthOf(hit.text, normalisation),
    metadata: boostOf(hit.metadata),
  };
  const total = factors.similarity + factors.recency + factors.length + factors.metadata;
  const sum = (Object.keys(parts) as (keyof Factors)[]).reduce((all, name) => all + factors[name] * parts[name], 0);
  return { score: total > 0 ? sum / total : 0, parts };
}

const OPTIONS = {
  initial_k: initialK(30),
  final_k: TOP_K,
  rerank_factors: { type: 'object', default: {}, description: 'Shares of similarity 0.7, recency 0.1, length 0.1 and metadata 0.1.' },
  length_normalization: { type: 'number', default: 1000, minimum: 1, maximum: 1_000_000, description: 'Code units that count as long.' },
  distance_metric: METRIC,
} as const;

/** The nearest chunks, put in order by what else is known of them: age, length, and what their metadata says. */
export const reranked = defineRetriever('RerankedStrategy', 'final_k', OPTIONS, async (query, options, means) => {
  const hits = await hitsByMetric(query, means, Math.max(options.initial_k, query.topK), options.distance_metric);
  const factors = factorsOf(options.rerank_factors);
  const nowMs = Date.now();
  return hits.map((hit) => {
    const { score, parts } = factored(hit, factors, options.length_normalization, nowMs);
    return withScore(query, hit, score, { rerank_score: score, rerank_parts: parts });
  });
});
