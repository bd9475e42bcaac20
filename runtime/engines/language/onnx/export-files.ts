import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { isObject } from '../../../base/json.js';
import { CONFIG_BYTES } from '../../../formats/architecture.js';
import { type Recommended, type RecommendedKey, recommended } from '../../../formats/recommended.js';

/** Of a tokenizer and of its configuration, which lists each token that was added. */
const TOKENIZER_BYTES = 64 * 1024 * 1024;
/** Tokens of context that are used of a model that says more. */
const CONTEXT_LIMIT = 1024 * 1024;
const VOCABULARY_LIMIT = 16 * 1024 * 1024;
const DEFAULT_CONTEXT = 2048;
const TEMPLATE_LIMIT = 256 * 1024;

/** What `generation_config.json` may recommend, by its members. */
const RECOMMENDED: readonly RecommendedKey[] = [
  ['temperature', 'temperature', 0, 2],
  ['top_k', 'top_k', 0, 100_000],
  ['top_p', 'top_p', 0, 1],
  ['min_p', 'min_p', 0, 1],
  ['repetition_penalty', 'repeat_penalty', 0.01, 10],
];

type Json = Record<string, unknown>;

/** What the files beside a text-generation graph say. */
export interface ExportFacts {
  readonly architecture: string;
  readonly contextSize: number;
  readonly heads: number;
  readonly headSize: number;
  /** Tokens that the model knows, where it says so. */
  readonly vocabularySize: number | undefined;
  /** Tokens that end an answer. */
  readonly ends: readonly number[];
  readonly template: string;
  /** What `generation_config.json` recommends for requests that leave it open. */
  readonly recommended: Recommended;
  readonly bosText: string;
  readonly eosText: string;
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
}

function exportFault(file: string, what: string, cause?: unknown): Failure {
  return new Failure('invalid', `The model's ${file} ${what}. Get the model again from its source.`, { code: 'InvalidModelFile', cause });
}

function optionalJson(folder: string, file: string, limit = CONFIG_BYTES): Json | undefined {
  const path = join(folder, file);
  if (!existsSync(path)) return undefined;
  if (statSync(path).size > limit) throw exportFault(file, `is longer than ${limit} bytes`);
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isObject(content)) return content;
  } catch (cause) {
    throw exportFault(file, 'is no JSON', cause);
  }
  throw exportFault(file, 'is no JSON object');
}

function requiredJson(folder: string, file: string, limit?: number): Json {
  const content = optionalJson(folder, file, limit);
  if (!content) throw exportFault(file, 'is missing');
  return content;
}

function countIn(config: Json, names: readonly string[], most: number): number | undefined {
  const value = names.map((name) => config[name]).find((one) => one !== undefined && one !== null);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw exportFault(
    'config.json',
    `has ${names.join(' or ')} ${JSON.stringify(value)?.slice(0, 40)}; a whole number from 1 to ${most} is needed`,
  );
}

const textOf = (token: unknown): string =>
  typeof token === 'string' ? token : ((token as { content?: string } | null | undefined)?.content ?? '');

/** Reads the files. Throws `invalid` naming the file that is missing or wrong. */
export function exportFacts(folder: string): ExportFacts {
  const whole = requiredJson(folder, 'config.json');
  // Models that see keep what is true of their language model apart.
  const config: Json = { ...whole, ...(whole.text_config as Json | undefined) };
  const tokenizer = requiredJson(folder, 'tokenizer.json', TOKENIZER_BYTES);
  const tokenizerConfig = optionalJson(folder, 'tokenizer_config.json', TOKENIZER_BYTES) ?? {};
  const generation = optionalJson(folder, 'generation_config.json') ?? {};
  const heads = countIn(config, ['num_attention_heads', 'n_head'], 4096) ?? 1;
  const width = countIn(config, ['hidden_size', 'n_embd'], 1_000_000) ?? heads;
  const ends = [whole.eos_token_id, config.eos_token_id, generation.eos_token_id].flat().filter((one) => Number.isInteger(one));
  return {
    architecture: typeof whole.model_type === 'string' ? whole.model_type : 'unknown',
    contextSize: Math.min(
      countIn(config, ['max_position_embeddings', 'n_positions'], Number.MAX_SAFE_INTEGER) ?? DEFAULT_CONTEXT,
      CONTEXT_LIMIT,
    ),
    heads: countIn(config, ['num_key_value_heads'], 4096) ?? heads,
    headSize: countIn(config, ['head_dim'], 65_536) ?? Math.floor(width / heads),
    vocabularySize: countIn(config, ['vocab_size'], VOCABULARY_LIMIT),
    ends: [...new Set(ends as number[])],
    template: templateOf(folder, tokenizerConfig),
    recommended: recommendedSampling(generation),
    bosText: textOf(tokenizerConfig.bos_token),
    eosText: textOf(tokenizerConfig.eos_token),
    tokenizer,
    tokenizerConfig,
  };
}

/** The template of a folder's chat, as the engine reads it; empty without one. Throws `invalid` for a file that is too long or no JSON. */
export const chatTemplate = (folder: string): string =>
  templateOf(folder, optionalJson(folder, 'tokenizer_config.json', TOKENIZER_BYTES) ?? {});

/** Texts of the added tokens that steer the model; none where the tokenizer cannot be read, which opening the model will say. */
export function addedTexts(folder: string): string[] {
  const { added_tokens: added } = optionalJson(folder, 'tokenizer.json', TOKENIZER_BYTES) ?? {};
  const tokens = Array.isArray(added) ? (added as { special?: unknown; content?: unknown }[]) : [];
  return tokens.flatMap(({ special, content }) => (special === true && typeof content === 'string' ? content : []));
}

/** The template lies in a file of its own, or in the tokenizer's configuration, as one text or as a list of named ones. */
function templateOf(folder: string, config: Json): string {
  const given = config.chat_template;
  const named = Array.isArray(given) ? (given as { name?: string; template?: string }[]) : [];
  const own = join(folder, 'chat_template.jinja');
  const inConfig = typeof given === 'string' ? given : ((named.find(({ name }) => name === 'default') ?? named[0])?.template ?? '');
  const isOwn = existsSync(own);
  if ((isOwn ? statSync(own).size : inConfig.length) > TEMPLATE_LIMIT)
    throw exportFault('chat template', `is longer than ${TEMPLATE_LIMIT} characters`);
  return isOwn ? readFileSync(own, 'utf8') : inConfig;
}

/** The sampling that a `generation_config.json` recommends. */
export const recommendedSampling = (config: Readonly<Record<string, unknown>>): Recommended =>
  recommended(RECOMMENDED, '', (member) => config[member]);
