import { Failure } from '../../../schemas/errors.js';
import { WorkLimit } from '../work-limit.js';

/** Most rules and characters of a grammar; more would slow every sampled token. */
const MAX_RULES = 5_000;
const MAX_GRAMMAR_CHARS = 512 * 1024;
/** Most repetitions in all bounds together, since the engine writes each one out. */
const MAX_REPETITIONS = 20_000;
/** Longest bound that is written as one; longer ones are made of pieces of this length. */
const PIECE = 256;
/** Items longer than this are named where they are repeated several times. */
const SHORT = 40;
/** Longest bound that is written at all: an answer that reaches a longer one has long run out of tokens. */
export const MAX_REPETITION = 32_768;
/** Most work that one grammar may take: some 30 ms. */
const MAX_WORK = 25_000;

/** Rules that every grammar may use; each is added with what it needs. */
const BASE_RULES: Record<string, { body: string; needs: string[] }> = {
  ws: { body: '( " " | "\\n" [ \\t]{0,16} )?', needs: [] },
  hex: { body: '[0-9a-fA-F]', needs: [] },
  // No half of a surrogate pair, which strict readers refuse.
  code: {
    body: '( [0-9a-cA-CefEF] hex | [dD] [0-7] ) hex hex | [dD] [89abAB] hex hex "\\\\u" [dD] [c-fC-F] hex hex',
    needs: ['hex'],
  },
  char: { body: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ( ["\\\\/bfnrt] | "u" code )', needs: ['code'] },
  string: { body: '"\\"" char* "\\""', needs: ['char'] },
  number: { body: '"-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,2} )?', needs: [] },
  boolean: { body: '"true" | "false"', needs: [] },
  null: { body: '"null"', needs: [] },
  value: { body: 'object | array | string | number | boolean | null', needs: ['object', 'array', 'string', 'number', 'boolean', 'null'] },
  object: { body: '"{" ws ( string ":" ws value ( "," ws string ":" ws value )* ws )? "}"', needs: ['ws', 'string', 'value'] },
  array: { body: '"[" ws ( value ( "," ws value )* ws )? "]"', needs: ['ws', 'value'] },
};

/** A name of a rule that exists in every grammar on demand. */
type BaseRule = keyof typeof BASE_RULES & string;

/** A text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

/** Alternatives as one expression. */
export function oneOf(alternatives: readonly string[]): string {
  return alternatives.length === 1 ? (alternatives[0] ?? '') : `( ${alternatives.join(' | ')} )`;
}

/** The rules of a grammar in GBNF, by name. */
export class GrammarRules {
  readonly #rules = new Map<string, string>();
  readonly #stems = new Map<string, number>();
  readonly #shared = new Map<string, string>();
  /** What the making of the grammar may still cost; failed attempts count too. */
  readonly work = new WorkLimit(MAX_WORK);
  #chars = 0;
  #repetitions = 0;

  /** The name of a ready-made rule, which is added with all that it needs. */
  base(name: BaseRule): string {
    const rule = BASE_RULES[name];
    if (rule && !this.#rules.has(name)) {
      this.set(name, rule.body);
      for (const needed of rule.needs) this.base(needed);
    }
    return name;
  }

  /** A new rule name that resembles `hint`. */
  reserve(hint: string): string {
    const stem =
      hint
        .replaceAll(/[^A-Za-z0-9]+/g, '-')
        .replaceAll(/^-+|-+$/g, '')
        .slice(0, 40) || 'rule';
    // Base rules have no number, so no name is given out twice.
    const count = this.#stems.get(stem) ?? 0;
    this.#stems.set(stem, count + 1);
    const name = `${stem}-n${count}`;
    this.set(name, '');
    return name;
  }

  /** Fills a reserved name. */
  set(name: string, body: string): void {
    this.#chars += body.length;
    this.#rules.set(name, body);
    if (this.#rules.size > MAX_RULES || this.#chars > MAX_GRAMMAR_CHARS || this.#repetitions > MAX_REPETITIONS) {
      throw new Failure(
        'invalid',
        `The schema makes a grammar of more than ${MAX_RULES} rules, ${MAX_GRAMMAR_CHARS} characters or ${MAX_REPETITIONS} repetitions; simplify it, or leave out lengths.`,
        { code: 'schema_too_large' },
      );
    }
  }

  /** A rule with this body, which is made once. */
  shared(hint: string, body: string): string {
    const known = this.#shared.get(body);
    if (known !== undefined) return known;
    const name = this.add(hint, body);
    this.#shared.set(body, name);
    return name;
  }

  /** `item`, which must not be empty, at least `min` times and at most `max` (`Infinity` = any number), both up to `MAX_REPETITION`. */
  repetition(item: string, min: number, max: number): string {
    if (max === 0) return '';
    // The engine writes repetitions out, and those inside others as often, unless they are rules.
    if (item.includes('{') && (min > 1 || (max !== Infinity && max > 1))) return this.repetition(this.shared('unit', item), min, max);
    if (min === 1 && max === 1) return item;
    if (max === Infinity && min <= 1) return `${item}${min === 0 ? '*' : '+'}`;
    if (min === 0 && max === 1) return `${item}?`;
    if (min <= PIECE && (max <= PIECE || max === Infinity)) {
      this.#repetitions += max === Infinity ? min : max;
      return min === max ? `${item}{${min}}` : `${item}{${min},${max === Infinity ? '' : max}}`;
    }
    const unit = item.length > SHORT ? this.shared('unit', item) : item;
    const parts = min === 0 ? [] : [this.#times(unit, min)];
    if (max === Infinity) parts.push(`${unit}*`);
    else if (max > min) parts.push(this.#upTo(unit, max - min));
    return parts.length === 1 ? parts[0]! : `( ${parts.join(' ')} )`;
  }

  /** A rule of a bounded repetition. */
  #bounded(item: string, min: number, max: number): string {
    const body = min === max ? `${item}{${min}}` : `${item}{${min},${max}}`;
    if (!this.#shared.has(body)) this.#repetitions += max;
    return this.shared('times', body);
  }

  #times(item: string, count: number): string {
    const [pieces, rest] = [Math.floor(count / PIECE), count % PIECE];
    const parts = pieces === 0 ? [] : [this.#bounded(this.#bounded(item, PIECE, PIECE), pieces, pieces)];
    if (rest > 0) parts.push(this.#bounded(item, rest, rest));
    return parts.join(' ');
  }

  /** At most `count`: fewer than a piece, or a piece and what is left. No text can be read in two ways, which would slow every token. */
  #upTo(item: string, count: number): string {
    let length = count % PIECE || PIECE;
    let rule = this.#bounded(item, 0, length);
    for (; length < count; length += PIECE)
      rule = this.shared('up-to', `${this.#bounded(item, 0, PIECE - 1)} | ${this.#bounded(item, PIECE, PIECE)} ${rule}`);
    return rule;
  }

  /** Adds a rule and returns its name. */
  add(hint: string, body: string): string {
    const name = this.reserve(hint);
    this.set(name, body);
    return name;
  }

  /** What `make` gives; undefined, with all of its rules forgotten, where it throws a `Failure`, of which `otherwise` hears. */
  attempt<T>(make: () => T, otherwise: (failure: Failure) => void): T | undefined {
    const before = {
      rules: new Set(this.#rules.keys()),
      shared: new Set(this.#shared.keys()),
      chars: this.#chars,
      repetitions: this.#repetitions,
    };
    try {
      return make();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      otherwise(error);
      for (const name of this.#rules.keys()) if (!before.rules.has(name)) this.#rules.delete(name);
      for (const body of this.#shared.keys()) if (!before.shared.has(body)) this.#shared.delete(body);
      [this.#chars, this.#repetitions] = [before.chars, before.repetitions];
      return undefined;
    }
  }

  /** The whole grammar; `root` is the expression of its root rule. */
  text(root: string): string {
    return [`root ::= ${root}`, ...[...this.#rules].map(([name, body]) => `${name} ::= ${body}`), ''].join('\n');
  }
}
