import type { OptionValues } from '../../config/plugin-options.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { best, defineRetriever, TOP_K } from './define.js';
import { byId, scored } from './explain.js';
import { maximum } from './fusion/fuse.js';
import { likeness, wordSet } from './likeness.js';
import { BASE, STRATEGY_TYPES } from './nested.js';
import { forEach } from './turns/each.js';
import { isComplex, type SplitRules, splitOf } from './turns/split.js';
import { writtenBy } from './variants/written.js';

const OPTIONS = {
  model_name: { type: 'string', default: null, description: 'A chat model of the project that takes questions apart; none = rules.' },
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
  ...BASE,
} as const;

type Options = OptionValues<typeof OPTIONS>;

function prompt(text: string, count: number): string {
  return `Split the question below into at most ${count} search queries. Each must make sense alone, in the language of the question. One per line, nothing else.\n\nQuestion: ${text}`;
}

async function partsOf(query: RetrievalQuery, options: Options, means: RetrievalMeans): Promise<string[]> {
  const rules: SplitRules = { complexity: options.complexity_threshold, least: options.min_query_length, most: options.max_sub_queries };
  if (rules.most < 2 || !isComplex(query.text, rules)) return [query.text];
  const { model_name: model } = options;
  const written = model === null ? [] : await writtenBy(model, prompt(query.text, rules.most), rules.most, means, query.signal);
  return written.length > 0 ? written : splitOf(query.text, rules);
}

/** The hits without those whose words are nearly those of a better one. */
function withoutCopies(hits: readonly Hit[], threshold: number, count: number): Hit[] {
  const kept: { hit: Hit; words: Set<string> }[] = [];
  for (const hit of best(hits, hits.length)) {
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
  const hits = [...byId(lists).values()].map((hit) => {
    const sources = found(hit.id);
    return scored(query, { ...hit, metadata: { ...hit.metadata, sub_queries: sources } }, scores.get(hit.id)!, {
      fused_score: scores.get(hit.id)!,
      sub_queries: parts,
    });
  });
  return withoutCopies(hits, options.dedup_similarity_threshold, query.topK);
});
