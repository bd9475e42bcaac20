import type { OnnxSession } from '../onnx/contract.js';
import { EncoderTokenizer } from '../tokenizers/tokenizer.js';
import { type Json, jsonExcerpt, type PipelineFolder, pipelineFault, wholeNumber } from './pipeline-folder.js';
import { tensorFor, valuesOf } from './tensors.js';

/** Turns prompts into what the network is told, by one text encoder or two. */
export class PromptEncoder {
  readonly #encoders: readonly TextEncoder[];
  /** An empty negative prompt is all zeros, as the pipeline was trained. */
  readonly #zeros: boolean;

  constructor(folder: PipelineFolder, { text, text2 }: { readonly text: OnnxSession; readonly text2: OnnxSession | undefined }) {
    this.#encoders = text2
      ? [new TextEncoder(folder, text, '', true), new TextEncoder(folder, text2, '_2', true)]
      : [new TextEncoder(folder, text, '', false)];
    this.#zeros = text2 !== undefined && folder.json('model_index.json')?.force_zeros_for_empty_prompt !== false;
  }

  /** Without and with the prompt; only the prompt where `negative` is undefined, and nothing is guided. */
  async encode(prompt: string, negative: string | undefined): Promise<EncodedPrompt[]> {
    const wanted = await this.#one(prompt);
    if (negative === undefined) return [wanted];
    return [negative === '' && this.#zeros ? zeroPrompt(wanted) : await this.#one(negative), wanted];
  }

  async #one(prompt: string): Promise<EncodedPrompt> {
    const [first, second] = await this.#all(prompt);
    return second ? joinRows(first!, second) : first!;
  }

  async #all(prompt: string): Promise<EncodedPrompt[]> {
    const out: EncodedPrompt[] = [];
    for (const encoder of this.#encoders) out.push(await encoder.encode(prompt));
    return out;
  }
}

/** What CLIP was trained with. */
const LENGTH = 77;
const LENGTH_LIMIT = 4096;

/** A prompt as the network takes it: a row per token, and one vector for the whole where the encoder gives one. */
export interface EncodedPrompt {
  readonly length: number;
  readonly width: number;
  readonly rows: Float32Array;
  readonly pooled?: Float32Array;
}

/** A text encoder of a pipeline with its tokenizer. */
export class TextEncoder {
  readonly #session: OnnxSession;
  readonly #tokenizer: EncoderTokenizer;
  readonly #length: number;
  readonly #padding: number;
  /** The rows come from the last layer but one, as networks with two encoders want it. */
  readonly #early: boolean;

  /** `suffix` is `_2` for the second encoder of a pipeline. */
  constructor(folder: PipelineFolder, session: OnnxSession, suffix: '' | '_2', early: boolean) {
    const part = `tokenizer${suffix}`;
    const { definition, config, padding } = tokenizerFiles(folder, part);
    this.#session = session;
    this.#early = early;
    this.#tokenizer = new EncoderTokenizer(definition, config);
    this.#length = wholeNumber(`${part}/tokenizer_config.json`, config, 'model_max_length', LENGTH_LIMIT, LENGTH);
    const vocabulary = ((definition.model as { vocab?: Record<string, number> } | undefined)?.vocab ?? {}) as Record<string, number>;
    const added = (definition.added_tokens as { id: number; content: string }[] | undefined) ?? [];
    this.#padding = added.find(({ content }) => content === padding)?.id ?? vocabulary[padding] ?? this.#tokenizer.paddingId;
  }

  /** One prompt; tokens beyond the length are dropped. */
  async encode(prompt: string): Promise<EncodedPrompt> {
    const ids = [...this.#tokenizer.single(this.#tokenizer.body(prompt, this.#length), this.#length).ids];
    while (ids.length < this.#length) ids.push(this.#padding);
    const [input] = this.#session.inputs;
    const feeds = { [input!.name]: tensorFor(this.#session, input!.name, [1, ids.length], ids) };
    const names = this.#session.outputs.map(({ name }) => name);
    const rowsName = this.#rowsName(names);
    const pooledName = names.find((name) => name === 'text_embeds') ?? names.find((name) => name === 'pooler_output');
    const outputs = await this.#session.run(feeds, pooledName === undefined ? [rowsName] : [rowsName, pooledName]);
    const { dims, values } = valuesOf(outputs, rowsName, 'text encoder');
    const [batch, length, width] = dims;
    if (dims.length !== 3 || batch !== 1 || length !== ids.length)
      throw pipelineFault(this.#session.file, `answers in the shape [${dims.join(', ')}]`);
    const pooled = pooledName === undefined ? {} : { pooled: valuesOf(outputs, pooledName, 'text encoder').values };
    return { length, width: width!, rows: values, ...pooled };
  }

  #rowsName(names: readonly string[]): string {
    if (!this.#early) return names.find((name) => name === 'last_hidden_state') ?? names[0]!;
    const layers = names
      .filter((name) => /^hidden_states\.\d+$/.test(name))
      .sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]));
    const found = layers.at(-2);
    if (found === undefined) throw pipelineFault(this.#session.file, 'gives no hidden states, which this pipeline needs');
    return found;
  }
}

function zeroPrompt({ length, width, rows, pooled }: EncodedPrompt): EncodedPrompt {
  const empty = { length, width, rows: new Float32Array(rows.length) };
  return pooled ? { ...empty, pooled: new Float32Array(pooled.length) } : empty;
}

/** Rows of both encoders joined; the vector of the whole is the second's. */
function joinRows(first: EncodedPrompt, second: EncodedPrompt): EncodedPrompt {
  if (first.length !== second.length) throw pipelineFault('text encoders', `give ${first.length} and ${second.length} rows`);
  const width = first.width + second.width;
  const rows = new Float32Array(first.length * width);
  for (let row = 0; row < first.length; row += 1) {
    rows.set(first.rows.subarray(row * first.width, (row + 1) * first.width), row * width);
    rows.set(second.rows.subarray(row * second.width, (row + 1) * second.width), row * width + first.width);
  }
  return { length: first.length, width, rows, ...(second.pooled ? { pooled: second.pooled } : {}) };
}

/** How CLIP cuts text before byte pairs are merged: contractions, words, single digits, and runs of anything else. */
const WORDS = "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

const START = '<|startoftext|>';

const END = '<|endoftext|>';

/** A tokenizer of a pipeline: its definition, its settings, and the token that fills short prompts up. */
interface ClipTokenizer {
  readonly definition: Json;
  readonly config: Json;
  readonly padding: string;
}

/** Reads the files of a tokenizer; where `tokenizer.json` is missing it is made of `vocab.json` and `merges.txt`. */
function tokenizerFiles(folder: PipelineFolder, part: string): ClipTokenizer {
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
  throw pipelineFault(
    `${part}/tokenizer_config.json`,
    `or special_tokens_map.json names ${jsonExcerpt(content)} as pad_token; a word is needed`,
  );
}

/** A word that fills prompts up is that token wherever it stands in them, such as the "!" of Stable Diffusion 2. */
function withSpecial(part: string, definition: Json, content: string): Json {
  const id = (definition.model as { vocab?: Record<string, unknown> } | undefined)?.vocab?.[content];
  const added = Array.isArray(definition.added_tokens) ? (definition.added_tokens as ({ content?: unknown } | null)[]) : [];
  const broken = added.find((token) => typeof token !== 'object' || token === null);
  if (broken !== undefined)
    throw pipelineFault(`${part}/tokenizer.json`, `has ${jsonExcerpt(broken)} among its added_tokens; objects are needed`);
  if (typeof id !== 'number' || added.some((token) => token?.content === content)) return definition;
  const token = { id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false };
  return { ...definition, added_tokens: [...added, token] };
}

function madeDefinition(folder: PipelineFolder, part: string): Json {
  const vocab = folder.json(part, 'vocab.json');
  if (!vocab) throw pipelineFault(`${part}/vocab.json`, 'is missing, and so is tokenizer.json');
  // The first line of the file is its version.
  const merges = folder
    .text(part, 'merges.txt')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#version'));
  return clipDefinition(vocab, merges);
}

function clipDefinition(vocab: Json, merges: readonly string[]): Json {
  const special = [START, END].flatMap((content) => {
    const id = vocab[content];
    if (typeof id !== 'number') return [];
    return [{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: content === START }];
  });
  if (special.length < 2) throw pipelineFault('tokenizer/vocab.json', `has no ${START} or no ${END}`);
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
