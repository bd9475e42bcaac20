import { blank } from '../../chunking/units.js';
import { knownWordsOf } from '../../text/known-words.js';
import { sentencesOf } from '../../text/sentences.js';
import { stopWordsOf } from '../../text/stop-words.js';
import { wordsOf } from '../../text/words.js';

/** Words of a text that keyword extraction looks at; chunks hold far fewer. */
export const KEYWORD_WORDS = 50_000;
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
  for (let at = start; at < end; at += 1) if (!blank(text.charCodeAt(at))) return false;
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
  const known = knownWordsOf(text);
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
