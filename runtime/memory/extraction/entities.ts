import { apart } from '../../documents/extractors/dates/contract.js';
import { type EntityType, figuresIn } from '../../documents/extractors/entities/figures.js';
import { TITLES } from '../../documents/extractors/entities/lexicon.js';
import { namesIn } from '../../documents/extractors/entities/names.js';
import { type Span, wordsOf } from '../../documents/text/words.js';
import type { Entity } from '../../engines/contracts/encoder.js';

/** The least score of an entity that counts. */
const SURE = 0.5;
/** Entities of one text that are looked at. */
const LOOKED_AT = 1000;
/** The types of labels that encoders are trained with; any other names something. */
const TYPES: Readonly<Record<string, EntityType>> = {
  PER: 'PERSON', PERSON: 'PERSON', ORG: 'ORG', ORGANIZATION: 'ORG', ORGANISATION: 'ORG', CORPORATION: 'ORG', COMPANY: 'ORG',
  LOC: 'LOC', LOCATION: 'LOC', GPE: 'GPE', FAC: 'FAC', FACILITY: 'FAC', PRODUCT: 'PRODUCT', EVENT: 'EVENT', LAW: 'LAW',
}; // biome-ignore format: a table
/** Labels of figures, which are the work of rules, and of heads that name their labels by numbers. */
const NO_NAMES =
  /^(?:DATE|TIME|DURATION|MONEY|PERCENT|PERCENTAGE|QUANTITY|NUMBER|CARDINAL|ORDINAL|AGE|EMAIL|PHONE|URL|VERSION|(?:LABEL_)?\d+)$/;

/** A name in UTF-16 code units of its text. */
interface NamedSpan extends Span {
  readonly type: EntityType | 'NAME';
}

/**
 * The names that an encoder found in a text, in UTF-16 code units instead of its code points. What it is not sure of is left out, and so is what does
 * not stand where it says: it may be a runtime elsewhere that answers. In the order of the text, without overlaps. Linear.
 */
function encoderSpans(text: string, entities: readonly Entity[]): NamedSpan[] {
  const spans: NamedSpan[] = [];
  let point = 0;
  let unit = 0;
  const unitAt = (goal: number): number => {
    for (; point < goal && unit < text.length; point += 1) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
    return unit;
  };
  for (const { text: name, label, start: from, end: to, score } of entities.slice(0, LOOKED_AT).sort((a, b) => a.start - b.start)) {
    const kind = label.toUpperCase();
    // Those that begin inside of the one before are passed over: places are counted forwards.
    if (!(score >= SURE) || NO_NAMES.test(kind) || !(from >= point && to > from)) continue;
    const start = unitAt(from);
    const end = unitAt(to);
    const here = text.slice(start, end);
    if (here === name && /\p{L}/u.test(here)) spans.push({ text: here, type: TYPES[kind] ?? 'NAME', start, end });
  }
  return spans;
}

/** Something with a name, or a figure with a meaning, as a text has it. */
export interface Mention {
  readonly name: string;
  /** `NAME` where nobody knows of what. */
  readonly type: EntityType | 'NAME';
  /** UTF-16 code units of the text. */
  readonly start: number;
  readonly end: number;
  readonly by: 'rules' | 'encoder';
}

/** A mention while it is looked for. */
interface Found extends Span {
  readonly type: Mention['type'];
  readonly by: Mention['by'];
}

/** Code units of a text that are looked at, and mentions that one text gives; the rest is left out. */
const READ_UNITS = 16 * 1024;
const MENTIONS = 128;
const CAPITAL = /^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u;
const OPENS_SENTENCE = /(?:^|(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St))[.!?:…"“”\n])\s{0,4}$/u;
/** What rules tell by its form, better than an encoder. */
const FIGURES: ReadonlySet<string> = new Set(['EMAIL', 'URL', 'PHONE', 'MONEY', 'PERCENT', 'VERSION', 'DATE', 'TIME']);

/**
 * People, places, things, figures and addresses of a text in its order: by rules, and the names that an encoder found in it, if one did. Where two of
 * them overlap, figures of rules go before names of the encoder, and those before names of rules. Linear.
 */
export function mentionsIn(text: string, entities: readonly Entity[] = []): Mention[] {
  const read = text.slice(0, READ_UNITS);
  const byRules = apart(
    [...figuresIn(read, true, MENTIONS), ...namesIn(read), ...capitalsIn(read)].map(
      ({ text: name, type, start, end }): Found => ({ text: name, type, start, end, by: 'rules' }),
    ),
  );
  const figures = byRules.filter(({ type }) => FIGURES.has(type));
  const names = byRules.filter(({ type }) => !FIGURES.has(type));
  const byEncoder = encoderSpans(read, entities).map((span): Found => ({ ...span, by: 'encoder' }));
  return joinSpans(joinSpans(figures, byEncoder), names)
    .slice(0, MENTIONS)
    .map(({ text: name, type, start, end, by }) => ({ name, type, start, end, by }));
}

/** Both lists as one; each is in order and without overlaps of its own, and of two that overlap the one of the first list stays. */
function joinSpans(first: readonly Found[], second: readonly Found[]): Found[] {
  let at = 0;
  const beside = second.filter(({ start, end }) => {
    while (at < first.length && first[at]!.end <= start) at += 1;
    return at === first.length || end <= first[at]!.start;
  });
  return [...first, ...beside].sort((a, b) => a.start - b.start);
}

/** Runs of capitalised words that do not open a sentence, without titles. */
function capitalsIn(text: string): (Span & { readonly type: 'NAME' })[] {
  const runs: { start: number; end: number }[] = [];
  for (const { text: word, start, end } of wordsOf(text)) {
    if (!CAPITAL.test(word) || TITLES.has(word.toLowerCase()) || OPENS_SENTENCE.test(text.slice(Math.max(0, start - 6), start))) continue;
    const last = runs.at(-1);
    if (last && text.slice(last.end, start) === ' ') last.end = end;
    else runs.push({ start, end });
  }
  return runs.map(({ start, end }) => ({ text: text.slice(start, end), type: 'NAME', start, end }));
}
