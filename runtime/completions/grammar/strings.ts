import { patternExpression } from './pattern.js';
import { type GrammarRules, literal, oneOf } from './rules.js';

/** Largest repetition that the engine takes; longer bounds are not enforced. */
const MAX_REPETITION = 1_000;

const YEAR_MONTH_DAY = '[0-9]{4} "-" ( "0" [1-9] | "1" [0-2] ) "-" ( "0" [1-9] | [12] [0-9] | "3" [01] )';
const CLOCK =
  '( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] ":" [0-5] [0-9] ( "." [0-9]{1,6} )? ( "Z" | [-+] ( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] )';

/** The string formats that are enforced, as the content of a JSON string (RFC 3339, RFC 9562). */
const FORMATS: Record<string, string> = {
  date: YEAR_MONTH_DAY,
  time: CLOCK,
  'date-time': `${YEAR_MONTH_DAY} "T" ${CLOCK}`,
  uuid: '[0-9a-fA-F]{8} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{12}',
};

/** The string keywords of a schema. */
interface StringBounds {
  pattern?: string | undefined;
  format?: string | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
}

function quoted(expression: string): string {
  return `"\\"" ${expression} "\\""`;
}

/** A repetition of `item`; bounds beyond `MAX_REPETITION` are cut, and `note` hears of it. */
export function repetition(item: string, min: number, max: number | undefined, note: (text: string) => void): string {
  if (min > MAX_REPETITION) note(`a minimum count of ${min} is cut to ${MAX_REPETITION}`);
  if (max !== undefined && max > MAX_REPETITION) note(`a maximum count of ${max} is not enforced`);
  const from = Math.min(min, MAX_REPETITION);
  const to = max === undefined || max > MAX_REPETITION ? '' : String(max);
  return from === 0 && to === '' ? `${item}*` : `${item}{${from},${to}}`;
}

/** A JSON string within the bounds. `note` gets what is not enforced. */
export function stringExpression(bounds: StringBounds, rules: GrammarRules, note: (text: string) => void): string {
  const { pattern, format, minLength = 0, maxLength } = bounds;
  const sized = minLength > 0 || maxLength !== undefined;
  rules.base('char');
  if (pattern !== undefined) {
    if (sized) note('minLength and maxLength beside pattern');
    if (format !== undefined) note('format beside pattern');
    return quoted(patternExpression(pattern));
  }
  if (format !== undefined) {
    const known = FORMATS[format];
    if (known) return quoted(known);
    note(`format "${format}"`);
  }
  return sized ? quoted(repetition('char', minLength, maxLength, note)) : rules.base('string');
}

interface Trie {
  ends: boolean;
  next: Map<string, Trie>;
}

const SPECIAL_IN_CLASS = /[\]\\^-]/;

function classMember(char: string): string {
  return SPECIAL_IN_CLASS.test(char) ? `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : char;
}

function notInTrie(node: Trie): string {
  const seen = [...node.next.keys()].map(classMember).join('');
  const alternatives = [...node.next].map(([char, child]) => `${literal(char)} ${notInTrie(child)}`);
  alternatives.push(`[^${seen}"\\\\\\x00-\\x1F\\x7F] char*`);
  return node.ends ? oneOf(alternatives) : `( ${alternatives.join(' | ')} )?`;
}

/** A JSON string that is none of `names`, for the keys of additional properties. */
export function otherKey(names: readonly string[], rules: GrammarRules): string {
  if (names.length === 0) return rules.base('string');
  rules.base('char');
  const root: Trie = { ends: false, next: new Map() };
  for (const name of names) {
    let node = root;
    // Keys that JSON must escape cannot be written here at all, since a first backslash is excluded.
    for (const char of name) {
      const child = node.next.get(char) ?? { ends: false, next: new Map<string, Trie>() };
      node.next.set(char, child);
      node = child;
    }
    node.ends = true;
  }
  return quoted(notInTrie(root));
}
