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
export function unreadableSchema(line: number, reason: string): Failure {
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
      if (!'#\r\n'.includes(text[at] ?? '\n')) pushIndent(tokens, indents, text.slice(start, at).replaceAll('\t', TAB).length, line);
      continue;
    }
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (!found)
      throw unreadableSchema(line, `${JSON.stringify(text.slice(at, at + 10).split('\n')[0])} is not understood in a schema file`);
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
      if (depth > MAX_DEPTH) throw unreadableSchema(line, `more than ${MAX_DEPTH} brackets are open`);
      if (CLOSE.includes(piece)) depth = Math.max(0, depth - 1);
      tokens.push({ kind: 'operator', text: piece, line });
    }
    line += piece.split('\n').length - 1;
    at += piece.length;
  }
  tokens.push({ kind: 'newline', text: '', line });
  pushIndent(tokens, indents, 0, line);
  tokens.push({ kind: 'end', text: 'the end of the file', line });
  return tokens;
}

function pushIndent(tokens: Token[], indents: number[], width: number, line: number): void {
  if (width > indents.at(-1)!) {
    indents.push(width);
    tokens.push({ kind: 'indent', text: 'an indentation', line });
  }
  while (width < indents.at(-1)!) {
    indents.pop();
    tokens.push({ kind: 'dedent', text: 'the end of a block', line });
  }
  if (width !== indents.at(-1)) throw unreadableSchema(line, 'the indentation matches no line above');
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
    if (value === undefined) throw unreadableSchema(line, `the escape ${whole} is not supported`);
    return value;
  });
}

/** A value as a Python file writes it; undefined = an expression that only Python can evaluate. */
export type Literal = string | number | boolean | null | undefined | Literal[] | { [key: string]: Literal };

/** Reads tokens one after the other; everything unexpected is a `bad_request` naming the line. */
export class Cursor {
  #at = 0;

  /** `values` are those of names that the file gives a value: constants, and members of enumerations as `Class.MEMBER`. */
  constructor(
    readonly tokens: readonly Token[],
    readonly values: ReadonlyMap<string, Literal> = new Map(),
  ) {}

  get token(): Token {
    return this.tokens[this.#at]!;
  }

  get next(): Token | undefined {
    return this.tokens[this.#at + 1];
  }

  /** Takes the token if it has this text or kind. */
  take(wanted: string): Token | undefined {
    const { token } = this;
    const fits = token.kind === wanted || ((token.kind === 'operator' || token.kind === 'name') && token.text === wanted);
    if (!fits) return undefined;
    if (token.kind !== 'end') this.#at += 1;
    return token;
  }

  /** Takes a token that must be there. */
  expect(wanted: string): Token {
    return this.take(wanted) ?? this.refuse(`${wanted} is expected`);
  }

  refuse(reason: string, line = this.token.line): never {
    throw unreadableSchema(line, `${reason}; this is ${JSON.stringify(this.token.text)}`);
  }

  /** A dotted name; the last part tells what it is. */
  dotted(): string {
    return this.#path().at(-1)!;
  }

  #path(): string[] {
    const names = [this.expect('name').text];
    while (this.take('.')) names.push(this.expect('name').text);
    return names;
  }

  /** Items up to a closing bracket, commas between them. */
  list(close: string, item: () => void): void {
    while (!this.take(close)) {
      item();
      if (!this.take(',')) {
        this.expect(close);
        return;
      }
    }
  }

  /** Skips what is left of a line. */
  skipLine(): void {
    while (this.token.kind !== 'newline' && this.token.kind !== 'end') this.#at += 1;
  }

  literal(): Literal {
    const { token } = this;
    if (token.kind === 'string') {
      let text = '';
      for (let part = this.take('string'); part; part = this.take('string')) text += part.value;
      return text;
    }
    if (this.take('-')) return -Number(this.expect('number').value);
    if (this.take('number')) return token.value;
    if (this.take('...')) return undefined;
    if (this.take('True')) return true;
    if (this.take('False')) return false;
    if (this.take('None')) return null;
    if (this.take('[') || this.take('(')) return this.#items(token.text === '[' ? ']' : ')');
    if (this.take('{')) return this.#members();
    if (token.kind !== 'name') return this.refuse('a plain value is expected');
    if (this.take('lambda')) {
      this.expect(':');
      return this.literal();
    }
    const name = this.#path().slice(-2).join('.');
    if (!this.take('(')) return this.values.get(name);
    this.#skipCall();
    return undefined;
  }

  /** Skips the arguments of a call, whose bracket is open. */
  #skipCall(): void {
    for (let depth = 1; depth > 0; this.#at += 1) {
      if (this.token.kind === 'end') this.refuse(') is expected');
      if (this.token.kind !== 'operator') continue;
      if ('([{'.includes(this.token.text)) depth += 1;
      else if (')]}'.includes(this.token.text)) depth -= 1;
    }
  }

  /** A literal whose value the text itself tells. */
  plain(): Exclude<Literal, undefined> {
    const { text, line } = this.token;
    const value = this.literal();
    if (value === undefined) throw unreadableSchema(line, `only Python knows the value of ${text}...; write a text or a number`);
    return value;
  }

  #items(close: string): Literal[] {
    const items: Literal[] = [];
    this.list(close, () => items.push(this.literal()));
    return items;
  }

  #members(): { [key: string]: Literal } {
    const members: [string, Literal][] = [];
    this.list('}', () => {
      const key = this.literal();
      this.expect(':');
      members.push([String(key), this.literal()]);
    });
    return Object.fromEntries(members);
  }
}
