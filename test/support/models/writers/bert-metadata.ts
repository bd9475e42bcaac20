import { f32, flag, type GgufMetadata, list, text, u32 } from '../../../../models/writers/gguf-values.js';

/** The shape of a model of BERT's architecture. */
export interface BertShape {
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly feedForward: number;
  /** Positions that the model has. */
  readonly contextLength: number;
  /** Kinds of segments. */
  readonly segments: number;
}

/** GGUF's numbers of the ways in which token vectors become one. */
export const POOLING_TYPES = { none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;

const NORMAL = 1;
const CONTROL = 3;

/** A piece of a WordPiece vocabulary as GGUF writes it: the start of a word is marked, not its continuation. */
function piece(token: string): string {
  if (/^\[[A-Z0-9]+\]$/.test(token)) return token;
  return token.startsWith('##') ? token.slice(2) : `\u2581${token}`;
}

/** The metadata of a model; `vocabulary` is that of a WordPiece tokenizer with [PAD], [UNK], [CLS], [SEP] and [MASK] in it. */
export function bertMetadata(
  name: string,
  shape: BertShape,
  vocabulary: readonly string[],
  pooling: keyof typeof POOLING_TYPES | undefined,
): GgufMetadata {
  const id = (token: string) => u32(vocabulary.indexOf(token));
  return [
    ['general.architecture', text('bert')],
    ['general.name', text(name)],
    ['general.license', text('apache-2.0')],
    ['bert.block_count', u32(shape.layers)],
    ['bert.context_length', u32(shape.contextLength)],
    ['bert.embedding_length', u32(shape.width)],
    ['bert.feed_forward_length', u32(shape.feedForward)],
    ['bert.attention.head_count', u32(shape.heads)],
    ['bert.attention.layer_norm_epsilon', f32(1e-12)],
    ['bert.attention.causal', flag(false)],
    ...(pooling === undefined ? [] : [['bert.pooling_type', u32(POOLING_TYPES[pooling])] as const]),
    ['tokenizer.ggml.model', text('bert')],
    ['tokenizer.ggml.token_type_count', u32(shape.segments)],
    ['tokenizer.ggml.tokens', list('string', vocabulary.map(piece))],
    [
      'tokenizer.ggml.token_type',
      list(
        'i32',
        vocabulary.map((token) => (/^\[[A-Z0-9]+\]$/.test(token) ? CONTROL : NORMAL)),
      ),
    ],
    ['tokenizer.ggml.bos_token_id', id('[CLS]')],
    ['tokenizer.ggml.eos_token_id', id('[SEP]')],
    ['tokenizer.ggml.seperator_token_id', id('[SEP]')],
    ['tokenizer.ggml.unknown_token_id', id('[UNK]')],
    ['tokenizer.ggml.padding_token_id', id('[PAD]')],
    ['tokenizer.ggml.cls_token_id', id('[CLS]')],
    ['tokenizer.ggml.mask_token_id', id('[MASK]')],
  ];
}
