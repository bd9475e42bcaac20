import { TextDecoder } from 'node:util';

/** Assembles the text of one generation from the bytes of its tokens; characters cut by a token border wait for their rest, and are left out where none comes. */
export class TextAssembler {
  #decoder: TextDecoder | undefined;
  #pending = false;

  /** `text` is the token's text where its bytes are whole characters; else undefined. */
  add(text: string | undefined, bytes: Uint8Array): string {
    if (text !== undefined && !this.#pending) return text;
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    const out = this.#decoder.decode(bytes, { stream: true });
    // Whole characters flush what was pending; whether something still is shows in the last bytes.
    this.#pending = endsIncomplete(bytes, this.#pending);
    return out;
  }
}

/** True where the last bytes begin a character that needs more. `before` = the same of what came before, for bytes that only continue. */
function endsIncomplete(bytes: Uint8Array, before: boolean): boolean {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return false;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
  }
  // Only continuation bytes: the decoder must be asked as long as something was pending; it flushes what it completes.
  return before;
}

/** Finds stop strings across token borders; text that is or may become one is held back. */
export class StopFinder {
  readonly #stops: readonly string[];
  readonly #longest: number;
  #held = '';
  /** The stop string that was found; nothing is given out after it. */
  found: string | undefined;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
    this.#longest = Math.max(0, ...this.#stops.map((stop) => stop.length));
  }

  /** The text that can be given out now. */
  add(text: string): string {
    if (this.#longest === 0) return text;
    if (this.found !== undefined) return '';
    const all = this.#held + text;
    const places = this.#stops.map((stop) => ({ stop, at: all.indexOf(stop) })).filter(({ at }) => at >= 0);
    if (places.length > 0) {
      const { stop, at } = places.reduce((first, other) => (other.at < first.at ? other : first));
      this.found = stop;
      this.#held = '';
      return all.slice(0, at);
    }
    const keep = this.#heldLength(all);
    this.#held = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** What was held back, when no more text comes. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  /** Length of the longest end of `all` that begins a stop string. */
  #heldLength(all: string): number {
    for (let length = Math.min(this.#longest - 1, all.length); length > 0; length -= 1) {
      const end = all.slice(all.length - length);
      if (this.#stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }
}
