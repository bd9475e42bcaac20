import { apart } from '../../documents/extractors/dates/contract.js';
import type { EntityType } from '../../documents/extractors/entities/contract.js';
import { figuresIn } from '../../documents/extractors/entities/figures.js';
import { TITLES } from '../../documents/extractors/entities/lexicon.js';
import { namesIn } from '../../documents/extractors/entities/names.js';
import { wordsOf } from '../../documents/text/words.js';

/** Something with a name, or a figure with a meaning, as a text has it. */
export interface Mention {
  readonly name: string;
  /** `NAME` where the rules do not know of what. */
  readonly type: EntityType | 'NAME';
  /** UTF-16 code units of the text. */
  readonly start: number;
  readonly end: number;
}

/** Code units of a text that are looked at, and mentions that one text gives; the rest is left out. */
const READ_UNITS = 16 * 1024;
const MENTIONS = 128;
const CAPITAL = /^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u;
const OPENS_SENTENCE = /(?:^|(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St))[.!?:…"“”\n])\s{0,4}$/u;

/** People, places, things, figures and addresses of a text in its order, by rules. Linear. */
export function mentionsIn(text: string): Mention[] {
  const read = text.slice(0, READ_UNITS);
  const known = [...figuresIn(read, true, MENTIONS), ...namesIn(read)].map(({ text: name, type, start, end }) => ({
    name,
    text: name,
    type,
    start,
    end,
  }));
  return apart([...known, ...capitalsIn(read)])
    .slice(0, MENTIONS)
    .map(({ name, type, start, end }) => ({ name, type, start, end }));
}

/** Runs of capitalised words that do not open a sentence, without titles. */
function capitalsIn(text: string): (Mention & { readonly text: string })[] {
  const runs: { start: number; end: number }[] = [];
  for (const { text: word, start, end } of wordsOf(text)) {
    if (!CAPITAL.test(word) || TITLES.has(word.toLowerCase()) || OPENS_SENTENCE.test(text.slice(Math.max(0, start - 6), start))) continue;
    const last = runs.at(-1);
    if (last && text.slice(last.end, start) === ' ') last.end = end;
    else runs.push({ start, end });
  }
  return runs.map(({ start, end }) => ({ name: text.slice(start, end), text: text.slice(start, end), type: 'NAME', start, end }));
}
