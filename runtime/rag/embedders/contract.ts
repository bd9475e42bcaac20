import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { EmbedderType, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import type { Metadata } from '../../documents/contract.js';
import type { EncoderSettings } from '../../encoders/contract.js';
import type { NeedModel } from '../../models/fetch/on-use.js';
import type { Outbound } from '../../net/outbound.js';

/** Whether somebody waits for the answer: interactive work passes ingestion. */
export type Urgency = 'interactive' | 'bulk';

/** What a text is embedded for; some models want to be told. */
export type Purpose = 'document' | 'query';

/** Turns texts into vectors. Never answers with a zero vector: a failure is a `Failure`. */
export interface Embedder {
  readonly type: EmbedderType;
  /** What the vectors depend on: type, model and settings, so that cached ones are used again only where they fit. */
  readonly key: string;
  /** Of every vector; undefined until the first answer where only the model knows it. */
  readonly dimensions: number | undefined;
  /** One vector per text, in their order. Aborts with `signal`. Throws `unavailable`, `timed_out`, `invalid` (dimensions, both numbers named). */
  embed(texts: readonly string[], purpose: Purpose, urgency: Urgency, signal: AbortSignal): Promise<Float32Array[]>;
}

/** Vectors of our own runtime's models, as `/v1/embeddings` makes them. Throws `not_found` or `unavailable` for a model that is not here. */
export type RuntimeEmbed = (
  model: string,
  texts: readonly string[],
  signal: AbortSignal,
  how: { readonly urgency: Urgency; readonly settings: EncoderSettings },
) => Promise<readonly Float32Array[]>;

/** What the embedders are made of. */
export interface EmbedderParts {
  /** Closed by whoever made it. */
  readonly outbound: Outbound;
  /** Absent while the runtime has no embeddings. */
  readonly runtime?: RuntimeEmbed;
  /** Fetches models that are missing; without it none is fetched. */
  readonly need?: NeedModel | undefined;
  /** The model of the project that the strategy names, with its `encoder_config` and host. */
  readonly projectModel?: ModelConfig;
  /** The port of our own runtime: a `base_url` that names it stays in process; 11540 always does. */
  readonly runtimePort?: number;
  /** First wait before a request is sent again, in milliseconds; it doubles from there. */
  readonly retryBaseMs?: number;
}

/** What one type of embedder makes of its configuration: the part without batches, checks and a queue. */
export interface Source {
  /** The model's name for messages. */
  readonly model: string;
  /** All that changes the vectors besides type and model. */
  readonly settings: Metadata;
  /** What the configuration or the method fixes; undefined where the model decides. */
  readonly dimensions: number | undefined;
  readonly batchSize: number;
  /** Brings the vectors to length 1. */
  readonly normalise: boolean;
  /** Vectors of at most `batchSize` texts, none of them blank. */
  send(texts: readonly string[], purpose: Purpose, signal: AbortSignal, urgency: Urgency): Promise<readonly Float32Array[]>;
}

/** One type of embedder. */
export interface EmbedderKind {
  readonly type: EmbedderType;
  /** Whether it asks a model of this runtime unless its `base_url` names a host. */
  readonly runsHere?: true;
  /** Its options with their defaults and ranges. */
  readonly options: OptionShapes;
  /** Throws `invalid` for options of a wrong type, and `bad_request` for those that are missing. Asks nobody yet. */
  open(strategy: EmbeddingStrategy, parts: EmbedderParts): Source;
}
