import type { ExtractorType } from '../../../schemas/generated/config/rag.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor, type Extracted, type Extractor } from './contract.js';
import { rakeCandidates, textrankCandidates, tfidfCandidates, yakeCandidates } from './keywords/algorithms.js';
import { type Candidate, type Choice, chooseKeywords, type Fragments, fragmentsOf, type Keyword } from './keywords/phrases.js';

const COMMON = {
  max_keywords: { type: 'integer', default: 10, minimum: 1, maximum: 100, description: 'Keywords in the answer.' },
  min_length: { type: 'integer', default: 1, minimum: 1, maximum: 10, description: 'Least words of a phrase.' },
  max_length: { type: 'integer', default: 4, minimum: 1, maximum: 10, description: 'Most words of a phrase.' },
  min_frequency: { type: 'integer', default: 1, minimum: 1, maximum: 1000, description: 'Least occurrences of a phrase.' },
  stop_words: {
    type: 'array',
    default: [],
    items: { type: 'string' },
    maxItems: 10_000,
    description: 'Stop words besides the own.',
    examples: [['figure', 'page']],
  },
  language: { type: 'string', default: 'en', description: 'Whose stop words apply: en, de, fr, es, it, pt, nl; others have none.' },
  deduplication_threshold: { type: 'number', default: 0.9, minimum: 0, maximum: 1, description: 'Phrases more alike than this are one.' },
} as const satisfies OptionShapes;
const GRAMS = {
  ...COMMON,
  max_ngram_size: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: 'Most words of a phrase, of yake and tfidf.' },
} as const satisfies OptionShapes;

/** Finds phrases of `least` to `most` words. `grams` = it looks at every stretch of words, so `max_ngram_size` bounds it too. */
interface Algorithm {
  readonly find: (fragments: Fragments, least: number, most: number) => Candidate[];
  readonly grams: boolean;
  readonly lowFirst: boolean;
}

const ALGORITHMS = {
  rake: { find: rakeCandidates, grams: false, lowFirst: false },
  yake: { find: yakeCandidates, grams: true, lowFirst: true },
  tfidf: { find: tfidfCandidates, grams: true, lowFirst: false },
  textrank: { find: textrankCandidates, grams: false, lowFirst: false },
} as const satisfies Record<string, Algorithm>;
type AlgorithmName = keyof typeof ALGORITHMS;

interface Options extends Choice {
  readonly min_length: number;
  readonly max_length: number;
  readonly stop_words: readonly string[];
  readonly language: string;
  readonly max_ngram_size?: number;
}

/** The keywords of a text by one algorithm, the best first. */
export function keywordsOf(text: string, algorithm: AlgorithmName, options: Options): Keyword[] {
  const { find, grams, lowFirst } = ALGORITHMS[algorithm];
  const most = Math.min(options.max_length, grams ? (options.max_ngram_size ?? options.max_length) : options.max_length);
  return chooseKeywords(find(fragmentsOf(text, options.language, options.stop_words), options.min_length, most), options, lowFirst);
}

function keywordOutput(algorithm: AlgorithmName, keywords: readonly Keyword[]): Extracted {
  const key = `${algorithm}_keywords`;
  return { output: { [key]: keywords }, flat: { [key]: keywords.map((one) => one.phrase) } };
}

/** An extractor of one algorithm; it does not take options that cannot act on it. */
function extractorOfAlgorithm(type: ExtractorType, algorithm: AlgorithmName, shapes: typeof COMMON | typeof GRAMS): Extractor {
  return defineExtractor(type, shapes, (text, options) => keywordOutput(algorithm, keywordsOf(text, algorithm, options)));
}

/** Keywords by the algorithm that the options name. */
export const keyword = defineExtractor(
  'KeywordExtractor',
  {
    algorithm: { type: 'string', default: 'rake', enum: ['rake', 'yake', 'tfidf', 'textrank'], description: 'How phrases are scored.' },
    ...GRAMS,
  },
  (text, options) => keywordOutput(options.algorithm, keywordsOf(text, options.algorithm, options)),
);

/** Keywords by RAKE. */
export const rakeKeyword = extractorOfAlgorithm('RAKEExtractor', 'rake', COMMON);
/** Keywords by YAKE; a low score is a good one. */
export const yakeKeyword = extractorOfAlgorithm('YAKEExtractor', 'yake', GRAMS);
/** Keywords by TF-IDF over the sentences of the text. */
export const tfidfKeyword = extractorOfAlgorithm('TFIDFExtractor', 'tfidf', GRAMS);
