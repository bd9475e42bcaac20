import { type Characters, complement, EVERY, includes, union, without } from '../regex/characters.js';
import { lengthOf, type Regex } from '../regex/syntax.js';
import { type GrammarRules, literal } from './rules.js';

/** Control characters, the quote, the backslash and DEL, which a JSON string writes as escapes or not at all. */
const UNQUOTABLE: Characters = union([
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x7f, 0x7f],
]);
/** What no text holds that is written without quotes. */
const UNWRITTEN: Characters = [[0, 8]];
const SURROGATES: Characters = [[0xd800, 0xdfff]];
const NOT_PLAIN = { json: union(UNQUOTABLE, SURROGATES), raw: union(UNWRITTEN, SURROGATES) };
/** Code points with a short escape in JSON. */
const ESCAPED = [0x22, 0x5c, 0x08, 0x0c, 0x0a, 0x0d, 0x09];
/** Sets of more ranges than this get a rule of their own, which all their uses share. */
const SHARED_RANGES = 8;

const ANYTHING: Regex = { kind: 'repeat', item: { kind: 'set', set: EVERY }, min: 0, max: Infinity };

function isWidthless(regex: Regex): boolean {
  return regex.kind === 'start' || regex.kind === 'end' || regex.kind === 'boundary' || regex.kind === 'look';
}

function flat(regex: Regex): readonly Regex[] {
  return regex.kind === 'sequence' ? regex.items.flatMap(flat) : [regex];
}

/** A pattern that is found anywhere in a text, as one that the whole text matches: what its anchors leave open is there as any characters. */
export function wholeText(regex: Regex): Regex {
  if (regex.kind === 'choice') return { kind: 'choice', items: regex.items.map(wholeText) };
  const items = [...flat(regex)];
  const head = items.findIndex((item) => !isWidthless(item));
  const tail = items.findLastIndex((item) => !isWidthless(item));
  const before = head < 0 ? items : items.slice(0, head);
  const after = head < 0 ? items : items.slice(tail + 1);
  const anchors = (of: readonly Regex[], kind: Regex['kind']) => of.some((item) => item.kind === kind);
  const inner = items.filter(
    (item, at) => !(item.kind === 'start' && (head < 0 || at < head)) && !(item.kind === 'end' && (head < 0 || at > tail)),
  );
  const out = [...(anchors(before, 'start') ? [] : [ANYTHING]), ...inner, ...(anchors(after, 'end') ? [] : [ANYTHING])];
  return out.length === 1 ? out[0]! : { kind: 'sequence', items: out };
}

/** Repetitions are not cut below this to keep a length that a text may well keep by itself. */
const LEAST_CAP = 16;

/**
 * A pattern of a whole text with its repetitions cut so that its matches have the length, as far as that leaves room to write; `lengthOf` tells what
 * became of it. Every match of the result matches the pattern.
 */
export function withLength(regex: Regex, shortest: number, longest: number): Regex {
  if (regex.kind === 'repeat') {
    const item = lengthOf(regex.item);
    if (item.min === 1 && item.max === 1) return { ...regex, min: Math.max(regex.min, shortest), max: Math.min(regex.max, longest) };
  }
  const { min, max } = lengthOf(regex);
  if (longest === Infinity || max <= longest || min > longest) return regex;
  const loosest = capLength(regex, longest - min);
  let cut = loosest;
  for (let more = longest - min; lengthOf(cut).max > longest; cut = capLength(regex, more)) {
    more = Math.floor(more / 2);
    if (more < LEAST_CAP) return loosest;
  }
  return cut;
}

/** With each repetition having at most so many more characters than it must have. */
function capLength(regex: Regex, more: number): Regex {
  if (regex.kind === 'sequence' || regex.kind === 'choice') return { ...regex, items: regex.items.map((item) => capLength(item, more)) };
  if (regex.kind !== 'repeat') return regex;
  const { min } = lengthOf(regex.item);
  const most = regex.min + Math.floor(more / Math.max(1, min));
  return { ...regex, item: capLength(regex.item, more), max: Math.min(regex.max, most) };
}

/** The matches of a pattern that have at least one character; null where there are none. The engine takes no repetition of what may be empty. */
function nonEmpty(regex: Regex): Regex | null {
  if (lengthOf(regex).min > 0) return regex;
  switch (regex.kind) {
    case 'choice': {
      const items = regex.items.map(nonEmpty).filter((item) => item !== null);
      return items.length === 0 ? null : { kind: 'choice', items };
    }
    case 'sequence': {
      const firsts = regex.items.map((item, at) => {
        const first = nonEmpty(item);
        return first && ({ kind: 'sequence', items: [first, ...regex.items.slice(at + 1)] } as const);
      });
      const items = firsts.filter((item) => item !== null);
      return items.length === 0 ? null : { kind: 'choice', items };
    }
    case 'repeat': {
      const item = nonEmpty(regex.item);
      return item && regex.max > 0 ? { ...regex, item, min: 1 } : null;
    }
    default:
      return null;
  }
}

/** Writes a pattern of a whole text as the content of a JSON string, or as it is (`raw`). */
class PatternWriter {
  /** False once something was left out, so that the expression allows more than the pattern. */
  exact = true;

  constructor(
    readonly rules: GrammarRules,
    readonly form: 'json' | 'raw',
  ) {}

  /** Null where nothing matches. */
  write(regex: Regex): string | null {
    this.rules.work.spend();
    switch (regex.kind) {
      case 'set':
        return singlePoint(regex) === undefined ? this.#set(regex.set) : this.#sequence([regex]);
      case 'sequence':
        return this.#sequence(regex.items);
      case 'choice': {
        const items = regex.items.map((item) => this.write(item)).filter((item) => item !== null);
        return items.length === 0 ? null : `( ${items.map((item) => item || '""').join(' | ')} )`;
      }
      case 'repeat':
        return this.#repeat(regex);
      default:
        this.exact = false;
        return '';
    }
  }

  #sequence(items: readonly Regex[]): string | null {
    const out: string[] = [];
    let text = '';
    const close = () => {
      if (text !== '') out.push(literal(this.form === 'raw' ? text : JSON.stringify(text).slice(1, -1)));
      text = '';
    };
    for (const item of items) {
      const point = singlePoint(item);
      if (point !== undefined) {
        text += String.fromCodePoint(point);
        continue;
      }
      close();
      const written = this.write(item);
      if (written === null) return null;
      if (written !== '') out.push(written);
    }
    close();
    return out.length > 1 ? `( ${out.join(' ')} )` : (out[0] ?? '');
  }

  #repeat(regex: Regex & { kind: 'repeat' }): string | null {
    const mayBeEmpty = lengthOf(regex.item).min === 0;
    const item = mayBeEmpty ? nonEmpty(regex.item) : regex.item;
    const min = mayBeEmpty ? 0 : regex.min;
    const written = item && this.write(item);
    // Of an item that only looks, and so has no characters.
    if (mayBeEmpty && regex.min > 0) this.write(regex.item);
    if (!written) return min > 0 && written === null ? null : '';
    // A sign of repetition must not follow another.
    return this.rules.repetition(/[*+?}]$/.test(written) ? `( ${written} )` : written, min, regex.max);
  }

  #set(set: Characters): string | null {
    this.rules.work.spend(2);
    if (this.form === 'raw') return this.#class(without(set, NOT_PLAIN.raw));
    if (set === EVERY) return this.rules.base('char');
    const plain = without(set, NOT_PLAIN.json);
    const escapes = ESCAPED.filter((point) => includes(set, point)).map((point) =>
      literal(JSON.stringify(String.fromCodePoint(point)).slice(1, -1)),
    );
    const parts = [this.#class(plain), ...escapes].filter((part) => part !== null);
    if (parts.length === 0) return null;
    return parts.length === 1 ? parts[0]! : `( ${parts.join(' | ')} )`;
  }

  #class(plain: Characters): string | null {
    if (plain.length === 0) return null;
    const others = without(complement(plain), SURROGATES);
    const [ranges, sign] = others.length < plain.length ? [others, '^'] : [plain, ''];
    this.rules.work.spend(ranges.length);
    const members = ranges.map(([from, to]) => (from === to ? member(from) : `${member(from)}-${member(to)}`)).join('');
    const body = `[${sign}${members}]`;
    return ranges.length > SHARED_RANGES ? this.rules.shared('set', body) : body;
  }
}

function singlePoint(regex: Regex): number | undefined {
  if (regex.kind !== 'set' || regex.set.length !== 1 || regex.set[0]![0] !== regex.set[0]![1]) return undefined;
  const point = regex.set[0]![0];
  // JSON.stringify writes the others as they may stand in a JSON string.
  return (point < 0x20 && !ESCAPED.includes(point)) || point === 0x7f || includes(SURROGATES, point) ? undefined : point;
}

/** A code point inside a class. */
export function member(point: number): string {
  const char = String.fromCodePoint(point);
  if (/[A-Za-z0-9]/.test(char)) return char;
  const hex = point.toString(16).toUpperCase();
  return point < 0x100 ? `\\x${hex.padStart(2, '0')}` : point < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/**
 * The GBNF of a JSON string's content (or with `raw` of a text) that a pattern of a whole text matches; `exact` = it allows nothing else. Null
 * where nothing matches.
 */
export function patternExpression(
  regex: Regex,
  rules: GrammarRules,
  form: 'json' | 'raw' = 'json',
): { expression: string; exact: boolean } | null {
  const writer = new PatternWriter(rules, form);
  const expression = writer.write(regex);
  return expression === null ? null : { expression: expression || '""', exact: writer.exact };
}
