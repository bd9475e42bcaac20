import { Bpe } from '../../../../models/writers/bpe.js';

/** A tokenizer as repositories carry it: the two files, and the ids of its tokens. */
export interface WrittenTokenizer {
  /** `tokenizer.json`. */
  readonly tokenizer: object;
  /** `tokenizer_config.json`. */
  readonly config: object;
  readonly tokens: readonly string[];
}

/** What a tokenizer is made of. */
export interface TokenizerWords {
  /** Words that become one token each, where a space stands before them. */
  readonly words: readonly string[];
  readonly modelMaxLength: number;
}

const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
const MARKS = Array.from('.,;:!?\'"()-');
const LETTER_SCORE = -20;
const WORD_SCORE = -5;

const special = (content: string, id: number): object => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});
const sequence = (id: 'A' | 'B', type_id: number): object => ({ Sequence: { id, type_id } });
const mark = (id: string, type_id: number): object => ({ SpecialToken: { id, type_id } });
const frame = { version: '1.0', truncation: null, padding: null };

/** WordPiece as BERT has it: words, then letters with and without `##` for what is no word. */
export function wordPiece({ words, modelMaxLength }: TokenizerWords, lowercase: boolean): WrittenTokenizer {
  const specials = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  const tokens = [...new Set([...specials, ...words, ...LETTERS, ...MARKS, ...LETTERS.map((letter) => `##${letter}`)])];
  const id = (token: string): number => tokens.indexOf(token);
  const ends = Object.fromEntries(['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [id(token)], tokens: [token] }]));
  return {
    tokens,
    tokenizer: {
      ...frame,
      added_tokens: specials.map(special),
      normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      post_processor: {
        type: 'TemplateProcessing',
        single: [mark('[CLS]', 0), sequence('A', 0), mark('[SEP]', 0)],
        pair: [mark('[CLS]', 0), sequence('A', 0), mark('[SEP]', 0), sequence('B', 1), mark('[SEP]', 1)],
        special_tokens: ends,
      },
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(tokens.map((token, index) => [token, index])),
      },
    },
    config: {
      tokenizer_class: 'BertTokenizer',
      do_lower_case: lowercase,
      model_max_length: modelMaxLength,
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      cls_token: '[CLS]',
      sep_token: '[SEP]',
    },
  };
}

/** Byte-level BPE as RoBERTa has it. */
export function byteBpe({ words, modelMaxLength }: TokenizerWords): WrittenTokenizer {
  const bpe = new Bpe();
  for (const word of words) bpe.addWord(` ${word}`);
  const specials = ['<s>', '<pad>', '</s>', '<unk>'];
  const tokens = [...specials, ...bpe.tokens, '<mask>'];
  return {
    tokens,
    tokenizer: {
      ...frame,
      added_tokens: [...specials.map(special), special('<mask>', tokens.length - 1)],
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      post_processor: { type: 'RobertaProcessing', sep: ['</s>', 2], cls: ['<s>', 0], trim_offsets: true, add_prefix_space: true },
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: '',
        end_of_word_suffix: '',
        fuse_unk: false,
        byte_fallback: false,
        vocab: Object.fromEntries(tokens.map((token, index) => [token, index])),
        merges: bpe.merges,
      },
    },
    config: {
      tokenizer_class: 'RobertaTokenizer',
      model_max_length: modelMaxLength,
      bos_token: '<s>',
      cls_token: '<s>',
      sep_token: '</s>',
      eos_token: '</s>',
      pad_token: '<pad>',
      unk_token: '<unk>',
      mask_token: '<mask>',
    },
  };
}

/** Unigram (SentencePiece) as XLM-R has it. */
export function unigram({ words, modelMaxLength }: TokenizerWords): WrittenTokenizer {
  const specials = ['<s>', '<pad>', '</s>', '<unk>'];
  const pieces = [...new Set([...words.map((word) => `\u2581${word}`), '\u2581', ...LETTERS, ...MARKS])];
  const score = (piece: string): number => (piece.length > 1 ? WORD_SCORE : LETTER_SCORE);
  const tokens = [...specials, ...pieces, '<mask>'];
  const ends = Object.fromEntries(['<s>', '</s>'].map((token) => [token, { id: token, ids: [tokens.indexOf(token)], tokens: [token] }]));
  return {
    tokens,
    tokenizer: {
      ...frame,
      added_tokens: [...specials.map(special), special('<mask>', tokens.length - 1)],
      normalizer: { type: 'Sequence', normalizers: [{ type: 'NFKC' }, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }] },
      pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always', split: true },
      post_processor: {
        type: 'TemplateProcessing',
        single: [mark('<s>', 0), sequence('A', 0), mark('</s>', 0)],
        pair: [mark('<s>', 0), sequence('A', 0), mark('</s>', 0), mark('</s>', 0), sequence('B', 0), mark('</s>', 0)],
        special_tokens: ends,
      },
      decoder: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always', split: true },
      model: {
        type: 'Unigram',
        unk_id: 3,
        vocab: tokens.map((token) => [token, pieces.includes(token) ? score(token) : 0]),
        byte_fallback: false,
      },
    },
    config: {
      tokenizer_class: 'XLMRobertaTokenizer',
      model_max_length: modelMaxLength,
      bos_token: '<s>',
      cls_token: '<s>',
      sep_token: '</s>',
      eos_token: '</s>',
      pad_token: '<pad>',
      unk_token: '<unk>',
      mask_token: '<mask>',
    },
  };
}

/** The text of a token's surface in each vocabulary, for weights that go by word; undefined for tokens that begin no word. */
export function wordOfToken(token: string): string | undefined {
  if (/^(?:##|<.+>$|\[.+\]$)/.test(token)) return undefined;
  return token.replace(/^[\u2581\u0120]/, '');
}
