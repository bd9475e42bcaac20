import type { OptionValues } from '../../config/plugin-options.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { likeness, maximum, wordSet } from './fusion.js';
import { bestHits, hitsById, withScore } from './hits.js';
import { questionsByModel } from './rewrites.js';
import { BASE_STRATEGY, STRATEGY_TYPES } from './strategy-types.js';

/** When a question is taken apart. */
interface SplitRules {
  /** Code units from which a question may be one of several. */
  readonly complexity: number;
  /** Shorter questions are never taken apart, and shorter parts stay with what stands before them. */
  readonly least: number;
  readonly most: number;
}

const CONJUNCTION = /\b(?:and|also|additionally|furthermore|moreover)\b/i;
const BORDER = /\?+\s+|\?+$|[;.]\s+|,?\s+(?:and(?:\s+also)?|also|additionally|furthermore|moreover)\b,?\s+/giu;
const QUESTION_WORD =
  /^(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|compare|explain|describe|list|tell)\b/i;

/** Whether a question asks for more than one thing: long, with a word that adds something, or several question marks. */
export function isComplex(text: string, rules: SplitRules): boolean {
  if (text.length < rules.least) return false;
  const marks = text.split('?').length - 1;
  return text.length > rules.complexity && (CONJUNCTION.test(text) || marks > 1);
}

/**
 * The parts of a question by its marks and conjunctions. What is too short to stand alone, and is no question of its own, stays with the
 * part before it. The question itself where there is nothing to take apart; at most `most`, the rest joined to the last.
 */
export function splitOf(text: string, rules: SplitRules): string[] {
  const parts: string[] = [];
  let from = 0;
  const push = (until: number): void => {
    const part = text.slice(from, until).trim();
    if (part !== '') parts.push(part);
  };
  for (const border of text.matchAll(BORDER)) {
    const next = text.slice(border.index + border[0].length).trimStart();
    const length = border.index - from;
    const apart = border[0].includes('?') || /^[;.]/.test(border[0]) || QUESTION_WORD.test(next);
    if (!apart || (length < rules.least && !border[0].includes('?')) || parts.length + 1 >= rules.most) continue;
    push(border.index + (border[0].match(/^\?+/)?.[0].length ?? 0));
    from = border.index + border[0].length;
  }
  push(text.length);
  return parts.length > 0 ? parts : [text];
}

/** Does the work for every item, at most `width` at a time; the results are in the order of the items. The first failure ends it. */
async function forEach<Item, Result>(items: readonly Item[], width: number, work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next;
      next += 1;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}

const OPTIONS = {
  model_name: {
    type: 'string',
    default: null,
    description: 'A chat model of the project that takes questions apart; none = rules.',
    examples: ['default'],
  },
  max_sub_queries: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: 'Most parts of a question.' },
  complexity_threshold: {
    type: 'integer',
    default: 50,
    minimum: 1,
    maximum: 10_000,
    description: 'Code units beyond which a question may be several.',
  },
  min_query_length: { type: 'integer', default: 20, minimum: 1, maximum: 1000, description: 'Shorter questions and parts stay whole.' },
  sub_query_top_k: { type: 'integer', default: 10, minimum: 1, maximum: 100, description: 'Hits of each part.' },
  final_top_k: TOP_K,
  enable_reranking: { type: 'boolean', default: false, description: 'Each part goes through the reranking strategy.' },
  reranker_strategy: { type: 'string', default: 'CrossEncoderRerankedStrategy', enum: STRATEGY_TYPES, description: 'That strategy.' },
  reranker_config: { type: 'object', default: {}, description: 'Its options.' },
  dedup_similarity_threshold: {
    type: 'number',
    default: 0.95,
    minimum: 0,
    maximum: 1,
    description: 'Share of common words from which two hits are the same.',
  },
  max_workers: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: 'Parts that are asked at the same time.' },
  ...BASE_STRATEGY,
} as const;

type Options = OptionValues<typeof OPTIONS>;

function prompt(text: string, count: number): string {
  return `Split the question below into at most ${count} search queries. Each must make sense alone, in the language of the question. One per line, nothing else.\n\nQuestion: ${text}`;
}

async function partsOf(query: RetrievalQuery, options: Options, means: RetrievalMeans): Promise<string[]> {
  const rules: SplitRules = { complexity: options.complexity_threshold, least: options.min_query_length, most: options.max_sub_queries };
  if (rules.most < 2 || !isComplex(query.text, rules)) return [query.text];
  const { model_name: model } = options;
  const written = model === null ? [] : await questionsByModel(model, prompt(query.text, rules.most), rules.most, means, query.signal);
  return written.length > 0 ? written : splitOf(query.text, rules);
}

/** The hits without those whose words are nearly those of a better one. */
function withoutCopies(hits: readonly Hit[], threshold: number, count: number): Hit[] {
  const kept: { hit: Hit; words: Set<string> }[] = [];
  for (const hit of bestHits(hits, hits.length)) {
    if (kept.length === count) break;
    const words = wordSet(hit.text);
    if (kept.every((one) => likeness(one.words, words) < threshold)) kept.push({ hit, words });
  }
  return kept.map((one) => one.hit);
}

/** Takes a question that asks for several things apart, asks each part, and puts what they find together. */
export const multiTurn = defineRetriever('MultiTurnRAGStrategy', 'final_top_k', OPTIONS, async (query, options, means) => {
  const parts = await partsOf(query, options, means);
  const base = { base_strategy: options.base_strategy, base_strategy_config: options.base_strategy_config };
  const [type, config] = options.enable_reranking
    ? [options.reranker_strategy, { ...base, ...options.reranker_config }]
    : [options.base_strategy, options.base_strategy_config];
  if (parts.length === 1) return means.retrieve(type, config, { ...query, text: parts[0]! });
  const lists = await forEach(parts, options.max_workers, (text) =>
    means.retrieve(type, config, { ...query, text, topK: options.sub_query_top_k }),
  );
  const scores = maximum(lists);
  const found = (id: string): string[] => parts.filter((_part, at) => lists[at]!.some((hit) => hit.id === id));
  const hits = [...hitsById(lists).values()].map((hit) => {
    const sources = found(hit.id);
    return withScore(query, { ...hit, metadata: { ...hit.metadata, sub_queries: sources } }, scores.get(hit.id)!, {
      fused_score: scores.get(hit.id)!,
      sub_queries: parts,
    });
  });
  return withoutCopies(hits, options.dedup_similarity_threshold, query.topK);
});
