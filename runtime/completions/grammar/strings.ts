import { Matcher } from '../regex/match.js';
import { lengthOf, PatternError, parseRegex, type Regex } from '../regex/syntax.js';
import { cut } from '../schema/document.js';
import { anchored, findFormat, isFreeFormat } from '../schema/formats.js';
import { member, patternExpression, wholeText, withLength } from './pattern.js';
import { type GrammarRules, literal, MAX_REPETITION, oneOf } from './rules.js';

/** The string keywords of a schema; several patterns and formats hold together. */
interface StringBounds {
  patterns: readonly string[];
  formats: readonly string[];
  /** Characters; `Infinity` = open. */
  minLength: number;
  maxLength: number;
}

/** A JSON string as far as a grammar can hold it; the expression is null where nothing is possible. */
export interface HeldString {
  expression: string | null;
  /** Keywords that it does not hold, or not wholly. */
  left: ('pattern' | 'format' | 'minLength' | 'maxLength')[];
  /** Patterns that cannot be read, and formats that are unknown, each as a phrase. */
  unread: string[];
  unknown: string[];
}

function inQuotes(expression: string | null): string | null {
  return expression === null ? null : `"\\"" ${expression} "\\""`;
}

/** What a string may be written by: one pattern or format, the others being left to the finished text. */
interface Form {
  keyword: 'pattern' | 'format';
  regex: Regex;
  /** Of a format: texts by which a pattern shows whether it takes what the format writes. */
  samples?: readonly string[] | undefined;
  expression: string | null;
  exact: boolean;
  length: { min: number; max: number };
}

function formOf(keyword: Form['keyword'], regex: Regex, bounds: StringBounds, rules: GrammarRules): Form {
  const fitting = withLength(wholeText(regex), bounds.minLength, bounds.maxLength);
  const made = patternExpression(fitting, rules);
  return { keyword, regex, expression: made?.expression ?? null, exact: made?.exact ?? true, length: lengthOf(fitting) };
}

function forms(bounds: StringBounds, rules: GrammarRules, unread: string[], unknown: string[]): Form[] {
  const formats: Form[] = [];
  for (const name of bounds.formats) {
    const format = findFormat(name);
    // Beside a pattern, a name that is unknown tells a reader what the pattern is.
    if (!format && !isFreeFormat(name) && bounds.patterns.length === 0)
      unknown.push(`the format ${JSON.stringify(cut(name))}, which is unknown,`);
    if (format)
      formats.push({ ...formOf('format', parseRegex(anchored(format.written), rules.work), bounds, rules), samples: format.samples });
  }
  // Small models write on for as long as they may: a pattern without end gets that of the format beside it.
  const within = { ...bounds, maxLength: Math.min(bounds.maxLength, ...formats.map(({ length }) => length.max)) };
  const patterns: Form[] = [];
  for (const pattern of bounds.patterns) {
    try {
      patterns.push(formOf('pattern', parseRegex(pattern, rules.work), within, rules));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      unread.push(`the pattern ${JSON.stringify(cut(pattern))}, which ${error.message}`);
    }
  }
  return [...patterns, ...formats];
}

/** What a string is written by: a pattern that can be held wholly, or a shorter format that it seems to take; else a format, else what of a pattern can be held. */
function heldForm(all: readonly Form[], { work }: GrammarRules): Form | undefined {
  const held = all.find((form) => form.exact) ?? all[0];
  const patterns = all.filter((form) => form.keyword === 'pattern');
  const isTaken = (text: string) => patterns.every(({ regex }) => new Matcher(regex, work).test(text, work));
  return all.find((form) => held && form.length.max < held.length.max && form.samples?.every(isTaken)) ?? held;
}

/** A JSON string within the bounds. */
export function stringExpression(bounds: StringBounds, rules: GrammarRules): HeldString {
  const [unread, unknown]: [string[], string[]] = [[], []];
  const { minLength, maxLength } = bounds;
  const all = forms(bounds, rules, unread, unknown);
  const held = heldForm(all, rules);
  const left: HeldString['left'] = [...new Set(all.filter((form) => form !== held || !form.exact).map((form) => form.keyword))];
  if (held) {
    if (held.length.min < minLength) left.push('minLength');
    if (held.length.max > maxLength) left.push('maxLength');
    return { expression: inQuotes(held.expression), left, unread, unknown };
  }
  if (minLength > maxLength) return { expression: null, left, unread, unknown };
  if (minLength === 0 && maxLength === Infinity) return { expression: rules.base('string'), left, unread, unknown };
  if (minLength > MAX_REPETITION) left.push('minLength');
  if (maxLength > MAX_REPETITION && maxLength !== Infinity) left.push('maxLength');
  const content = rules.repetition(
    rules.base('char'),
    Math.min(minLength, MAX_REPETITION),
    maxLength > MAX_REPETITION ? Infinity : maxLength,
  );
  return { expression: inQuotes(content), left, unread, unknown };
}

/** Names are told apart by so many first characters; no other key begins as a longer name does. */
const TOLD_APART = 40;

interface Trie {
  ends: boolean;
  /** A longer name goes on here. */
  cut: boolean;
  next: Map<string, Trie>;
}

/** What may follow in a key that is none of the names below; null where nothing may. */
function notInTrie(node: Trie, rules: GrammarRules): string | null {
  rules.work.spend();
  if (node.cut) return node.ends ? null : '""';
  const seen = [...node.next.keys()].map((char) => member(char.codePointAt(0)!)).join('');
  const alternatives = [`[^${seen}"\\\\\\x00-\\x1F\\x7F] char*`];
  for (const [char, child] of node.next) {
    const rest = notInTrie(child, rules);
    if (rest !== null) alternatives.push(`${literal(char)} ${rest}`);
  }
  return node.ends ? oneOf(alternatives) : `( ${alternatives.join(' | ')} )?`;
}

/** A JSON string that is none of `names`, for the keys of additional properties. */
export function otherKey(names: readonly string[], rules: GrammarRules): string {
  if (names.length === 0) return rules.base('string');
  rules.base('char');
  const root: Trie = { ends: false, cut: false, next: new Map() };
  for (const name of names) {
    let node = root;
    // Keys that JSON must escape cannot be written here at all, since a first backslash is excluded.
    const chars = [...name.slice(0, 2 * TOLD_APART + 2)];
    for (const char of chars.slice(0, TOLD_APART)) {
      rules.work.spend();
      const child = node.next.get(char) ?? { ends: false, cut: false, next: new Map<string, Trie>() };
      node.next.set(char, child);
      node = child;
    }
    if (chars.length > TOLD_APART) node.cut = true;
    else node.ends = true;
  }
  return inQuotes(notInTrie(root, rules))!;
}
