import { Failure } from '../../../schemas/errors.js';

/** What an encoder is used for. */
export type EncoderTask = 'embedding' | 'reranking' | 'classification' | 'ner';

/**
 * How token vectors become one: masked mean, their sum by the root of their number, the first token, the last token, the greatest of each dimension,
 * mean weighted by position.
 */
export type Pooling = 'mean' | 'mean_sqrt' | 'cls' | 'last' | 'max' | 'weighted';

/** How an encoder is loaded; absent = the model's own facts, then the engine's default. */
export interface EncoderOptions {
  readonly threads?: number;
  /** Layers of a GGUF model on the accelerator, -1 for all of them. */
  readonly gpuLayers?: number;
  /** `auto`, `cpu`, or an execution provider's name. */
  readonly device?: string;
  /** `onnxruntime`: ONNX graphs never go through the native pass. */
  readonly engine?: 'auto' | 'native' | 'onnxruntime';
}

/** The files of an encoder on disk, as the finder gives them to an engine. */
export interface EncoderFiles {
  /** As the caller named it, for messages. */
  readonly name: string;
  readonly format: 'onnx' | 'gguf';
  /** The weights; a GGUF file, or an ONNX graph whose external data may lie only in its folder. */
  readonly model: string;
  /** The repository's folder with `config.json`, `tokenizer.json`, `1_Pooling/config.json` and so on, where they are; some exports have the first two beside the graph. */
  readonly folder: string;
  /** Facts from the alias table where the repository has none. */
  readonly pooling?: Pooling;
  readonly maxLength?: number;
  readonly notes: readonly string[];
}

/** What a loaded encoder says about itself. */
export interface EncoderInfo {
  readonly name: string;
  readonly path: string;
  readonly format: 'onnx' | 'gguf';
  readonly architecture: string;
  readonly task: EncoderTask;
  readonly sizeBytes: number;
  /** Of an embedding; null for other tasks. */
  readonly dimensions: number | null;
  /** Tokens of one text where a call does not say. */
  readonly maxLength: number;
  readonly pooling: Pooling | null;
  /** Names of the head's outputs, by index; empty for embeddings. */
  readonly labels: readonly string[];
  /** What the outputs are where they do not exclude each other: chances of their own, or numbers without a bound. */
  readonly problem?: HeadProblem;
  /** What runs an ONNX graph. */
  readonly engine?: 'native' | 'onnxruntime';
  readonly devices: { requested: string; available: string[]; used: string[]; why: string | null };
  readonly notes: readonly string[];
}

/** What a head's outputs are, other than classes that exclude each other. */
export type HeadProblem = 'multi_label' | 'regression';

/** A named thing in a text; `start` and `end` count code points, as Python does; `text` is the slice between them. */
export interface Entity {
  readonly text: string;
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** Mean probability of its words, 0 to 1. */
  readonly score: number;
}

/** Whether somebody waits: interactive calls pass bulk ones between two batches. */
export type EncoderUrgency = 'interactive' | 'bulk';

/** How one call to an encoder runs. */
export interface EncoderCall {
  readonly signal: AbortSignal;
  readonly urgency?: EncoderUrgency;
  /** Tokens of one text at most, instead of what the model's files recommend; what the model can read at all holds too. */
  readonly maxLength?: number;
  /** True = texts are not cut: `embed` throws `bad_request` for one that is longer. */
  readonly whole?: boolean;
}

/** The refusal of a text that is longer than what an encoder reads, in the words that Ollama's clients know. */
export const textTooLong = (tokens: number, most: number): Failure =>
  new Failure(
    'bad_request',
    `the input length exceeds the context length: a text has ${tokens} tokens or more, and the model reads ${most}.`,
    {
      code: 'InputTooLong',
    },
  );

/** A loaded encoder, seen from the daemon; every call crosses to its host process. A dead host throws `Failure('unavailable')`. */
export interface EncoderModel {
  readonly info: EncoderInfo;
  /** One vector of length 1 per text, and the tokens that each text had after truncation. */
  embed(texts: readonly string[], call: EncoderCall): Promise<{ vectors: Float32Array[]; tokens: number[] }>;
  /** Raw logits of the head for (query, document) pairs, `labels.length` per document, and tokens per pair. */
  score(query: string, documents: readonly string[], call: EncoderCall): Promise<{ logits: Float32Array[]; tokens: number[] }>;
  /** Raw logits of the head per text, or per (text, pair) where pairs are given, as zero-shot classification needs. */
  classify(texts: readonly string[], call: EncoderCall, pairs?: readonly string[]): Promise<{ logits: Float32Array[]; tokens: number[] }>;
  /** Entities of each text, whole words merged; long texts are read in windows of `maxLength` tokens. */
  entities(texts: readonly string[], call: EncoderCall): Promise<{ entities: Entity[][]; tokens: number[] }>;
  close(): Promise<void>;
}
