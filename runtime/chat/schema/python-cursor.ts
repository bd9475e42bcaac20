import { type Token, unreadable } from './python-tokens.js';

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
    throw unreadable(line, `${reason}; this is ${JSON.stringify(this.token.text)}`);
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
    if (value === undefined) throw unreadable(line, `only Python knows the value of ${text}...; write a text or a number`);
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
