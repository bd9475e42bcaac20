import { rememberLatest } from '../../base/once.js';
import type { Span } from './words.js';

/** Words that end with a full stop without ending a sentence. */
const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof rev hon st sr jr gen col maj capt lt sgt gov sen rep pres mt vs cf viz al approx dept est fig figs no nos op vol ' +
    'ed eds pp inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun e.g i.e a.m p.m u.s u.k ' +
    'bzw ca evtl ggf nr str usw vgl z.b d.h u.a'
  ).split(' '),
);
/** Abbreviations that often do end a sentence: a capital behind them starts the next one. */
const FINAL = new Set(['inc', 'ltd', 'co', 'corp', 'bros', 'a.m', 'p.m', 'u.s', 'u.k', 'usw', 'jr', 'sr', 'al']);
const LONGEST_ABBREVIATION = 8;

// A stop with its closing marks, a blank line, or a line that starts something of its own: heading, list item, table row, quote.
// Quantifiers over blanks are bounded: the pattern is tried at every line.
const BREAK =
  /[.!?…]{1,16}["'”’»)\]*_]{0,4}(?=\s|$)|[。！？｡]{1,16}[」』”’）]{0,4}|\r?\n[ \t]{0,64}(?:(?=\r?\n)|(?=(?:[-*•+>|#]|\d{1,3}[.)])[ \t|#]))/gu;
const WIDE = /[。！？｡]/;
const NEXT = /\s*["'“‘«([*_]*(\S)?/uy;
const LOWER = /^\p{Ll}$/u;
const HEADING = /[ \t]{0,3}#{1,6}[ \t]/y;

/** The run of letters and inner stops right before `end`, at most one longer than any abbreviation. */
function tokenBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start <= LONGEST_ABBREVIATION && /[\p{L}\p{N}.]/u.test(text[start - 1]!)) start -= 1;
  return text.slice(start, end);
}

/** Whether a stop at `start` to `end` ends the sentence that began at `from`. */
function endsSentence(text: string, from: number, start: number, end: number): boolean {
  if (WIDE.test(text[start]!)) return true;
  NEXT.lastIndex = end;
  const next = NEXT.exec(text)?.[1];
  if (next === undefined) return true;
  if (LOWER.test(next)) return false;
  if (text[start] !== '.' || text[start + 1] === '.') return true;
  const token = tokenBefore(text, start);
  if (token.length > LONGEST_ABBREVIATION) return true;
  // "1." that opens a list item, and an initial as in "J. Smith".
  if (/^\d{1,3}$/.test(token) && text.slice(from, start).trim() === token) return false;
  if (/^\p{Lu}$/u.test(token) && token !== 'I') return false;
  const word = token.toLowerCase();
  return FINAL.has(word) || !ABBREVIATIONS.has(word);
}

function pushTrimmed(text: string, start: number, end: number, into: Span[]): void {
  const raw = text.slice(start, end);
  const trimmed = raw.trim();
  if (trimmed === '') return;
  const from = start + raw.length - raw.trimStart().length;
  into.push({ text: trimmed, start: from, end: from + trimmed.length });
}

/**
 * The sentences of a text in order, without the space around them. A sentence ends at a stop (not at abbreviations, initials and
 * numbers), at a blank line, and before and after a line that is a heading, list item, table row or quote. Linear.
 */
export const sentencesOf = rememberLatest((text: string): readonly Span[] => {
  const found: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(BREAK)) {
    const line = match[0].includes('\n');
    const end = match.index + match[0].length;
    if (!line && !endsSentence(text, from, match.index, end)) continue;
    pushTrimmed(text, from, end, found);
    from = end;
  }
  pushTrimmed(text, from, text.length, found);
  return found.flatMap((sentence) => withoutHeading(text, sentence));
});

/** Cuts a Markdown heading off the sentence that follows it in the next line. */
function withoutHeading(text: string, sentence: Span): Span[] {
  HEADING.lastIndex = sentence.start;
  const lineEnd = HEADING.test(text) ? sentence.text.indexOf('\n') : -1;
  if (lineEnd < 0) return [sentence];
  const parts: Span[] = [];
  pushTrimmed(text, sentence.start, sentence.start + lineEnd, parts);
  pushTrimmed(text, sentence.start + lineEnd, sentence.end, parts);
  return parts;
}

/** One line of a text without its line end; `number` counts from 1. */
export interface Line {
  readonly text: string;
  readonly number: number;
  /** UTF-16 code units into the text. */
  readonly start: number;
}

const LINE_END = /\r\n|\n|\r/g;

/** The lines of a text; one that ends with a line end has no empty line behind it. */
export const linesOf = rememberLatest((text: string): readonly Line[] => {
  const found: Line[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    found.push({ text: text.slice(start, match.index), number: found.length + 1, start });
    start = match.index + match[0].length;
  }
  if (start < text.length) found.push({ text: text.slice(start), number: found.length + 1, start });
  return found;
});
