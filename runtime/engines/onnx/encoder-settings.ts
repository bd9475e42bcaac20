import { basename, dirname, join, relative } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { EncoderTask, HeadProblem, Pooling } from '../encoder-contract.js';
import { type Json, jsonFile } from './json-file.js';
import { configuredNormalizer, lowerCasing } from './normalizers.js';
import { type Module, modulesOf, poolingOf } from './sentence-modules.js';

/** Tokens of one text where nothing says otherwise. */
const DEFAULT_LENGTH = 512;
/** Tokens that no text may exceed, whatever files say. */
const LENGTH_LIMIT = 131_072;
const LABEL_LIMIT = 100_000;
/** Kinds of models whose table of positions begins after the padding token's id. */
const SHIFTED_POSITIONS = /^(?:xlm-)?roberta|^camembert|^mpnet|^longformer|^xmod|^roberta-prelayernorm/;

/** What the daemon knows of an encoder before its files are read. */
export interface SettingsWish {
  readonly folder: string;
  /** The graph, in the folder or below it. */
  readonly model: string;
  readonly task: EncoderTask;
  /** Asked for by the caller. */
  readonly maxLength?: number;
  /** Where the files say nothing. */
  readonly fallback: { readonly pooling?: Pooling; readonly maxLength?: number };
}

/** What the files of an encoder say. */
export interface EncoderSettings {
  readonly architecture: string;
  readonly maxLength: number;
  /** Absent where neither the files nor the fallback say. */
  readonly pooling: Pooling | undefined;
  /** The parts of a sentence model, in order; none where it does not name them. */
  readonly modules: readonly Module[];
  readonly labels: readonly string[];
  readonly problem?: HeadProblem;
  readonly paddingId: number | undefined;
  /** Number of the first position, for graphs that take positions. */
  readonly firstPosition: number;
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
  readonly notes: readonly string[];
}

/** A settings file of the folder itself, else of the graph's: some exports have their settings only there. */
const settingsFile = ({ folder, model }: SettingsWish, name: string): Json | undefined =>
  jsonFile(folder, name) ?? jsonFile(folder, join(relative(folder, dirname(model)), name));

/** Reads `config.json`, the tokenizer's files and those of sentence-transformers. Throws `Failure('invalid')` that names the missing or wrong file. */
export function readEncoderSettings(wish: SettingsWish): EncoderSettings {
  const { folder } = wish;
  const tokenizer = settingsFile(wish, 'tokenizer.json');
  if (!tokenizer)
    throw new Failure(
      'invalid',
      `${basename(folder)} has no tokenizer.json, so its model cannot read text; download the whole repository.`,
      {
        code: 'TokenizerMissing',
        errors: [{ type: 'onnx', loc: ['file', 'tokenizer.json'], msg: 'the file is missing' }],
      },
    );
  const config = settingsFile(wish, 'config.json') ?? {};
  const tokenizerConfig = settingsFile(wish, 'tokenizer_config.json') ?? {};
  const sentence = settingsFile(wish, 'sentence_bert_config.json') ?? {};
  const notes: string[] = [];
  const architecture = typeof config.model_type === 'string' ? config.model_type : 'unknown';
  const firstPosition = SHIFTED_POSITIONS.test(architecture) ? (integer(config.pad_token_id) ?? 1) + 1 : 0;
  const modules = wish.task === 'embedding' ? modulesOf(folder) : [];
  return {
    architecture,
    maxLength: maxLengthOf(wish, { config, tokenizerConfig, sentence }, firstPosition, notes),
    pooling: (wish.task === 'embedding' ? poolingOf(folder, modules) : undefined) ?? wish.fallback.pooling,
    modules,
    labels: labelsOf(config),
    ...problemOf(config),
    paddingId: integer(config.pad_token_id),
    firstPosition,
    tokenizer:
      wish.task === 'embedding' && sentence.do_lower_case === true
        ? lowerCasing(configuredNormalizer(tokenizer, tokenizerConfig))
        : tokenizer,
    tokenizerConfig,
    notes,
  };
}

const integer = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
const positive = (value: unknown): number | undefined => (typeof value === 'number' && value >= 1 ? Math.floor(value) : undefined);

/** Settings that say how long a text may be. */
interface Files {
  readonly config: Json;
  readonly tokenizerConfig: Json;
  readonly sentence: Json;
}

/** The caller's wish, else the sentence model's own, else the fallback's; never beyond the positions that were trained or the tokenizer's limit. */
function maxLengthOf(wish: SettingsWish, { config, tokenizerConfig, sentence }: Files, firstPosition: number, notes: string[]): number {
  const table = positive(config.max_position_embeddings) ?? positive(config.n_positions) ?? positive(config.max_trained_positions);
  const positions = table === undefined ? undefined : table - firstPosition;
  // Tokenizers without a limit write a number near 10^30.
  const read = positive(tokenizerConfig.model_max_length);
  const limits = [positions, read !== undefined && read <= LENGTH_LIMIT ? read : undefined].filter((limit) => limit !== undefined);
  const own = positive(sentence.max_seq_length) ?? (limits.length > 0 ? undefined : wish.fallback.maxLength);
  const limit = Math.min(LENGTH_LIMIT, ...limits);
  const wanted = wish.maxLength ?? own ?? (limits.length > 0 ? limit : DEFAULT_LENGTH);
  if (wanted > limit) notes.push(`max_length is ${wanted}, but the model reads ${limit} tokens at most; ${limit} are used.`);
  return Math.min(wanted, limit);
}

function problemOf({ problem_type: type }: Json): { problem?: HeadProblem } {
  if (type === 'regression') return { problem: 'regression' };
  return type === 'multi_label_classification' ? { problem: 'multi_label' } : {};
}

/** Names of the head's outputs; their index as text where one has no name. */
function labelsOf(config: Json): string[] {
  const names = (typeof config.id2label === 'object' && config.id2label !== null ? config.id2label : {}) as Json;
  const indices = Object.keys(names)
    .map(Number)
    .filter((index) => Number.isInteger(index) && index >= 0 && index < LABEL_LIMIT);
  const count = indices.reduce((most, index) => Math.max(most, index + 1), 0);
  return Array.from({ length: count }, (_, index) => String(names[index] ?? index));
}
