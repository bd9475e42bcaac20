import { Failure } from '../../../schemas/errors.js';

/** A piece of Python text. Lines inside brackets are joined, blank ones and comments are gone; `value` is that of a string or number. */
export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'operator' | 'newline' | 'indent' | 'dedent' | 'end';
  readonly text: string;
  readonly line: number;
  readonly value?: string | number;
}

const PIECE =
  /(?<blank>[ \t\f]+|\\\r?\n|#[^\n]*)|(?<newline>\r?\n)|(?<string>[rRuU]?(?:"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'))|(?<number>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_]\w*)|(?<operator>\.\.\.|->|\*\*|[-+*/@=:,.|()[\]{}])/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '', 0: '\0' };
const TAB = ' '.repeat(8);
/** Brackets within brackets. */
const MAX_DEPTH = 64;
const OPEN = '([{';
const CLOSE = ')]}';

/** The 400 of a schema file that cannot be read, with the line at fault. */
export function unreadable(line: number, reason: string): Failure {
  return new Failure('bad_request', `line ${line}: ${reason}`, { code: 'SchemaNotSupported' });
}

/** Cuts the text of a Python file into tokens. Throws `bad_request` naming the line that it cannot cut. */
export function pythonTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const indents = [0];
  let [at, line, depth, fresh] = [0, 1, 0, true];
  while (at < text.length) {
    if (fresh) {
      fresh = false;
      const start = at;
      while (text[at] === ' ' || text[at] === '\t') at += 1;
      // Blank lines and comments have no indentation.
      if (!'#\r\n'.includes(text[at] ?? '\n')) indent(tokens, indents, text.slice(start, at).replaceAll('\t', TAB).length, line);
      continue;
    }
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (!found) throw unreadable(line, `${JSON.stringify(text.slice(at, at + 10).split('\n')[0])} is not understood in a schema file`);
    const [piece] = found;
    const { newline, string, number, name, operator } = found.groups!;
    if (newline !== undefined && depth === 0) {
      if (tokens.at(-1) && !['newline', 'indent', 'dedent'].includes(tokens.at(-1)!.kind)) tokens.push({ kind: 'newline', text: '', line });
      fresh = true;
    } else if (string !== undefined) tokens.push({ kind: 'string', text: piece, line, value: stringValue(piece, line) });
    else if (number !== undefined) tokens.push({ kind: 'number', text: piece, line, value: Number(piece.replaceAll('_', '')) });
    else if (name !== undefined) tokens.push({ kind: 'name', text: piece, line });
    else if (operator !== undefined) {
      if (OPEN.includes(piece)) depth += 1;
      if (depth > MAX_DEPTH) throw unreadable(line, `more than ${MAX_DEPTH} brackets are open`);
      if (CLOSE.includes(piece)) depth = Math.max(0, depth - 1);
      tokens.push({ kind: 'operator', text: piece, line });
    }
    line += piece.split('\n').length - 1;
    at += piece.length;
  }
  tokens.push({ kind: 'newline', text: '', line });
  indent(tokens, indents, 0, line);
  tokens.push({ kind: 'end', text: 'the end of the file', line });
  return tokens;
}

function indent(tokens: Token[], indents: number[], width: number, line: number): void {
  if (width > indents.at(-1)!) {
    indents.push(width);
    tokens.push({ kind: 'indent', text: 'an indentation', line });
  }
  while (width < indents.at(-1)!) {
    indents.pop();
    tokens.push({ kind: 'dedent', text: 'the end of a block', line });
  }
  if (width !== indents.at(-1)) throw unreadable(line, 'the indentation matches no line above');
}

function stringValue(piece: string, line: number): string {
  const prefix = /^[A-Za-z]*/.exec(piece)![0];
  const quoted = piece.slice(prefix.length);
  const width = /^(?:"""|''')/.test(quoted) ? 3 : 1;
  const inner = quoted.slice(width, -width);
  if (/r/i.test(prefix)) return inner;
  return inner.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))/g, (whole, byte?: string, unit?: string, letter?: string) => {
    const code = byte ?? unit;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    const value = ESCAPES[letter!];
    if (value === undefined) throw unreadable(line, `the escape ${whole} is not supported`);
    return value;
  });
}
