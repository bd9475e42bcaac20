import { isUtf8 } from 'node:buffer';
import type { NativeScheduler } from '../../../native/contract.js';
import type { GenerateEvent } from '../contracts/language.js';
import { StopFinder, TextAssembler } from './text.js';

/** Stands for a probability of 0, whose logarithm JSON cannot hold. */
const LEAST_LOGPROB = -9999;

/** What a token says. */
export interface Piece {
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

  /** A token as the logprobs list shows it. */
  shown(token: number, logprob: number): { token: string; logprob: number; bytes: number[] } {
    const { bytes, text } = this.of(token);
    return { token: text ?? Buffer.from(bytes).toString('utf8'), logprob: Math.max(logprob, LEAST_LOGPROB), bytes: [...bytes] };
  }

  /** One row's logprobs: the token's, the count of others, then pairs of token and logprob. */
  logprobs(token: number, values: Float64Array, offset: number): NonNullable<GenerateEvent['logprobs']>[number] {
    const count = values[offset + 1]!;
    const top = Array.from({ length: count }, (_, index) => this.shown(values[offset + 2 + index * 2]!, values[offset + 3 + index * 2]!));
    return { ...this.shown(token, values[offset]!), top };
  }
}

/** A piece without the space that it may begin with. */
export function withoutSpace({ text, bytes }: Piece): Piece {
  const isSpaced = bytes[0] === 0x20;
  return isSpaced ? { text: text?.slice(1), bytes: bytes.subarray(1) } : { text, bytes };
}

/** Most tokens of an answer, beside its thinking and the tags around that. */
export interface AnswerLimit {
  readonly tokens: number;
  /** Tokens of the tags that a thinking block costs. */
  readonly tagTokens: number;
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
