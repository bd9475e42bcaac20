import { Failure } from '../../../schemas/errors.js';

const MAX_CHARS = 64 * 1024;
const MAX_RULES = 2_000;
/** Groups inside one another; the engine reads them by recursion. */
const MAX_DEPTH = 32;
/** Most elements that repetitions write out, all together. */
const MAX_WRITTEN_OUT = 50_000;

/**
 * Comments, texts, classes, names of rules with what defines them, repetitions and groups; one of them at a time. A text or a class that is not
 * closed goes on to the end, so that each character is read once.
 */
const TOKEN = /#[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|\[(?:[^\]\\]|\\[\s\S])*\]?|([A-Za-z0-9_-]+)(\s*::=)?|\{(\d{0,9})(?:,(\d{0,9}))?\}|[()]/g;

/**
 * A caller's GBNF grammar, bounded before an engine sees it: size, rules, depth and repetitions. Whether its syntax is right the engine says.
 * `name` is the field that it came in. Throws `Failure('invalid')`.
 */
export function checkedGbnf(text: string, name: string): string {
  const refuse = (why: string): never => {
    throw new Failure('invalid', `${name} ${why}; simplify the grammar.`, { code: 'unsupported_grammar' });
  };
  if (text.length > MAX_CHARS) refuse(`has ${text.length} characters, and ${MAX_CHARS} are allowed`);
  let [rules, depth, writtenOut, last] = [0, 0, 0, 0];
  let rooted = false;
  for (const [token, word, defines, min, max] of text.matchAll(TOKEN)) {
    if (defines !== undefined) {
      rules += 1;
      rooted ||= word === 'root';
    } else if (min !== undefined) {
      writtenOut += last * Math.max(Number(min), Number(max ?? 0));
    } else if (token === '(') {
      depth += 1;
      if (depth > MAX_DEPTH) refuse(`has groups nested deeper than ${MAX_DEPTH}`);
    } else if (token === ')') {
      depth -= 1;
    }
    if (min === undefined) last = word === undefined && token.length > 1 ? token.length : 1;
    if (rules > MAX_RULES) refuse(`has more than ${MAX_RULES} rules`);
    if (writtenOut > MAX_WRITTEN_OUT) refuse(`repeats more than ${MAX_WRITTEN_OUT} elements`);
  }
  if (!rooted)
    throw new Failure('invalid', `${name} is no GBNF grammar with a rule named root (root ::= …).`, { code: 'unsupported_grammar' });
  return text;
}

/** The grammar with its root rule under another name. */
export function renameRoot(grammar: string, name: string): string {
  return grammar.replaceAll(TOKEN, (token, word: string | undefined) => (word === 'root' ? token.replace('root', name) : token));
}

/** What a grammar's expression is made of. `least` counts the characters of the shortest text that it takes; undefined until it is known. */
export type GrammarNode = { least?: number } & (
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'characters'; readonly ranges: readonly (readonly [from: number, to: number])[]; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly nodes: readonly GrammarNode[] }
  /** `choice` is the alternative of the shortest text. */
  | { readonly kind: 'alternatives'; readonly nodes: readonly GrammarNode[]; choice?: GrammarNode }
  | { readonly kind: 'repetition'; readonly node: GrammarNode; readonly min: number; readonly max: number }
  | { readonly kind: 'rule'; readonly name: string }
);

const TREE_TOKEN = /\s+|#[^\n]*|"((?:[^"\\]|\\[\s\S])*)"|\[((?:[^\]\\]|\\[\s\S])*)\]|([A-Za-z0-9_-]+)|([?*+|()])|\{(\d+)(?:(,)(\d*))?\}/y;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))|([\s\S])/gu;
const CONTROL: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const QUANTIFIERS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '?': [0, 1],
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
};

/** The rules of a grammar that `GrammarRules` wrote, one on each line, by name. Throws `Error` for any other text. */
export function grammarTree(text: string): Map<string, GrammarNode> {
  const rules = new Map<string, GrammarNode>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const at = line.indexOf(' ::= ');
    if (at < 0) throw new Error(`no rule: ${line.slice(0, 40)}`);
    rules.set(line.slice(0, at), new ExpressionReader(line.slice(at + 5)).read());
  }
  return rules;
}

class ExpressionReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    TREE_TOKEN.lastIndex = 0;
  }

  /** Up to the end, or to the bracket that closes a group. */
  read(): GrammarNode {
    const alternatives: GrammarNode[] = [];
    let nodes: GrammarNode[] = [];
    const sequence = (): GrammarNode => (nodes.length === 1 ? nodes[0]! : { kind: 'sequence', nodes });
    while (TREE_TOKEN.lastIndex < this.#text.length) {
      const from = TREE_TOKEN.lastIndex;
      const found = TREE_TOKEN.exec(this.#text);
      if (!found) throw new Error(`not understood: ${this.#text.slice(from, from + 40)}`);
      const [, quoted, classed, name, sign, min, comma, max] = found;
      if (quoted !== undefined) nodes.push(literalNode(quoted));
      else if (classed !== undefined) nodes.push(classNode(classed));
      else if (name !== undefined) nodes.push({ kind: 'rule', name });
      else if (min !== undefined) {
        const most = comma === undefined ? Number(min) : max ? Number(max) : Number.POSITIVE_INFINITY;
        nodes.push({ kind: 'repetition', node: nodes.pop()!, min: Number(min), max: most });
      } else if (sign === '(') nodes.push(this.read());
      else if (sign === ')') break;
      else if (sign === '|') {
        alternatives.push(sequence());
        nodes = [];
      } else if (sign !== undefined) {
        const [least, most] = QUANTIFIERS[sign]!;
        nodes.push({ kind: 'repetition', node: nodes.pop()!, min: least, max: most });
      }
    }
    return alternatives.length === 0 ? sequence() : { kind: 'alternatives', nodes: [...alternatives, sequence()] };
  }
}

/** The characters of a text with escapes, each with whether it was escaped. */
function* charactersOf(text: string): Generator<{ code: number; escaped: boolean }> {
  for (const [, byte, unit, point, letter, plain] of text.matchAll(ESCAPE)) {
    const hex = byte ?? unit ?? point;
    if (hex !== undefined) yield { code: Number.parseInt(hex, 16), escaped: true };
    else if (letter !== undefined) yield { code: (CONTROL[letter] ?? letter).codePointAt(0)!, escaped: true };
    else yield { code: plain!.codePointAt(0)!, escaped: false };
  }
}

function literalNode(text: string): GrammarNode {
  return { kind: 'literal', text: [...charactersOf(text)].map(({ code }) => String.fromCodePoint(code)).join('') };
}

function classNode(text: string): GrammarNode {
  const negated = text.startsWith('^');
  const all = [...charactersOf(negated ? text.slice(1) : text)];
  const ranges: [number, number][] = [];
  for (let at = 0; at < all.length; at += 1) {
    const { code } = all[at]!;
    const isRange = all[at + 1]?.code === 0x2d && !all[at + 1]!.escaped && all[at + 2] !== undefined;
    ranges.push([code, isRange ? all[at + 2]!.code : code]);
    if (isRange) at += 2;
  }
  return { kind: 'characters', ranges, negated };
}
