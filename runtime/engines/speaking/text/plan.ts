import type { Phrase } from '../../contracts/speaking.js';
import { symbolsHere } from './context.js';
import { withoutMarkdown } from './markdown.js';
import { readText } from './read.js';
import type { Accent } from './sounds.js';
import type { Mark, Token } from './token.js';

/** Words of the first phrase, so that it is heard soon. */
const FIRST_WORDS = 8;
/** Fewer words than this are no phrase of their own where more follow. */
const LEAST_WORDS = 3;
/** A phrase takes the next sentence too while it has fewer words than this. */
const SHORT_WORDS = 10;
/** Words of a phrase; a longer sentence is cut at its last comma, else here. */
const MOST_WORDS = 36;
/** Where a phrase without marks is best cut: before these. */
const JOINTS = new Set(
  'and or but that which who because so if when while where than then to of in on at for with from by as into about after before over under is are was were'.split(
    ' ',
  ),
);
/** Silence after a phrase, in seconds at speed 1. */
const PAUSES: Readonly<Record<Mark, number>> = {
  '': 0.02,
  ',': 0.12,
  ';': 0.18,
  ':': 0.18,
  '—': 0.15,
  '…': 0.3,
  '.': 0.3,
  '!': 0.3,
  '?': 0.3,
};

const ENDS = /[.!?…]/;

/** Tokens that are spoken together. */
export type TokenPhrase = readonly Token[];

/** Silence after a phrase, in seconds at speed 1. */
export const pauseAfter = (tokens: TokenPhrase): number => PAUSES[tokens.at(-1)?.mark ?? ''];

/** Cuts tokens into phrases: the first has at most eight words, the others are sentences, or several short ones. */
export function phrasesOf(tokens: TokenPhrase): TokenPhrase[] {
  const spoken = withMarks(tokens);
  const phrases: Token[][] = [];
  for (let at = 0; at < spoken.length; ) {
    const end = phrases.length === 0 ? firstEnd(spoken) : nextEnd(spoken, at);
    phrases.push(spoken.slice(at, end));
    at = end;
  }
  return phrases;
}

/** Tokens that say something; the mark of one that says nothing goes to the one before. */
function withMarks(tokens: TokenPhrase): Token[] {
  const spoken: Token[] = [];
  for (const token of tokens) {
    const last = spoken.at(-1);
    if (token.words.length > 0) spoken.push(...inPieces(token));
    else if (last && last.mark === '' && token.mark !== '') spoken.push({ ...spoken.pop()!, mark: token.mark });
  }
  return spoken;
}

/** A token of very many words, such as a long number, as several. */
function inPieces(token: Token): Token[] {
  const count = Math.ceil(token.words.length / MOST_WORDS);
  if (count === 1) return [token];
  const letters = Math.ceil(token.source.length / count);
  return Array.from({ length: count }, (_, index) => ({
    source: token.source.slice(index * letters, (index + 1) * letters),
    words: token.words.slice(index * MOST_WORDS, (index + 1) * MOST_WORDS),
    mark: index === count - 1 ? token.mark : '',
  }));
}

function firstEnd(tokens: readonly Token[]): number {
  let words = 0;
  let cut = 0;
  for (const [index, token] of tokens.entries()) {
    words += token.words.length;
    // One token may have more words than a phrase should.
    if (words > FIRST_WORDS) return Math.max(1, cut > 0 ? cut : index);
    if (token.mark !== '' && (words >= LEAST_WORDS || ENDS.test(token.mark))) return index + 1;
    if (words >= LEAST_WORDS && JOINTS.has(tokens[index + 1]?.words[0] ?? '')) cut = index + 1;
  }
  return tokens.length;
}

function nextEnd(tokens: readonly Token[], from: number): number {
  let words = 0;
  let cut = 0;
  let joint = 0;
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index]!;
    words += token.words.length;
    if (words > MOST_WORDS && index > from) return cut || joint || index;
    if (words * 2 > MOST_WORDS && JOINTS.has(tokens[index + 1]?.words[0] ?? '')) joint = index + 1;
    if (token.mark === '') continue;
    if (ENDS.test(token.mark) && words >= SHORT_WORDS) return index + 1;
    cut = index + 1;
  }
  return tokens.length;
}

/** The phrases of a text for an engine that reads plain English. */
export function planWords(text: string): Phrase[] {
  return phrasesOf(readText(text)).map((tokens) => ({
    text: tokens.map(({ source }) => source).join(' '),
    script: tokens.map(({ words, mark }) => words.join(' ') + (mark === '…' || mark === '—' ? ',' : mark)).join(' '),
    words: tokens.map(({ source, words }) => ({ word: source, length: words.join('').length })),
    pause: pauseAfter(tokens),
  }));
}

/** Marks of other scripts, as the marks that a voice makes audible. */
const OTHER_MARKS: Readonly<Record<string, Mark>> = {
  '。': '.',
  '．': '.',
  '！': '!',
  '？': '?',
  '，': ',',
  '、': ',',
  '；': ';',
  '：': ':',
  '؟': '?',
  '،': ',',
  '।': '.',
};
/** Characters of a stretch of text without spaces that count as a word. */
const WORD_CHARACTERS = /.{1,60}/gu;

/** The phrases of a text in any language, for an engine that reads it as it is. */
export function planText(text: string): Phrase[] {
  const parts = withoutMarkdown(text)
    .replace(/([。．！？，、；：।])/g, '$1 ')
    .split(/\s+/)
    .flatMap((part) => part.match(WORD_CHARACTERS) ?? []);
  const tokens = parts.map((source): Token => {
    const last = source.at(-1)!;
    const mark = OTHER_MARKS[last] ?? (/[,;:.!?…—]/.test(last) ? (last as Mark) : '');
    return { source, words: /[\p{L}\p{N}]/u.test(source) ? [source] : [], mark };
  });
  return phrasesOf(tokens).map((phrase) => {
    const script = phrase.map(({ source }) => source).join(' ');
    return {
      text: script,
      script,
      words: phrase.map(({ source }) => ({ word: source, length: source.length })),
      pause: pauseAfter(phrase),
    };
  });
}

/** The phrases of a text for an engine that reads symbols of sounds; none has more than `most` of them, where a phrase has more than one token. */
export function planSounds(text: string, accent: Accent, most: number): Phrase[] {
  return phrasesOf(readText(text)).flatMap((tokens) => withinLimit(tokens, accent, most));
}

function withinLimit(tokens: TokenPhrase, accent: Accent, most: number): Phrase[] {
  const phrase = sounded(tokens, accent);
  if (phrase.script.length <= most || tokens.length === 1) return [phrase];
  const half = Math.ceil(tokens.length / 2);
  return [...withinLimit(tokens.slice(0, half), accent, most), ...withinLimit(tokens.slice(half), accent, most)];
}

function sounded(tokens: TokenPhrase, accent: Accent): Phrase {
  const words = tokens.flatMap(({ words, mark }, index) =>
    words.map((word, nth) => ({ word, index, mark: nth === words.length - 1 ? mark : '' })),
  );
  const lengths = new Array<number>(tokens.length).fill(0);
  let script = '';
  for (const [at, { word, index, mark }] of words.entries()) {
    const before = words[at - 1];
    const symbols = symbolsHere(word, before?.mark === '' ? before.word : '', mark === '' ? (words[at + 1]?.word ?? '') : '', accent);
    const part = symbols + mark + (at === words.length - 1 ? '' : ' ');
    script += part;
    lengths[index]! += [...part].length;
  }
  return {
    text: tokens.map(({ source }) => source).join(' '),
    script,
    words: tokens.map(({ source }, index) => ({ word: source, length: lengths[index]! })),
    pause: pauseAfter(tokens),
  };
}
