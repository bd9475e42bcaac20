import type { WorkLimit } from '../work-limit.js';
import { bothCases, type Characters, complement, EVERY, NOT_LINE_END, only, property, SHORTHANDS, union } from './characters.js';

/** A regular expression, read. */
export type Regex =
  | { readonly kind: 'set'; readonly set: Characters }
  | { readonly kind: 'sequence'; readonly items: readonly Regex[] }
  | { readonly kind: 'choice'; readonly items: readonly Regex[] }
  /** `max` may be `Infinity`. */
  | { readonly kind: 'repeat'; readonly item: Regex; readonly min: number; readonly max: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  /** `\b`, and `\B` where negated. */
  | { readonly kind: 'boundary'; readonly negated: boolean }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negated: boolean; readonly item: Regex };

/** Why a pattern cannot be used: a phrase for behind "the pattern". */
export class PatternError extends Error {}

const MAX_CHARS = 8_000;
const MAX_DEPTH = 24;
const MAX_REPEAT = 10_000;
/** Most Unicode properties in one pattern. */
const MAX_PROPERTIES = 16;

const CONTROLS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, v: 11, '0': 0, a: 7 };

/** Reads ECMAScript's syntax with the `u` flag and without, and what of Python's and Rust's it has no word for: `(?P<name>`, `\A`, `\z`, `(?i)`, `(?s)`. */
class Reader {
  #at = 0;
  #ignoreCase = false;
  #dotAll = false;
  #properties = 0;

  constructor(
    readonly source: string,
    readonly work: WorkLimit,
  ) {}

  whole(): Regex {
    if (this.source.length > MAX_CHARS) this.#fail(`is longer than ${MAX_CHARS} characters`);
    const flags = /^\(\?([ims]+)\)/.exec(this.source);
    if (flags) {
      this.#ignoreCase = flags[1]!.includes('i');
      this.#dotAll = flags[1]!.includes('s');
      this.#at = flags[0].length;
    }
    const out = this.#choice(0);
    if (this.#at < this.source.length) this.#fail(`has an unexpected "${this.source[this.#at]}"`);
    return out;
  }

  #fail(why: string): never {
    throw new PatternError(why);
  }

  #eat(text: string): boolean {
    if (!this.source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(form: RegExp): RegExpExecArray | null {
    const found = form.exec(this.source.slice(this.#at, this.#at + 100));
    if (found) this.#at += found[0].length;
    return found;
  }

  #choice(depth: number): Regex {
    if (depth > MAX_DEPTH) this.#fail('is nested too deeply');
    const items = [this.#sequence(depth)];
    while (this.#eat('|')) items.push(this.#sequence(depth));
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  #sequence(depth: number): Regex {
    const items: Regex[] = [];
    while (this.#at < this.source.length && this.source[this.#at] !== '|' && this.source[this.#at] !== ')')
      items.push(this.#repeated(this.#atom(depth)));
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  #repeated(item: Regex): Regex {
    const found = this.#match(/^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})/);
    if (!found) return item;
    // Whether a repetition is lazy says nothing about which texts match.
    if (!this.#eat('?') && this.#eat('+')) this.#fail('uses possessive repetition');
    const [sign, least, comma, most] = found;
    const named = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[sign];
    const min = named ? named[0]! : Number(least);
    const max = named ? named[1]! : comma === undefined ? min : most ? Number(most) : Infinity;
    if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Infinity)) this.#fail(`repeats more than ${MAX_REPEAT} times`);
    if (max < min) this.#fail(`has the repetition ${sign}, whose most is below its least`);
    return { kind: 'repeat', item, min, max };
  }

  #atom(depth: number): Regex {
    this.work.spend(2);
    if (this.#eat('(')) return this.#group(depth);
    if (this.#eat('[')) return this.#charClass();
    if (this.#eat('.')) return { kind: 'set', set: this.#dotAll ? EVERY : NOT_LINE_END };
    if (this.#eat('^')) return { kind: 'start' };
    if (this.#eat('$')) return { kind: 'end' };
    if (this.#eat('\\')) return this.#escape();
    const point = this.source.codePointAt(this.#at)!;
    if ('*+?'.includes(this.source[this.#at]!)) this.#fail(`has a "${this.source[this.#at]}" that repeats nothing`);
    this.#at += point > 0xffff ? 2 : 1;
    return this.#set(only(point));
  }

  #set(set: Characters): Regex {
    return { kind: 'set', set: this.#ignoreCase ? bothCases(set) : set };
  }

  #group(depth: number): Regex {
    let look: { behind: boolean; negated: boolean } | undefined;
    if (this.#eat('?<=') || this.#eat('?<!')) look = { behind: true, negated: this.source[this.#at - 1] === '!' };
    else if (this.#eat('?=') || this.#eat('?!')) look = { behind: false, negated: this.source[this.#at - 1] === '!' };
    else if (this.#eat('?')) {
      if (!this.#match(/^(?::|P?<[A-Za-z_$][A-Za-z0-9_$]*>)/)) this.#fail(`has an unknown group "(?${this.source[this.#at] ?? ''}"`);
    }
    const item = this.#choice(depth + 1);
    if (!this.#eat(')')) this.#fail('has an open group');
    return look ? { kind: 'look', ...look, item } : item;
  }

  #escape(): Regex {
    if (this.#eat('b')) return { kind: 'boundary', negated: false };
    if (this.#eat('B')) return { kind: 'boundary', negated: true };
    if (this.#eat('A')) return { kind: 'start' };
    if (this.#eat('z') || this.#eat('Z')) return { kind: 'end' };
    if (this.#match(/^(?:[1-9]|k<)/)) this.#fail('refers back to a group');
    return this.#set(this.#escaped());
  }

  /** What stands behind a backslash, in a class or outside. */
  #escaped(): Characters {
    const letter = this.source[this.#at];
    if (letter === undefined) this.#fail('ends in a backslash');
    const shorthand = Object.hasOwn(SHORTHANDS, letter) ? SHORTHANDS[letter] : undefined;
    if (shorthand) {
      this.#at += 1;
      return shorthand;
    }
    if (letter === 'p' || letter === 'P') return this.#property();
    const pair = this.#match(/^u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/i);
    if (pair) return only(String.fromCharCode(Number.parseInt(pair[1]!, 16), Number.parseInt(pair[2]!, 16)).codePointAt(0)!);
    const code = this.#match(/^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|[ux]\{([0-9a-f]{1,6})\})/i);
    if (code) return only(Math.min(Number.parseInt((code[1] ?? code[2] ?? code[3])!, 16), 0x10ffff));
    const control = this.#match(/^c([A-Za-z])/);
    if (control) return only(control[1]!.charCodeAt(0) % 32);
    const point = this.source.codePointAt(this.#at)!;
    this.#at += point > 0xffff ? 2 : 1;
    if (Object.hasOwn(CONTROLS, letter)) return only(CONTROLS[letter]!);
    if (/[A-Za-z0-9]/.test(letter)) this.#fail(`uses \\${letter}`);
    return only(point);
  }

  #property(): Characters {
    const found = this.#match(/^([pP])(?:\{(\^?)([^}]{1,81})\}|([A-Z]))/);
    if (!found) this.#fail('has a \\p without a name in braces');
    const [, letter, caret, inBraces, bare] = found;
    this.#properties += 1;
    if (this.#properties > MAX_PROPERTIES) this.#fail(`names more than ${MAX_PROPERTIES} Unicode properties`);
    const set = property((inBraces ?? bare)!, this.work);
    if (!set) this.#fail(`names the Unicode property ${inBraces ?? bare}, which is unknown`);
    return (letter === 'P') !== (caret === '^') ? complement(set) : set;
  }

  #charClass(): Regex {
    const negated = this.#eat('^');
    const sets: Characters[] = [];
    // A first "]" is a member to Python and Rust, and an empty class to ECMAScript.
    let first = true;
    while (first || this.source[this.#at] !== ']') {
      if (this.#at >= this.source.length) this.#fail('has an open character class');
      if (first && this.#eat(']')) {
        if (this.source.indexOf(']', this.#at) < 0) this.#fail('has an empty character class');
        sets.push(only(0x5d));
      } else {
        sets.push(this.#classMember());
      }
      first = false;
    }
    this.#at += 1;
    const members = this.#ignoreCase ? bothCases(union(...sets)) : union(...sets);
    return { kind: 'set', set: negated ? complement(members) : members };
  }

  #classMember(): Characters {
    this.work.spend();
    const from = this.#classAtom();
    const single = from.length === 1 && from[0]![0] === from[0]![1];
    if (!single || this.source[this.#at] !== '-' || this.source[this.#at + 1] === ']' || this.#at + 1 >= this.source.length) return from;
    this.#at += 1;
    const to = this.#classAtom();
    if (to.length !== 1 || to[0]![0] !== to[0]![1]) return union(from, only(0x2d), to);
    if (to[0]![0] < from[0]![0]) this.#fail('has a range that goes backwards');
    return [[from[0]![0], to[0]![0]]];
  }

  #classAtom(): Characters {
    if (this.#eat('\\')) return this.#eat('b') ? only(8) : this.#escaped();
    const point = this.source.codePointAt(this.#at)!;
    this.#at += point > 0xffff ? 2 : 1;
    return only(point);
  }
}

/** Reads a pattern of a JSON Schema. Throws `PatternError` for what is no regular expression, and for back-references; and what `work` throws. */
export function parseRegex(source: string, work: WorkLimit): Regex {
  return new Reader(source, work).whole();
}

/** Fewest and most characters that the whole of a match has. */
export function lengthOf(regex: Regex): { min: number; max: number } {
  switch (regex.kind) {
    case 'set':
      return { min: 1, max: 1 };
    case 'sequence':
      return regex.items.map(lengthOf).reduce((a, b) => ({ min: a.min + b.min, max: a.max + b.max }), { min: 0, max: 0 });
    case 'choice':
      return regex.items.map(lengthOf).reduce((a, b) => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }));
    case 'repeat': {
      const { min, max } = lengthOf(regex.item);
      return { min: min * regex.min, max: max === 0 || regex.max === 0 ? 0 : max * regex.max };
    }
    default:
      return { min: 0, max: 0 };
  }
}
