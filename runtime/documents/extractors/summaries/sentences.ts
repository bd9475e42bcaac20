import { sentencesOf } from '../../text/sentences.js';
import { stopWordsOf } from '../../text/stop-words.js';
import { type Span, wordsOf } from '../../text/words.js';

/** Sentences that are compared with each other, at a cost of their number squared; of more, evenly spread ones stand for all. */
export const COMPARED_SENTENCES = 300;
/** Words of a sentence that count. */
const SENTENCE_WORDS = 200;
const WORD_UNITS = 64;

/** A sentence that may go into a summary. */
export interface Sentence extends Span {
  /** All its words in lower case. */
  readonly words: readonly string[];
  /** Its words that are no stop words, with how often they occur. */
  readonly terms: ReadonlyMap<string, number>;
}

/** Scores sentences, the higher the better. `wanted` is how many the summary takes. */
export type Ranking = (sentences: readonly Sentence[], wanted: number) => ArrayLike<number>;

function describe(span: Span, stops: ReadonlySet<string>): Sentence {
  const words = wordsOf(span.text)
    .slice(0, SENTENCE_WORDS)
    .map((word) => word.text.slice(0, WORD_UNITS).toLowerCase());
  const terms = new Map<string, number>();
  for (const word of words) if (!stops.has(word)) terms.set(word, (terms.get(word) ?? 0) + 1);
  return { ...span, words, terms };
}

/** The sentences of `least` to `most` code units that a summary is picked from, in the order of the text, and how many the text has in all. */
export function pickable(text: string, least: number, most: number): { sentences: Sentence[]; total: number } {
  const all = sentencesOf(text);
  const fitting = all.filter((one) => one.text.length >= least && one.text.length <= most);
  const step = Math.max(1, fitting.length / COMPARED_SENTENCES);
  const count = Math.min(fitting.length, COMPARED_SENTENCES);
  const stops = stopWordsOf('en');
  const sentences = Array.from({ length: count }, (_, index) => describe(fitting[Math.floor(index * step)]!, stops));
  return { sentences, total: all.length };
}
