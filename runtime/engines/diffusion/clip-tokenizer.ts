import { fault, type Json, type PipelineFolder, shown } from './pipeline-folder.js';

/** How CLIP cuts text before byte pairs are merged: contractions, words, single digits, and runs of anything else. */
const WORDS = "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
const START = '<|startoftext|>';
const END = '<|endoftext|>';

/** A tokenizer of a pipeline: its definition, its settings, and the token that fills short prompts up. */
export interface ClipTokenizer {
  readonly definition: Json;
  readonly config: Json;
  readonly padding: string;
}

/** Reads the files of a tokenizer; where `tokenizer.json` is missing it is made of `vocab.json` and `merges.txt`. */
export function tokenizerFiles(folder: PipelineFolder, part: string): ClipTokenizer {
  const file = folder.json(part, 'tokenizer_config.json') ?? {};
  // What fills up is overruled by the file beside it where the settings are of the old form, without a list of added tokens.
  const map = 'added_tokens_decoder' in file ? {} : (folder.json(part, 'special_tokens_map.json') ?? {});
  const config = 'pad_token' in map ? { ...file, pad_token: map.pad_token } : file;
  const padding = paddingOf(part, config.pad_token);
  const definition = folder.json(part, 'tokenizer.json') ?? madeDefinition(folder, part);
  return { definition: withSpecial(part, definition, padding), config, padding };
}

/** The token that fills up: a word, an object with one, or nothing for the usual one. */
function paddingOf(part: string, named: unknown): string {
  const content = (typeof named === 'object' && named !== null ? (named as Json).content : named) ?? END;
  if (typeof content === 'string') return content;
  throw fault(`${part}/tokenizer_config.json`, `or special_tokens_map.json names ${shown(content)} as pad_token; a word is needed`);
}

/** A word that fills prompts up is that token wherever it stands in them, such as the "!" of Stable Diffusion 2. */
function withSpecial(part: string, definition: Json, content: string): Json {
  const id = (definition.model as { vocab?: Record<string, unknown> } | undefined)?.vocab?.[content];
  const added = Array.isArray(definition.added_tokens) ? (definition.added_tokens as ({ content?: unknown } | null)[]) : [];
  const broken = added.find((token) => typeof token !== 'object' || token === null);
  if (broken !== undefined) throw fault(`${part}/tokenizer.json`, `has ${shown(broken)} among its added_tokens; objects are needed`);
  if (typeof id !== 'number' || added.some((token) => token?.content === content)) return definition;
  const token = { id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false };
  return { ...definition, added_tokens: [...added, token] };
}

function madeDefinition(folder: PipelineFolder, part: string): Json {
  const vocab = folder.json(part, 'vocab.json');
  if (!vocab) throw fault(`${part}/vocab.json`, 'is missing, and so is tokenizer.json');
  // The first line of the file is its version.
  const merges = folder.text(part, 'merges.txt').split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')); // biome-ignore format: one list
  return clipDefinition(vocab, merges);
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
