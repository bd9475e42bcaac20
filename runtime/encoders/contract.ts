import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { EncoderTask, EncoderUrgency, Entity } from '../engines/contracts/encoder.js';

/** How the encoder of a request is run; absent = the model's own facts. From `encoder_config`, `transformers` and `keep_loaded` of a project's model, or from a request. */
export interface EncoderSettings {
  /** Tokens of one text at most, instead of what the model's files recommend; what the model can read at all holds too. */
  readonly maxLength?: number;
  /** `auto`, `cpu`, `cuda`, `mps` or an execution provider's name. */
  readonly device?: string;
  /** `fp32`, `fp16`, `bf16`: which of a repository's files is taken where the model's name does not say. */
  readonly dtype?: string;
  /** Texts of one request that are handed to the model together; as many as it takes unless said. */
  readonly batchSize?: number;
  readonly flashAttention?: boolean;
  /** Threads of its host; one less than there are cores unless said. */
  readonly threads?: number;
  /** Layers of a GGUF model on the accelerator, -1 for all of them. */
  readonly gpuLayers?: number;
  /** Never unloaded for being idle. */
  readonly keepLoaded?: boolean;
}

/** What every question to an encoder says. */
export interface EncoderAsk {
  /** `org/repo[:QUANT]`, a folder or file of `{data_dir}/models`, or an absolute path. */
  readonly model: string;
  readonly settings?: EncoderSettings;
  /** True = a text that is longer than what the model reads is refused (`bad_request`) instead of cut; of embeddings alone. */
  readonly whole?: boolean;
  /** How long the model stays in memory after this use, in place of the limit of all models; of a model here. */
  readonly stayMs?: number | undefined;
  /** Interactive unless said otherwise. */
  readonly urgency?: EncoderUrgency;
  readonly signal: AbortSignal;
}

/** Labels that the caller makes up, which an NLI model weighs. */
export interface ZeroShot {
  readonly labels: readonly string[];
  /** A sentence with `{}` where the label goes. */
  readonly hypothesis: string;
  /** Each label on its own, instead of all against each other. */
  readonly multiLabel: boolean;
}

/** Names of a head's outputs with the probability of each. */
export type Scores = Readonly<Record<string, number>>;

/**
 * What encoders do, here or on a runtime elsewhere. Every call throws `not_found` (code `ModelNotFound`, with the command that downloads the
 * model), `bad_request` for a task that the model cannot do, `invalid` for files that cannot be right, `unavailable` when its host died.
 * `tokens` is the number of tokens read, after truncation.
 */
export interface EncoderService {
  /** Vectors of length 1 in the order of the texts, cut to the first `dimensions` components where given; throws `invalid` for more than there are. */
  embed(ask: EncoderAsk, texts: readonly string[], dimensions?: number): Promise<{ vectors: Float32Array[]; tokens: number }>;
  /** The raw relevance of each document to the query, in the order of the documents. */
  rerank(ask: EncoderAsk, query: string, documents: readonly string[]): Promise<{ scores: number[]; tokens: number }>;
  /** Probabilities of the model's own labels, or of those of `zeroShot`, per text. */
  classify(ask: EncoderAsk, texts: readonly string[], zeroShot?: ZeroShot): Promise<{ scores: Scores[]; tokens: number }>;
  /** The named things of each text, however many times longer than what the model reads at once; throws `invalid` beyond 32,768 tokens. */
  entities(ask: EncoderAsk, texts: readonly string[]): Promise<{ entities: Entity[][]; tokens: number }>;
}

/**
 * What `encoder_config`, `transformers` and `keep_loaded` of a project's model say. Throws `bad_request` where the model is there for
 * another task; `embedding` is what a model is for when nobody says.
 */
export function settingsOfModel(model: ModelConfig, task: EncoderTask): EncoderSettings {
  const { encoder_config: encoder, transformers } = model;
  const type = transformers?.model_type ?? 'embedding';
  const [setting, meant] = type === 'embedding' ? ['encoder_config.task', encoder?.task ?? type] : ['transformers.model_type', type];
  if (meant !== task && meant !== 'embedding')
    throw new Failure('bad_request', `Model '${model.name}' has ${setting} ${meant}, and ${task} is asked of it; name another model.`, {
      code: 'TaskNotSupported',
    });
  return {
    ...(encoder?.max_length === undefined ? {} : { maxLength: encoder.max_length }),
    ...(encoder?.use_flash_attention === undefined ? {} : { flashAttention: encoder.use_flash_attention }),
    ...(transformers?.device === undefined ? {} : { device: transformers.device }),
    ...(transformers?.dtype === undefined ? {} : { dtype: transformers.dtype }),
    ...(transformers?.batch_size === undefined ? {} : { batchSize: transformers.batch_size }),
    ...(model.keep_loaded ? { keepLoaded: true } : {}),
  };
}
