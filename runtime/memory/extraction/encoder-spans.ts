import type { EntityType } from '../../documents/extractors/entities/figures.js';
import type { Span } from '../../documents/text/words.js';
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
export function encoderSpans(text: string, entities: readonly Entity[]): NamedSpan[] {
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
