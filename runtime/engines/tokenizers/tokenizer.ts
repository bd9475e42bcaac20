import type { Tokenizer } from '@huggingface/tokenizers';
import { Failure } from '../../../schemas/errors.js';
import { openTokenizer } from './open-tokenizer.js';

/** Characters that are read per token wanted, before the text is read on: longer texts are cut, and most of a long one is never looked at. */
const CHARACTERS_PER_TOKEN = 16;
/** Characters that are read at first, however many tokens are wanted. */
const FIRST_CHARACTERS = 65_536;
/** Tokens beyond the wanted ones, so that the cut does not show in them: more than a word of WordPiece can have, which may be cut in two. */
const SLACK_TOKENS = 128;
/** Padding tokens of the usual vocabularies; what stands in the padding does not matter, but must be in the vocabulary. */
const PADDING = ['[PAD]', '<pad>', '<|endoftext|>'];
const PROBES = ['a', 'b'] as const;

/** The tokens of one text without those that frame it. */
interface Body {
  readonly ids: readonly number[];
  /** Their texts as the vocabulary spells them. */
  readonly tokens: readonly string[];
}

/** What goes into a graph for one text or pair. */
export interface Encoded {
  readonly ids: readonly number[];
  /** Segment of each token. */
  readonly types: readonly number[];
  /** Where the (first) text's own tokens begin. */
  readonly bodyStart: number;
}

/** Ids and segments that the tokenizer puts before, between and after texts. */
interface Frame {
  readonly before: Piece;
  readonly between: Piece;
  readonly after: Piece;
  readonly types: readonly [number, number];
}

interface Piece {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

interface Part {
  readonly ids: readonly number[];
  readonly type: number;
}

/** How tokens are spelled: `wordpiece` marks continuations, `bytes` spells bytes, `pieces` marks spaces. */
export type Spelling = 'wordpiece' | 'bytes' | 'pieces';

/** The tokenizer of an encoder: texts to ids within a length. */
export class EncoderTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #single: Frame;
  readonly #pair: Frame;
  readonly #keepsEnd: boolean;
  readonly spelling: Spelling;
  readonly unknown: string | undefined;

  /** `definition` and `config` are the contents of `tokenizer.json` and `tokenizer_config.json`. Throws `Failure('invalid')` for what is no tokenizer. */
  constructor(definition: object, config: object) {
    const { model, post_processor: around } = definition as { model: { type?: string }; post_processor?: PostProcessor | null };
    try {
      this.#tokenizer = openTokenizer(definition, config);
      const [first, second] = PROBES.map((text) => this.#bodyOf(text).ids) as [readonly number[], readonly number[]];
      this.#single = frameOf(this.#tokenizer.encode(PROBES[0], { return_token_type_ids: true }), [first]);
      const pair = this.#tokenizer.encode(PROBES[0], { text_pair: PROBES[1], return_token_type_ids: !isOneSegment(around) });
      this.#pair = frameOf(pair, [first, second]);
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(
        'invalid',
        `tokenizer.json is not a usable tokenizer: ${(error as Error).message}. Get the file again from its source.`,
        {
          code: 'InvalidModelFile',
          cause: error,
        },
      );
    }
    this.#keepsEnd = keepsEnd(definition, config);
    const isByteLevel = JSON.stringify((definition as { pre_tokenizer?: unknown }).pre_tokenizer ?? null).includes('"ByteLevel"');
    this.spelling = isByteLevel ? 'bytes' : model.type === 'WordPiece' || 'continuing_subword_prefix' in model ? 'wordpiece' : 'pieces';
    this.unknown = this.#tokenizer.model?.unk_token;
  }

  /** Tokens that frame a text, or a pair. */
  framing(isPair: boolean): number {
    const frame = isPair ? this.#pair : this.#single;
    return frame.before.ids.length + frame.between.ids.length + frame.after.ids.length;
  }

  /** The first `limit` tokens of a text, and often more, of which the last ones may be those of a cut. */
  body(text: string, limit: number): Body {
    for (let length = Math.min(Math.max(1, limit) * CHARACTERS_PER_TOKEN, FIRST_CHARACTERS); length < text.length; length *= 2) {
      const body = this.#bodyOf(text.slice(0, length));
      if (body.ids.length >= limit + SLACK_TOKENS) return body;
    }
    return this.#bodyOf(text);
  }

  /** What `limit` tokens can be kept of, and often more: the beginning of a text, or its end where the tokenizer's files say so. */
  truncated(text: string, limit: number): Body {
    return this.#keepsEnd ? this.#end(text, limit) : this.body(text, limit);
  }

  /** One text in its frame, what `truncated` gave, cut to `limit` tokens in all. */
  text(kept: Body, limit: number): Encoded {
    const room = Math.max(0, limit - this.framing(false));
    return framed(this.#single, [this.#cut(kept, room)]);
  }

  /** The beginning of one text in its frame, cut to `limit` tokens in all. */
  single(body: Body, limit: number): Encoded {
    const room = Math.max(0, limit - this.framing(false));
    return framed(this.#single, [body.ids.slice(0, room)]);
  }

  /** Two texts in their frame, as `kept` gave them; where they are too long, the longer one is cut first, as Python's tokenizers do. */
  pair(first: Body, second: Body, limit: number): Encoded {
    const room = Math.max(0, limit - this.framing(true));
    const [shorter, longer] = [first.ids.length, second.ids.length].sort((a, b) => a - b) as [number, number];
    const half = Math.floor(room / 2);
    const lengths = shorter + longer <= room ? [shorter, longer] : shorter <= half ? [shorter, room - shorter] : [half, room - half];
    if (first.ids.length > second.ids.length) lengths.reverse();
    return framed(this.#pair, [this.#cut(first, lengths[0]!), this.#cut(second, lengths[1]!)]);
  }

  /** A piece of text as the vocabulary sees it, such as in lower case. */
  normalised(text: string): string {
    return this.#tokenizer.normalizer?.(text) ?? text;
  }

  /** The id of the first padding token that the vocabulary has, 0 without one. */
  get paddingId(): number {
    return PADDING.map((token) => this.#tokenizer.token_to_id(token)).find((id) => id !== undefined) ?? 0;
  }

  #cut({ ids }: Body, length: number): readonly number[] {
    return this.#keepsEnd ? ids.slice(Math.max(0, ids.length - length)) : ids.slice(0, length);
  }

  /** The last `limit` tokens of a text, and often more, of which the first ones may be those of a cut. */
  #end(text: string, limit: number): Body {
    for (let length = Math.min(Math.max(1, limit) * CHARACTERS_PER_TOKEN, FIRST_CHARACTERS); length < text.length; length *= 2) {
      const body = this.#bodyOf(text.slice(-length));
      if (body.ids.length >= limit + SLACK_TOKENS) return body;
    }
    return this.#bodyOf(text);
  }

  #bodyOf(text: string): Body {
    return this.#tokenizer.encode(text, { add_special_tokens: false });
  }
}

/** What is put around texts: one step, or several. */
interface PostProcessor {
  readonly type?: unknown;
  readonly processors?: readonly (PostProcessor | null)[];
}

/** Whether both texts of a pair are in segment 0, as with RoBERTa, whose models often know no other; the library counts them as two. */
function isOneSegment(processor: PostProcessor | null | undefined): boolean {
  const { type, processors } = processor ?? {};
  return type === 'RobertaProcessing' || (Array.isArray(processors) && processors.some(isOneSegment));
}

/** Whether long texts lose their beginning, as `tokenizer_config.json` says, else `tokenizer.json`. */
function keepsEnd(definition: object, config: object): boolean {
  const { truncation } = definition as { truncation?: { direction?: unknown } | null };
  const side = (config as { truncation_side?: unknown }).truncation_side ?? truncation?.direction;
  return String(side).toLowerCase() === 'left';
}

function framed(frame: Frame, bodies: readonly (readonly number[])[]): Encoded {
  const parts: (Piece | Part)[] = [frame.before, { ids: bodies[0]!, type: frame.types[0] }, frame.between];
  if (bodies.length > 1) parts.push({ ids: bodies[1]!, type: frame.types[1] });
  parts.push(frame.after);
  return {
    ids: parts.flatMap((part) => part.ids),
    types: parts.flatMap((part) => ('type' in part ? part.ids.map(() => part.type) : part.types)),
    bodyStart: frame.before.ids.length,
  };
}

/** Finds known bodies in an encoding; what stands around them is the frame. */
function frameOf({ ids, token_type_ids }: { ids: number[]; token_type_ids?: number[] }, bodies: readonly (readonly number[])[]): Frame {
  const types = token_type_ids ?? ids.map(() => 0);
  const piece = (from: number, to: number): Piece => ({ ids: ids.slice(from, to), types: types.slice(from, to) });
  const first = indexOf(ids, bodies[0]!, 0);
  const firstEnd = first + bodies[0]!.length;
  if (bodies.length === 1)
    return { before: piece(0, first), between: piece(0, 0), after: piece(firstEnd, ids.length), types: [types[first] ?? 0, 0] };
  const second = indexOf(ids, bodies[1]!, firstEnd);
  return {
    before: piece(0, first),
    between: piece(firstEnd, second),
    after: piece(second + bodies[1]!.length, ids.length),
    types: [types[first] ?? 0, types[second] ?? 0],
  };
}

function indexOf(ids: readonly number[], body: readonly number[], from: number): number {
  for (let at = from; at + body.length <= ids.length; at += 1) if (body.every((id, index) => ids[at + index] === id)) return at;
  throw new RangeError('its post-processor changes the tokens of a text');
}
