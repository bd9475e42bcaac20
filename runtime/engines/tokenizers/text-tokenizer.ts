import type { Tokenizer } from '@huggingface/tokenizers';
import { Failure } from '../../../schemas/errors.js';
import { BYTE_OF_CHAR } from './byte-alphabet.js';
import { longestToken } from './longest-token.js';
import { openTokenizer } from './open-tokenizer.js';

/** The parts of `tokenizer.json` that are read here. */
interface Definition {
  readonly model?: { readonly vocab?: Readonly<Record<string, number>> | readonly (readonly [string, number])[] };
  readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special?: boolean }[];
  readonly pre_tokenizer?: unknown;
  readonly decoder?: unknown;
}

const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

/** The tokenizer of a model that writes text: texts to ids, and ids to the bytes that they stand for. */
export class TextTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #texts: (string | undefined)[] = [];
  readonly #added = new Set<number>();
  readonly #spellsBytes: boolean;
  /** As in `LanguageInfo`. */
  readonly longestToken: number | undefined;
  /** Whether a text begins without the space that its first token may be spelled with. */
  readonly dropsFirstSpace: boolean;
  /** Texts of tokens that steer the model. */
  readonly controlTexts: readonly string[];

  /** `definition` and `config` are the contents of `tokenizer.json` and `tokenizer_config.json`. Throws `invalid` for what is no tokenizer. */
  constructor(definition: object, config: object) {
    const { model, added_tokens = [], pre_tokenizer, decoder } = definition as Definition;
    try {
      this.#tokenizer = openTokenizer(definition, config);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('invalid', `tokenizer.json is not a usable tokenizer: ${(cause as Error).message}.`, {
        code: 'InvalidModelFile',
        cause,
      });
    }
    const vocab = model?.vocab ?? {};
    if (Array.isArray(vocab)) for (const [id, [text]] of (vocab as [string, number][]).entries()) this.#texts[id] = text;
    else for (const [text, id] of Object.entries(vocab)) this.#texts[id as number] = text;
    for (const { id, content } of added_tokens) {
      this.#texts[id] = content;
      this.#added.add(id);
    }
    this.#spellsBytes = JSON.stringify([pre_tokenizer ?? null, decoder ?? null]).includes('"ByteLevel"');
    this.longestToken = longestToken(definition);
    this.dropsFirstSpace = stepsOf(decoder).some(dropsSpace);
    this.controlTexts = added_tokens.filter(({ special }) => special === true).map(({ content }) => content);
  }

  get size(): number {
    return this.#texts.length;
  }

  /** Texts of control tokens become those tokens; `framed` adds what the tokenizer itself puts around a text. */
  encode(text: string, framed: boolean): Int32Array {
    return Int32Array.from(this.#tokenizer.encode(text, { add_special_tokens: framed }).ids);
  }

  idOf(text: string): number | undefined {
    return this.#tokenizer.token_to_id(text);
  }

  /** The bytes that a token stands for; none for ids that the vocabulary does not have. */
  bytes(id: number): Uint8Array {
    const text = this.#texts[id] ?? '';
    if (this.#spellsBytes) {
      const isSpelled = !this.#added.has(id) && [...text].every((letter) => BYTE_OF_CHAR.has(letter));
      return isSpelled ? Uint8Array.from(text, (letter) => BYTE_OF_CHAR.get(letter)!) : Buffer.from(text);
    }
    const byte = BYTE_TOKEN.exec(text);
    // Vocabularies such as Gemma's have runs of spaces among the added tokens too.
    return byte ? Uint8Array.of(Number.parseInt(byte[1]!, 16)) : Buffer.from(text.replaceAll('\u2581', ' '));
  }
}

/** One step of a tokenizer's decoder, or several. */
interface DecoderStep {
  readonly type?: string;
  readonly decoders?: readonly DecoderStep[];
  readonly content?: string;
  readonly start?: number;
  readonly prepend_scheme?: string;
  readonly add_prefix_space?: boolean;
}

function stepsOf(decoder: unknown): readonly DecoderStep[] {
  const step = (decoder ?? {}) as DecoderStep;
  return step.type === 'Sequence' ? (step.decoders ?? []) : [step];
}

function dropsSpace({ type, content, start = 0, prepend_scheme: scheme, add_prefix_space: isPrefixed = true }: DecoderStep): boolean {
  if (type === 'Strip') return content === ' ' && start > 0;
  return type === 'Metaspace' && isPrefixed && scheme !== 'never';
}
