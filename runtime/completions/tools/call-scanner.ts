/** Most characters of one call; longer ones are no calls. */
const MAX_CALL_CHARS = 1_000_000;
const BLANK = /\s/;

/** What a finished call says: its name and its arguments as compact JSON text. */
interface ScannedCall {
  name: string;
  arguments: string;
}

/** Reads a JSON object as a tool call; null when it has no name or the arguments are not an object. */
export function readCall(json: string): ScannedCall | null {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const { name, arguments: args, parameters } = value as Record<string, unknown>;
    if (typeof name !== 'string' || name.trim() === '') return null;
    const given = args ?? parameters ?? {};
    const object: unknown = typeof given === 'string' ? JSON.parse(given.trim() === '' ? '{}' : given) : given;
    if (typeof object !== 'object' || object === null || Array.isArray(object)) return null;
    return { name, arguments: JSON.stringify(object) };
  } catch {
    return null;
  }
}

/**
 * Follows one JSON object `{"name": …, "arguments": {…}}` character by character: the name as soon as its string closes, the arguments as
 * they grow (blank space outside strings left out), and the end of the object. Llama's `parameters` counts as `arguments`.
 */
export class CallScanner {
  /** Every character taken. */
  raw = '';
  /** The object is complete. */
  done = false;
  /** This cannot become a call. */
  failed = false;
  /** Set when the value of `name` is complete. */
  name: string | undefined;
  /** The compact arguments so far; only a value that is an object is followed. */
  arguments = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The string that is being read at depth 1, or the last one read. */
  #string = '';
  #key = '';
  #afterColon = false;
  #inArguments = false;

  /** Takes one character. */
  take(char: string): void {
    this.raw += char;
    if (this.raw.length > MAX_CALL_CHARS) this.failed = true;
    else if (this.#inString) this.#takeInString(char);
    else this.#takeOutside(char);
  }

  #takeInString(char: string): void {
    if (this.#inArguments) this.arguments += char;
    else if (this.#depth === 1) this.#string += char;
    if (this.#escaped) this.#escaped = false;
    else if (char === '\\') this.#escaped = true;
    else if (char === '"') {
      this.#inString = false;
      if (this.#depth === 1 && !this.#inArguments) this.#stringEnded();
    }
  }

  #stringEnded(): void {
    let value: string;
    try {
      value = JSON.parse(this.#string) as string;
    } catch {
      this.failed = true;
      return;
    }
    if (!this.#afterColon) this.#key = value;
    else if (this.#key === 'name') {
      if (value.trim() === '') this.failed = true;
      else this.name = value;
    }
  }

  #takeOutside(char: string): void {
    if (BLANK.test(char)) return;
    if (this.#depth === 0 && char !== '{') {
      this.failed = true;
      return;
    }
    if (char === '{' && this.#depth === 1 && this.#afterColon && (this.#key === 'arguments' || this.#key === 'parameters')) {
      this.#inArguments = this.arguments === '';
    }
    if (this.#inArguments) this.arguments += char;
    if (char === '"') {
      this.#inString = true;
      this.#string = '"';
    } else if (char === '{' || char === '[') this.#depth += 1;
    else if (char === '}' || char === ']') this.#closed();
    else if (this.#depth === 1 && char === ':') this.#afterColon = true;
    else if (this.#depth === 1 && char === ',') this.#afterColon = false;
  }

  #closed(): void {
    this.#depth -= 1;
    if (this.#depth === 1) this.#inArguments = false;
    if (this.#depth === 0) this.done = true;
  }
}
