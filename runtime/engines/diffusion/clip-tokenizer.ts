import { fault, type Json, type PipelineFolder } from './repository.js';

/** How CLIP cuts text before byte pairs are merged: contractions, words, single digits, and runs of anything else. */
const WORDS = "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
const START = '<|startoftext|>';
const END = '<|endoftext|>';

/** The contents of `tokenizer.json` and `tokenizer_config.json`; where the first is missing it is made of `vocab.json` and `merges.txt`. */
export function tokenizerFiles(folder: PipelineFolder, part: string): { definition: Json; config: Json } {
  const config = folder.json(part, 'tokenizer_config.json') ?? {};
  const definition = folder.json(part, 'tokenizer.json');
  if (definition) return { definition, config };
  const vocab = folder.json(part, 'vocab.json');
  if (!vocab) throw fault(`${part}/vocab.json`, 'is missing, and so is tokenizer.json');
  // The first line of the file is its version.
  const merges = folder.text(part, 'merges.txt').split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')); // biome-ignore format: one list
  return { definition: clipDefinition(vocab, merges), config };
}

function clipDefinition(vocab: Json, merges: readonly string[]): Json {
  const special = [START, END].flatMap((content) => {
    const id = vocab[content];
    if (typeof id !== 'number') return [];
    return [{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: content === START }];
  });
  if (special.length < 2) throw fault('tokenizer/vocab.json', `has no ${START} or no ${END}`);
  return {
    version: '1.0',
    added_tokens: special,
    normalizer: {
      type: 'Sequence',
      normalizers: [{ type: 'NFC' }, { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' }, { type: 'Lowercase' }],
    },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: WORDS }, behavior: 'Removed', invert: true },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: {
      type: 'RobertaProcessing',
      sep: [END, vocab[END]],
      cls: [START, vocab[START]],
      trim_offsets: false,
      add_prefix_space: false,
    },
    decoder: null,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: END,
      continuing_subword_prefix: '',
      end_of_word_suffix: '</w>',
      fuse_unk: false,
      vocab,
      merges,
    },
  };
}
