/** The members of a JSON object that is a tool call in some model's form. */
const CALL_MEMBERS: ReadonlySet<string> = new Set([
  'name',
  'function',
  'arguments',
  'tool_call',
  'tool_calls',
  'function_call',
  'type',
  'id',
  'parameters',
]);

/** One of these makes an object a call. */
const CALL_NAMES = ['name', 'function', 'tool_call', 'tool_calls', 'function_call'];

/** A longer object is text. */
const LONGEST_OBJECT = 64 * 1024;

/** An object or a list of objects whose first member has only begun. */
const BEGINNING = /^(?:\[\s*)?(?:\{\s*(?:"[^"]*"?)?)?$/;

/** An object or a list of objects whose first member makes it a call. */
const BEGUN_CALL = /^(?:\[\s*)?\{\s*"(?:name|function|tool_calls?|function_call)"/;

/** Tags that models put around calls. */
const TAGS = /<\/?tool_calls?>/g;

/** Leaves JSON that looks like a tool call out of a streamed text: nobody wants to hear it. */
export class CallFilter {
  #held = '';
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** Takes the next text; returns what may be spoken of it. */
  push(text: string): string {
    let out = '';
    for (const char of text) out += this.#take(char);
    return out.replace(TAGS, '');
  }

  /** What was held back and is no call. */
  end(): string {
    const rest = BEGUN_CALL.test(this.#held) ? '' : this.#held;
    this.#reset();
    return rest;
  }

  #take(char: string): string {
    if (this.#held === '' && char !== '{' && char !== '[') return char;
    this.#held += char;
    if (this.#inString) this.#takeInString(char);
    else if (char === '"') this.#inString = true;
    else if (char === '{' || char === '[') this.#depth += 1;
    else if (char === '}' || char === ']') this.#depth -= 1;
    if (this.#depth === 0) return this.#decide();
    const isShort = this.#held.length < LONGEST_OBJECT;
    return isShort && (this.#hasMember() || BEGINNING.test(this.#held)) ? '' : this.#release();
  }

  #takeInString(char: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === '\\') this.#isEscaped = true;
    else if (char === '"') this.#inString = false;
  }

  /** Whether the text goes on as an object with members, which alone can be a call. */
  #hasMember(): boolean {
    return /^(?:\[\s*)?\{\s*"[^"]*"\s*(?::|$)/.test(this.#held.slice(0, 64));
  }

  #decide(): string {
    const held = this.#release();
    try {
      return isCall(JSON.parse(held)) ? '' : held;
    } catch {
      return held;
    }
  }

  #release(): string {
    const held = this.#held;
    this.#reset();
    return held;
  }

  #reset(): void {
    this.#held = '';
    this.#depth = 0;
    this.#inString = false;
    this.#isEscaped = false;
  }
}

function isCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCall);
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).every((name) => CALL_MEMBERS.has(name)) && CALL_NAMES.some((name) => Object.hasOwn(value, name));
}
