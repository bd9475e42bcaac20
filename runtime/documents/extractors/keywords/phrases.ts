import { isBlankUnit } from '../../chunking/units.js';
import { wordFactsOf } from '../../text/known-words.js';
import { sentencesOf } from '../../text/sentences.js';
import { stopWordsOf } from '../../text/stop-words.js';
import { wordsOf } from '../../text/words.js';

/** Words of a text that keyword extraction looks at; chunks hold far fewer. */
const KEYWORD_WORDS = 50_000;
/** Longest word that can be a keyword. */
const WORD_UNITS = 64;

/** A word of a text where keywords are looked for. */
export interface Token {
  readonly text: string;
  readonly lower: string;
  /** Index of its sentence. */
  readonly sentence: number;
  readonly opensSentence: boolean;
  /** Carries no topic: a stop word, or without a letter. */
  readonly stop: boolean;
}

/** Words of one sentence that follow each other with nothing but space between. */
export type Fragment = readonly Token[];

/** What keywords are made of. */
export interface Fragments {
  readonly fragments: readonly Fragment[];
  readonly sentences: number;
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isBlankUnit(text.charCodeAt(at))) return false;
  return true;
}

/** Cuts a text at sentence ends, marks and overlong words. `extra` are stop words besides those of the language, in any case. */
export function fragmentsOf(text: string, language: string, extra: readonly string[] = []): Fragments {
  const stopWords = stopWordsOf(language);
  const more = new Set(extra.map((word) => word.toLowerCase()));
  const sentences = sentencesOf(text);
  const fragments: Token[][] = [];
  let sentence = 0;
  let opens = true;
  let end = -1;
  const words = wordsOf(text);
  const known = wordFactsOf(text);
  for (let at = 0; at < Math.min(words.length, KEYWORD_WORDS); at += 1) {
    const word = words[at]!;
    while (sentence < sentences.length - 1 && word.start >= sentences[sentence]!.end) {
      sentence += 1;
      opens = true;
      end = -1;
    }
    if (word.text.length > WORD_UNITS) {
      end = -1;
      continue;
    }
    if (end < 0 || !isBlank(text, end, word.start)) fragments.push([]);
    const { lower, hasLetter } = known[at]!;
    const stop = !hasLetter || stopWords.has(lower.includes('’') ? lower.replaceAll('’', "'") : lower) || more.has(lower);
    fragments.at(-1)!.push({ text: word.text, lower, sentence, opensSentence: opens, stop });
    opens = false;
    end = word.end;
  }
  return { fragments, sentences: sentences.length };
}

/** Runs of words that `kept` takes, each as long as it gets. */
export function* runsOf(fragments: readonly Fragment[], kept: (token: Token) => boolean): Generator<Fragment> {
  for (const fragment of fragments) {
    let run: Token[] = [];
    for (const token of fragment) {
      if (kept(token)) run.push(token);
      else if (run.length > 0) {
        yield run;
        run = [];
      }
    }
    if (run.length > 0) yield run;
  }
}

/** Every stretch of `least` to `most` words inside the fragments. */
export function* gramsOf(fragments: Iterable<Fragment>, least: number, most: number): Generator<Fragment> {
  for (const fragment of fragments) {
    for (let start = 0; start < fragment.length; start += 1) {
      for (let size = least; size <= most && start + size <= fragment.length; size += 1) yield fragment.slice(start, start + size);
    }
  }
}

/** How a phrase is written in the answer, and what makes two phrases the same. */
export function phraseOf(tokens: Fragment): string {
  return tokens.map((token) => token.lower).join(' ');
}

/** A phrase with its score. */
export interface Keyword {
  readonly phrase: string;
  readonly score: number;
}

/** A phrase that may become a keyword. */
export interface Candidate extends Keyword {
  /** How often the text has it. */
  readonly count: number;
}

/** What decides among candidates. */
export interface Choice {
  readonly max_keywords: number;
  readonly min_frequency: number;
  readonly deduplication_threshold: number;
}

/** The best candidates that are looked at; comparing them costs the square of their lengths. */
const CONSIDERED = 500;
/** Longest phrase. */
const PHRASE_UNITS = 128;
const DECIMALS = 1e6;

/** Likeness of two texts from 0 to 1: one less Levenshtein's distance over the longer length. */
export function likeness(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 1;
  let above = Uint16Array.from({ length: b.length + 1 }, (_, column) => column);
  let row = new Uint16Array(b.length + 1);
  for (let i = 1; i <= a.length; i += 1) {
    row[0] = i;
    const letter = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = above[j - 1]! + (letter === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(replaced, above[j]! + 1, row[j - 1]! + 1);
    }
    [above, row] = [row, above];
  }
  return 1 - above[b.length]! / longer;
}

function isRepeat(phrase: string, chosen: readonly Keyword[], threshold: number): boolean {
  return chosen.some((one) => {
    const shorter = Math.min(phrase.length, one.phrase.length);
    const longer = Math.max(phrase.length, one.phrase.length);
    return shorter / longer > threshold && likeness(phrase, one.phrase) > threshold;
  });
}

/** The best candidates without those too like a better one; equal scores keep the order of the text. `lowFirst` where low is good. */
export function chooseKeywords(candidates: Iterable<Candidate>, choice: Choice, lowFirst = false): Keyword[] {
  const sorted = [...candidates]
    .filter((one) => one.count >= choice.min_frequency && one.phrase.length <= PHRASE_UNITS)
    .sort((a, b) => (lowFirst ? a.score - b.score : b.score - a.score))
    .slice(0, CONSIDERED);
  const chosen: Keyword[] = [];
  for (const { phrase, score } of sorted) {
    if (chosen.length === choice.max_keywords) break;
    if (isRepeat(phrase, chosen, choice.deduplication_threshold)) continue;
    chosen.push({ phrase, score: Math.round(score * DECIMALS) / DECIMALS });
  }
  return chosen;
}
