import type { Bpe } from './bpe.js';
import { PRE_TOKENIZER } from './bpe.js';
import { flag, type GgufMetadata, list, text, u32 } from './gguf-values.js';

/** llama.cpp's numbers of token kinds. */
export const TOKEN_KIND = { normal: 1, control: 3, userDefined: 4 } as const;

/** One entry of a vocabulary; `text` is spelled in the byte alphabet for normal tokens, plain for the others. */
export interface VocabularyToken {
  readonly text: string;
  readonly kind: keyof typeof TOKEN_KIND;
}

/** A vocabulary as llama.cpp reads it. */
export interface Vocabulary {
  readonly tokens: readonly VocabularyToken[];
  /** Each `left right`, best first. */
  readonly merges: readonly string[];
  /** Text of the token that ends a turn; must be among the tokens. */
  readonly endOfTurn: string;
}

/** The vocabulary of a BPE followed by further tokens. */
export function vocabularyOf(bpe: Bpe, further: readonly VocabularyToken[], endOfTurn: string): Vocabulary {
  return {
    tokens: [...bpe.tokens.map((spelled) => ({ text: spelled, kind: 'normal' as const })), ...further],
    merges: bpe.merges,
    endOfTurn,
  };
}

/** The `tokenizer.*` metadata; throws RangeError for duplicate token texts, at which llama.cpp aborts. */
export function vocabularyMetadata(vocabulary: Vocabulary, chatTemplate?: string): GgufMetadata {
  const texts = vocabulary.tokens.map((token) => token.text);
  const ids = new Map(texts.map((entry, id) => [entry, id]));
  if (ids.size !== texts.length) throw new RangeError(`token text "${texts.find((entry, id) => ids.get(entry) !== id)}" occurs twice`);
  const end = ids.get(vocabulary.endOfTurn);
  if (end === undefined) throw new RangeError(`the end-of-turn token "${vocabulary.endOfTurn}" is not in the vocabulary`);
  return [
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text(PRE_TOKENIZER)],
    ['tokenizer.ggml.tokens', list('string', texts)],
    [
      'tokenizer.ggml.token_type',
      list(
        'i32',
        vocabulary.tokens.map((token) => TOKEN_KIND[token.kind]),
      ),
    ],
    ['tokenizer.ggml.merges', list('string', vocabulary.merges)],
    ['tokenizer.ggml.bos_token_id', u32(end)],
    ['tokenizer.ggml.eos_token_id', u32(end)],
    ['tokenizer.ggml.padding_token_id', u32(end)],
    ['tokenizer.ggml.add_bos_token', flag(false)],
    ...(chatTemplate === undefined ? [] : ([['tokenizer.chat_template', text(chatTemplate)]] as const)),
  ];
}
