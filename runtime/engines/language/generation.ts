import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { NativeScheduler } from '../../../native/contract.js';
import type { GenerateEvent, GenerateRequest } from '../contracts/language.js';
import { requireTokens } from './templates/renderer.js';

/** Stands for a probability of 0, whose logarithm JSON cannot hold. */
const LEAST_LOGPROB = -9999;

/** What a token says. */
interface Piece {
  /** The token's text where its bytes are whole characters. */
  readonly text: string | undefined;
  readonly bytes: Uint8Array;
}

/** Token ids to texts, each asked of the engine once. */
export class TokenTexts {
  readonly #engine: Pick<NativeScheduler, 'tokenBytes'>;
  readonly #pieces = new Map<number, Piece>();

  constructor(engine: Pick<NativeScheduler, 'tokenBytes'>) {
    this.#engine = engine;
  }

  of(token: number): Piece {
    const known = this.#pieces.get(token);
    if (known) return known;
    // Control tokens that a model writes are shown: formats of tool calls and thinking are made of them.
    const bytes = this.#engine.tokenBytes(token, true);
    const piece = { bytes, text: isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : undefined };
    this.#pieces.set(token, piece);
    return piece;
  }

  /** The text of tokens of a vocabulary of that size. Throws `invalid` for one that it does not have. */
  textOfTokens(tokens: Int32Array, vocabularySize: number): string {
    requireTokens(tokens, vocabularySize);
    return Buffer.concat(Array.from(tokens, (token) => this.of(token).bytes)).toString('utf8');
  }

  /** A token as the logprobs list shows it. */
  tokenWithLogprob(token: number, logprob: number): { token: string; logprob: number; bytes: number[] } {
    const { bytes, text } = this.of(token);
    return { token: text ?? Buffer.from(bytes).toString('utf8'), logprob: Math.max(logprob, LEAST_LOGPROB), bytes: [...bytes] };
  }

  /** One row's logprobs: the token's, the count of others, then pairs of token and logprob. */
  logprobs(token: number, values: Float64Array, offset: number): NonNullable<GenerateEvent['logprobs']>[number] {
    const count = values[offset + 1]!;
    const top = Array.from({ length: count }, (_, index) =>
      this.tokenWithLogprob(values[offset + 2 + index * 2]!, values[offset + 3 + index * 2]!),
    );
    return { ...this.tokenWithLogprob(token, values[offset]!), top };
  }
}

/** A piece without the space that it may begin with. */
export function withoutSpace({ text, bytes }: Piece): Piece {
  const isSpaced = bytes[0] === 0x20;
  return isSpaced ? { text: text?.slice(1), bytes: bytes.subarray(1) } : { text, bytes };
}

/** Most tokens of an answer, beside its thinking and the tags around that. */
interface AnswerLimit {
  readonly tokens: number;
  /** Tokens of the tags that a thinking block costs. */
  readonly tagTokens: number;
}

/** The tags around what a model thinks before it answers. */
export const THINKING_TAGS = { start: '<think>', end: '</think>' } as const;

/** The limit that a request sets to its answer, by the tokens of the two tags; undefined where it sets none. */
export function answerLimitOf(
  { answerTokens, startsInThinking }: Pick<GenerateRequest, 'answerTokens' | 'startsInThinking'>,
  tags: { readonly start: ArrayLike<number>; readonly end: ArrayLike<number> },
): AnswerLimit | undefined {
  if (answerTokens === undefined) return undefined;
  return { tokens: answerTokens, tagTokens: tags.end.length + (startsInThinking ? 0 : tags.start.length) };
}

/** The text side of one running generation. */
export class Generation {
  readonly #text = new TextAssembler();
  readonly #stops: StopFinder;
  readonly #limit: AnswerLimit | undefined;

  /** `tokens` takes those that are generated, where somebody wants them. */
  constructor(
    stops: readonly string[],
    limit?: AnswerLimit,
    readonly tokens?: number[],
  ) {
    this.#stops = new StopFinder(stops);
    this.#limit = limit;
  }

  /** Whether an answer has all its tokens: of those generated, what is neither thinking nor its tags. */
  isFull(generated: number, thinking: number): boolean {
    if (!this.#limit) return false;
    const { tokens, tagTokens } = this.#limit;
    // Before the first thought nobody knows whether tags come.
    return thinking > 0 ? generated - thinking - tagTokens >= tokens : generated >= Math.max(tokens, tagTokens + 1);
  }

  /** The stop string that was found. */
  get stopText(): string | undefined {
    return this.#stops.found;
  }

  /** The text that a token makes sure of. */
  add(piece: Piece): string {
    return this.#stops.add(this.#text.add(piece.text, piece.bytes));
  }

  /** The rest, when the engine has ended. */
  end(): string {
    return this.#stops.end();
  }
}

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
