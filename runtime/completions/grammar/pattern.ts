import { Failure } from '../../../schemas/errors.js';
import { literal } from './rules.js';

const MAX_PATTERN_CHARS = 500;
const MAX_DEPTH = 16;
const MAX_REPEAT = 500;

/** What the shorthand classes contain, in GBNF class syntax. */
const CLASSES: Record<string, string> = { d: '0-9', w: 'A-Za-z0-9_', s: ' ' };
const NEGATED_CLASSES: Record<string, string> = { D: '0-9', W: 'A-Za-z0-9_', S: ' ' };
/** Characters that would need an escape inside a JSON string; negated classes leave them out. */
const UNQUOTABLE = '"\\\\\\x00-\\x1F\\x7F';

/** Turns a regular expression into the GBNF of a JSON string's content; a subset without look-around, back-references and lazy forms. */
class PatternReader {
  #at = 0;

  constructor(readonly source: string) {}

  whole(): string {
    let { source } = this;
    if (source.length > MAX_PATTERN_CHARS) this.#refuse(`is longer than ${MAX_PATTERN_CHARS} characters`);
    const anchoredStart = source.startsWith('^');
    const anchoredEnd = /(?:^|[^\\])(?:\\\\)*\$$/.test(source);
    source = source.slice(anchoredStart ? 1 : 0, anchoredEnd ? -1 : undefined);
    const inner = new PatternReader(source);
    const expression = inner.#alternatives(0);
    if (inner.#at < source.length) this.#refuse(`has an unexpected "${source[inner.#at]}"`);
    // A bar outside groups splits the anchors too, which only holds when both sides are anchored alike.
    if (inner.#topLevelBar && (anchoredStart || anchoredEnd)) this.#refuse('mixes "|" with "^" or "$"; put the alternatives in a group');
    return `${anchoredStart ? '' : 'char* '}( ${expression} )${anchoredEnd ? '' : ' char*'}`;
  }

  #topLevelBar = false;

  #refuse(why: string): never {
    throw new Failure('invalid', `The pattern ${JSON.stringify(this.source)} ${why}; use a simpler regular expression.`, {
      code: 'unsupported_schema',
    });
  }

  #alternatives(depth: number): string {
    if (depth > MAX_DEPTH) this.#refuse('is nested too deeply');
    const parts = [this.#sequence(depth)];
    while (this.source[this.#at] === '|') {
      if (depth === 0) this.#topLevelBar = true;
      this.#at += 1;
      parts.push(this.#sequence(depth));
    }
    return parts.map((part) => (part === '' ? '""' : part)).join(' | ');
  }

  #sequence(depth: number): string {
    const items: string[] = [];
    while (this.#at < this.source.length && this.source[this.#at] !== '|' && this.source[this.#at] !== ')') {
      items.push(this.#atom(depth) + this.#quantifier());
    }
    return items.join(' ');
  }

  #atom(depth: number): string {
    const char = this.source[this.#at];
    this.#at += 1;
    if (char === '(') return this.#group(depth);
    if (char === '[') return this.#charClass();
    if (char === '.') return 'char';
    if (char === '\\') return this.#escape();
    if (char === undefined || '^$*+?{}'.includes(char)) this.#refuse(`has a "${char ?? ''}" that is not supported there`);
    // A surrogate pair is one character of the grammar.
    const point = this.source.codePointAt(this.#at - 1) ?? 0;
    if (point > 0xffff) this.#at += 1;
    return literal(jsonText(String.fromCodePoint(point)));
  }

  #group(depth: number): string {
    if (this.source[this.#at] === '?') {
      if (this.source[this.#at + 1] !== ':') this.#refuse('uses look-around or named groups');
      this.#at += 2;
    }
    const inner = this.#alternatives(depth + 1);
    if (this.source[this.#at] !== ')') this.#refuse('has an open group');
    this.#at += 1;
    return `( ${inner} )`;
  }

  #escape(): string {
    const char = this.source[this.#at];
    this.#at += 1;
    if (char === undefined) this.#refuse('ends in a backslash');
    if (CLASSES[char]) return `[${CLASSES[char]}]`;
    if (NEGATED_CLASSES[char]) return `[^${NEGATED_CLASSES[char]}${UNQUOTABLE}]`;
    const control = { n: '\n', t: '\t', r: '\r' }[char];
    if (control) return literal(jsonText(control));
    if (/[A-Za-z0-9]/.test(char)) this.#refuse(`uses \\${char}`);
    return literal(jsonText(char));
  }

  #charClass(): string {
    const negated = this.source[this.#at] === '^';
    if (negated) this.#at += 1;
    let members = '';
    const start = this.#at;
    while (this.#at < this.source.length && (this.source[this.#at] !== ']' || this.#at === start)) members += this.#classMember();
    if (this.source[this.#at] !== ']') this.#refuse('has an open character class');
    this.#at += 1;
    if (negated) return `[^${members}${UNQUOTABLE}]`;
    return `[${members}]`;
  }

  #classMember(): string {
    const char = this.source[this.#at] ?? '';
    this.#at += 1;
    if (char === '-') return this.source[this.#at] === ']' || this.source[this.#at - 2] === '[' ? '\\x2D' : '-';
    if (char !== '\\') return classChar(char, this);
    const escaped = this.source[this.#at] ?? '';
    this.#at += 1;
    if (CLASSES[escaped]) return CLASSES[escaped];
    if (/[A-Za-z0-9]/.test(escaped)) this.#refuse(`uses \\${escaped} in a class`);
    return classChar(escaped, this);
  }

  /** Refuses members that JSON must escape, since a class stands for one character. */
  refuseQuoted(char: string): never {
    return this.#refuse(`has ${JSON.stringify(char)} in a class`);
  }

  #quantifier(): string {
    const char = this.source[this.#at];
    let quantifier = '';
    if (char === '*' || char === '+' || char === '?') {
      quantifier = char;
      this.#at += 1;
    } else if (char === '{') {
      const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.source.slice(this.#at));
      if (!match) this.#refuse('has a "{" that is no repetition');
      if (Number(match[1]) > MAX_REPEAT || Number(match[3] || 0) > MAX_REPEAT) this.#refuse(`repeats more than ${MAX_REPEAT} times`);
      if (match[3] && Number(match[3]) < Number(match[1])) this.#refuse(`has the repetition ${match[0]}, whose most is below its least`);
      quantifier = match[0];
      this.#at += match[0].length;
    }
    if (quantifier !== '' && '?+'.includes(this.source[this.#at] ?? ' ')) this.#refuse('uses lazy or possessive repetition');
    return quantifier;
  }
}

function classChar(char: string, reader: PatternReader): string {
  if (char === '"' || char === '\\' || char < ' ') return reader.refuseQuoted(char);
  return char === ']' || char === '[' || char === '^' || char === '-' ? `\\x${char.charCodeAt(0).toString(16).toUpperCase()}` : char;
}

/** A text as it stands inside a JSON string. */
function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The GBNF of the content of a JSON string that matches `pattern`; it uses the rule `char`. Outside the subset: `Failure('invalid')`. */
export function patternExpression(pattern: string): string {
  return new PatternReader(pattern).whole();
}
