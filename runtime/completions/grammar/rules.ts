import { Failure } from '../../../schemas/errors.js';

/** Most rules and characters of a grammar; more would slow every sampled token. */
const MAX_RULES = 5_000;
const MAX_GRAMMAR_CHARS = 512 * 1024;
/** Most repetitions in all bounds together, since the engine writes each one out. */
const MAX_REPETITIONS = 20_000;
const BOUNDS = /\{(\d+)(?:,(\d*))?\}/g;

/** Rules that every grammar may use; each is added with what it needs. */
const BASE_RULES: Record<string, { body: string; needs: string[] }> = {
  ws: { body: '( " " | "\\n" [ \\t]{0,16} )?', needs: [] },
  hex: { body: '[0-9a-fA-F]', needs: [] },
  char: { body: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ( ["\\\\/bfnrt] | "u" hex hex hex hex )', needs: ['hex'] },
  string: { body: '"\\"" char* "\\""', needs: ['char'] },
  number: { body: '"-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,3} )?', needs: [] },
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
    for (const [, min, max] of body.matchAll(BOUNDS)) this.#repetitions += Math.max(Number(min), Number(max || 0));
    this.#rules.set(name, body);
    if (this.#rules.size > MAX_RULES || this.#chars > MAX_GRAMMAR_CHARS || this.#repetitions > MAX_REPETITIONS) {
      throw new Failure(
        'invalid',
        `The schema makes a grammar of more than ${MAX_RULES} rules, ${MAX_GRAMMAR_CHARS} characters or ${MAX_REPETITIONS} repetitions; simplify it, or leave out lengths.`,
        { code: 'schema_too_large' },
      );
    }
  }

  /** Adds a rule and returns its name. */
  add(hint: string, body: string): string {
    const name = this.reserve(hint);
    this.set(name, body);
    return name;
  }

  /** The whole grammar; `root` is the expression of its root rule. */
  text(root: string): string {
    return [`root ::= ${root}`, ...[...this.#rules].map(([name, body]) => `${name} ::= ${body}`), ''].join('\n');
  }
}
