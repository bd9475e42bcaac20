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
export function withRootNamed(grammar: string, name: string): string {
  return grammar.replaceAll(TOKEN, (token, word: string | undefined) => (word === 'root' ? token.replace('root', name) : token));
}
