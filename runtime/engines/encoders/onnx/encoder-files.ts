import { dirname, join, relative } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { folderName, type Json, readJsonFile } from '../../../formats/model-files.js';
import type { EncoderTask, HeadProblem, Pooling } from '../../contracts/encoder.js';
import { configuredNormalizer, lowerCasing } from '../../tokenizers/open-tokenizer.js';
import { type Module, modulesOf, poolingOf } from './sentence-modules.js';

/** Tokens of one text where nothing says otherwise. */
const DEFAULT_LENGTH = 512;
/** Tokens that no text may exceed, whatever files say. */
const LENGTH_LIMIT = 131_072;
const LABEL_LIMIT = 100_000;
/** Kinds of models whose table of positions begins after the padding token's id. */
const SHIFTED_POSITIONS = /^(?:xlm-)?roberta|^camembert|^mpnet|^longformer|^xmod|^roberta-prelayernorm/;

/** What the daemon knows of an encoder before its files are read. */
interface EncoderFilesWish {
  readonly folder: string;
  /** The graph, in the folder or below it. */
  readonly model: string;
  readonly task: EncoderTask;
  /** Where the files say nothing. */
  readonly fallback: { readonly pooling?: Pooling; readonly maxLength?: number };
}

/** What the files of an encoder say. */
export interface EncoderFacts {
  readonly architecture: string;
  /** Tokens of one text where the caller does not say. */
  readonly maxLength: number;
  /** Tokens of one text that the caller may ask for. */
  readonly lengthLimit: number;
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
const settingsFile = ({ folder, model }: EncoderFilesWish, name: string): Json | undefined =>
  readJsonFile(folder, name) ?? readJsonFile(folder, join(relative(folder, dirname(model)), name));

/** Reads `config.json`, the tokenizer's files and those of sentence-transformers. Throws `Failure('invalid')` that names the missing or wrong file. */
export function readEncoderFacts(wish: EncoderFilesWish): EncoderFacts {
  const { folder } = wish;
  const tokenizer = settingsFile(wish, 'tokenizer.json');
  if (!tokenizer)
    throw new Failure(
      'invalid',
      `${folderName(folder)} has no tokenizer.json, so its model cannot read text; download the whole repository.`,
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
  const firstPosition = SHIFTED_POSITIONS.test(architecture) ? (wholeNumber(config.pad_token_id) ?? 1) + 1 : 0;
  const modules = wish.task === 'embedding' ? modulesOf(folder) : [];
  return {
    architecture,
    ...lengthsOf(wish, { config, tokenizerConfig, sentence }, firstPosition, notes),
    pooling: (wish.task === 'embedding' ? poolingOf(folder, modules) : undefined) ?? wish.fallback.pooling,
    modules,
    labels: labelsOf(config),
    ...problemOf(config),
    paddingId: wholeNumber(config.pad_token_id),
    firstPosition,
    tokenizer:
      wish.task === 'embedding' && sentence.do_lower_case === true
        ? lowerCasing(configuredNormalizer(tokenizer, tokenizerConfig))
        : tokenizer,
    tokenizerConfig,
    notes,
  };
}

const wholeNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
const positiveNumber = (value: unknown): number | undefined => (typeof value === 'number' && value >= 1 ? Math.floor(value) : undefined);

/** Settings that say how long a text may be. */
interface Files {
  readonly config: Json;
  readonly tokenizerConfig: Json;
  readonly sentence: Json;
}

/** The sentence model's own length, else the fallback's, within the positions that were trained and the tokenizer's limit, which a caller may use up. */
function lengthsOf(
  { fallback }: EncoderFilesWish,
  { config, tokenizerConfig, sentence }: Files,
  firstPosition: number,
  notes: string[],
): Pick<EncoderFacts, 'maxLength' | 'lengthLimit'> {
  const table =
    positiveNumber(config.max_position_embeddings) ?? positiveNumber(config.n_positions) ?? positiveNumber(config.max_trained_positions);
  const positions = table === undefined ? undefined : table - firstPosition;
  // Tokenizers without a limit write a number near 10^30.
  const read = positiveNumber(tokenizerConfig.model_max_length);
  const limits = [positions, read !== undefined && read <= LENGTH_LIMIT ? read : undefined].filter((limit) => limit !== undefined);
  const own = positiveNumber(sentence.max_seq_length);
  // Without a limit of the files' own nothing tells that more would do.
  const lengthLimit = Math.min(LENGTH_LIMIT, ...(limits.length > 0 ? limits : [own ?? fallback.maxLength ?? DEFAULT_LENGTH]));
  if (own !== undefined && own > lengthLimit)
    notes.push(`max_seq_length is ${own}, but the model reads ${lengthLimit} tokens at most; ${lengthLimit} are used.`);
  return { maxLength: Math.min(own ?? lengthLimit, lengthLimit), lengthLimit };
}

function problemOf({ problem_type: type }: Json): { problem?: HeadProblem } {
  if (type === 'regression') return { problem: 'regression' };
  return type === 'multi_label_classification' ? { problem: 'multi_label' } : {};
}

/** Names of the head's outputs; their index as text where one has no name, and behind a name that an earlier one has. */
function labelsOf(config: Json): string[] {
  const names = (typeof config.id2label === 'object' && config.id2label !== null ? config.id2label : {}) as Json;
  const indices = Object.keys(names)
    .map(Number)
    .filter((index) => Number.isInteger(index) && index >= 0 && index < LABEL_LIMIT);
  const count = indices.reduce((most, index) => Math.max(most, index + 1), 0);
  const found = Array.from({ length: count }, (_, index) => String(names[index] ?? index));
  const first = new Map<string, number>();
  for (const [index, name] of found.entries()) if (!first.has(name)) first.set(name, index);
  return found.map((name, index) => (first.get(name) === index ? name : `${name} (${index})`));
}
