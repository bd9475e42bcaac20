import type { NativeAddon } from './core.js';
import type { NativeTranscriber, NativeTranscriberOptions } from './transcriber.js';

/** How a model file is opened. */
export interface NativeModelOptions {
  /** Layers on the GPU; -1 = all, 0 = none. */
  gpuLayers: number;
  mmap: boolean;
  mlock: boolean;
}

/** How the scheduler is set up. */
export interface NativeSchedulerOptions {
  /** Tokens of context per sequence. */
  contextSize: number;
  slots: number;
  batch: number;
  ubatch: number;
  threads: number;
  flashAttention: boolean;
  /** ggml type names: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1. */
  cacheTypeK: string;
  cacheTypeV: string;
  /** One buffer for all sequences: prompts share the KV of a common beginning. Split buffers decode unrelated sequences faster. */
  unifiedKv: boolean;
  /** Cells of a unified buffer; contextSize x slots when missing. With fewer, idle histories are dropped first, then sequences wait. */
  kvCells?: number;
  /** Runs a short prompt and a long one before the model is open, as far as that takes little time; false = one token. */
  warmUp: boolean;
}

/** What the weights say. */
export interface NativeModelInfo {
  architecture: string;
  name: string;
  description: string;
  sizeBytes: number;
  parameters: number;
  trainedContextSize: number;
  vocabularySize: number;
  layers: number;
  embeddingSize: number;
  headsKv: number;
  /** Jinja text, empty when the file has none. */
  chatTemplate: string;
  bosText: string;
  eosText: string;
  addBos: boolean;
  devices: string[];
}

/** Settings of one generation, flat; -1 or NaN are never passed: the caller fills every field. */
export interface NativeGenerateOptions {
  maxTokens: number;
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repeatPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  /**
   * Logit taken from a token that would continue a sequence of `dryAllowedLength` (1 or more) tokens or more that the text has had before:
   * `dryMultiplier` x `dryBase` ^ (length - `dryAllowedLength`). Not where a grammar holds; the prompt does not count. A multiplier of 0 = off.
   */
  dryMultiplier: number;
  dryBase: number;
  dryAllowedLength: number;
  /** 32-bit. */
  seed: number;
  /**
   * The tokens depend on nothing but the prompt and these options, whatever else runs and ran. Such generations run one after the other, in a
   * context of their own that is made at the first of them; no KV is reused or saved.
   */
  deterministic: boolean;
  /** Alternatives reported per token: -1 = no logprobs at all, 0 to 20. */
  topLogprobs: number;
  /** GBNF with a rule `root`, empty = unconstrained. Text before the first `thinkEnd` is free when `startsInThinking`. At most 1 MiB. */
  grammar: string;
  /** Tokens after which the grammar begins to hold, for the text behind them; until then the text is free. Empty = from the beginning. */
  grammarStart: Int32Array;
  /** Token ids and biases, same length. */
  biasTokens: Int32Array;
  biasValues: Float32Array;
  /** Most tokens inside thinking before `thinkEnd` is forced; -1 = unlimited. */
  thinkingBudget: number;
  thinkStart: Int32Array;
  thinkEnd: Int32Array;
  startsInThinking: boolean;
  /** Adapters by the ids of `loadAdapter`, each once, at most 8, and how strong each is, -100 to 100; a scale of 0 leaves one out. */
  adapterIds: Int32Array;
  adapterScales: Float32Array;
}

/** The sequence goes on. */
export const FINISH_NONE = 0;
/** The model ended its answer. */
export const FINISH_EOG = 1;
/** Out of tokens: `maxTokens`, or the context is full. */
export const FINISH_LENGTH = 2;
/** Ended by `abort` or `close`. */
export const FINISH_ABORTED = 3;
/** The engine failed; see the `error` of the step. */
export const FINISH_FAILED = 4;

/**
 * Int32 fields per row of `onStep`'s `rows`: generation id, token (-1 = none, also where an end-of-generation token ended it: that is no text and not counted), finish code, prompt tokens, reused tokens, generated tokens, thinking tokens, offset of the row's logprobs in `logprobs` (-1 = none), tokens of the text that were read.
 * A row without a token and without a finish code tells how far a long prompt is read.
 */
export const STEP_FIELDS = 9;

/**
 * One call per decode step, on the JavaScript thread; one call carries several steps when JavaScript was busy meanwhile. `rows` has STEP_FIELDS int32 per sequence that advanced.
 * `logprobs` holds, per row that asked: logprob of the token, count n, then n pairs (token id, logprob), all float64.
 * `error` is the engine's text when a row's finish code is FINISH_FAILED. Both arrays are the callback's own.
 */
export type OnStep = (rows: Int32Array, logprobs: Float64Array, error: string) => void;

/** What became of a restore: `present` = a sequence holds it already, `stale` = of other weights or options, `unfit` = no idle sequence has room. */
export type NativeStateOutcome = 'restored' | 'present' | 'missing' | 'stale' | 'corrupt' | 'unfit';

/** Adapters by the ids of `loadAdapter`, and how strong each is, as in `NativeGenerateOptions`. */
export interface NativeAdapterSet {
  readonly ids: Int32Array;
  readonly scales: Float32Array;
}

/** An opened model with its scheduler; one worker thread owns the context. */
export interface NativeScheduler {
  readonly info: NativeModelInfo;
  /** Context that a sequence really has: at most what was asked for. */
  readonly contextSize: number;
  /** Streams of the KV buffers that its saved states fit; 1 where they fit those of any shape. */
  readonly stateStreams: number;
  /** Sync. Text to token ids. */
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Int32Array;
  /** The same on a thread of the pool, for texts that take longer than 200 us: about 1 us a character. */
  tokenizeLong(text: string, addSpecial: boolean, parseSpecial: boolean): Promise<Int32Array>;
  /** Sync. The raw bytes of one token (special tokens render as their text when `special`). */
  tokenBytes(token: number, special: boolean): Uint8Array;
  isEndOfGeneration(token: number): boolean;
  /** Sync, cheap: queues a generation. `tokens` is copied. Throws Failure('invalid') on a bad grammar or options. Queue of at most 1024. */
  submit(id: number, tokens: Int32Array, options: NativeGenerateOptions): void;
  /** Sync, cheap. Ends the generation at the next micro-batch; its last row has FINISH_ABORTED. Unknown ids are ignored. */
  abort(id: number): void;
  /** Sync snapshot for status: `active`, `queued`, `steps`, `decodedTokens`, `prefilledTokens`, `reusedTokens`, `kvUsed`. */
  stats(): Record<string, number>;
  /**
   * Async on a worker, between two steps of the scheduler. Copies the KV memory of the sequence that holds most of `tokens`, at least the
   * first `least`, and writes it to `file` (checked, whole or not at all); `tag` tells models and their options apart. `keep` holds a copy in
   * memory too. Null where no sequence holds them any more, made with just these adapters. Rejects with `disk_full`, `unavailable` or `busy`.
   */
  saveState(
    tokens: Int32Array,
    least: number,
    file: string,
    tag: bigint,
    keep: boolean,
    adapters: NativeAdapterSet,
  ): Promise<{ tokens: number; bytes: number } | null>;
  /** Async alike. Puts a copy, from memory or else from its file, into an idle sequence, where the next prompt with that beginning and these adapters finds it. */
  restoreState(
    file: string,
    tag: bigint,
    keep: boolean,
    adapters: NativeAdapterSet,
  ): Promise<{ outcome: NativeStateOutcome; tokens: number }>;
  /** Sync. Frees the copy in memory of `file`; false without one. The file stays. */
  dropState(file: string): boolean;
  /**
   * Async on a worker; the file is loaded between two steps of the scheduler. Loads a LoRA adapter that was checked against the weights (the
   * engine ends the process for some that do not fit), and gives the id by which generations name it; ids do not come again. Rejects with
   * `invalid`, `unavailable` or `busy`.
   */
  loadAdapter(file: string): Promise<number>;
  /** Async alike. Frees an adapter; generations that name it later, or still run with it, fail. */
  dropAdapter(id: number): Promise<void>;
  /** Aborts all, joins the worker, frees the weights. */
  close(): Promise<void>;
}

/** How an embedder is set up. */
export interface NativeEmbedderOptions {
  /** Most tokens of one text; never more than the model was trained on. */
  contextSize: number;
  threads: number;
  flashAttention: boolean;
  /** True for a file with a ranking head: what comes back of a text is its score instead of its vector. */
  ranks: boolean;
}

/** An opened embedding model. */
export interface NativeEmbedder {
  readonly info: NativeModelInfo;
  /** Most tokens of one text. */
  readonly contextSize: number;
  /** Numbers that come back of a text. */
  readonly dimensions: number;
  readonly pooling: 'mean' | 'cls' | 'last' | 'rank';
  /** False where the file names no pooling, so that one was chosen by the kind of its attention. */
  readonly poolingKnown: boolean;
  /**
   * Sync. `plain` (the default): with the special tokens of the model around it; special texts in it are plain text. `template`: special
   * texts become their tokens, and none is added.
   */
  tokenize(text: string, kind?: 'plain' | 'template'): Int32Array;
  /**
   * Async on a pool thread, one at a time. `tokens` of all texts lie one after the other, `lengths` says how many each has; the vectors of
   * length 1, or the scores, come back alike. Several texts go through the model together. Rejects with `invalid` for lengths out of range.
   */
  embed(tokens: Int32Array, lengths: Int32Array): Promise<Float32Array>;
  /** Ends the work that runs, and frees the weights. */
  close(): Promise<void>;
}

/** The addon `quern_inference.node`; loaded only inside an engine host. */
export interface InferenceAddon extends NativeAddon {
  /** ggml/llama.cpp tag that the addon was compiled against. */
  readonly llamaTag: string;
  /** Sync. Loads the CPU library that fits this machine and every device plug-in found in the folders; returns the devices. */
  loadBackends(folders: string[]): { name: string; description: string; kind: 'cpu' | 'gpu' | 'accel'; memoryBytes: number }[];
  /** Async on a worker: opens the file and makes the context. `onProgress` gets 0 to 1. Rejects with a Failure. */
  open(
    path: string,
    model: NativeModelOptions,
    scheduler: NativeSchedulerOptions,
    onProgress: (fraction: number) => void,
    onStep: OnStep,
  ): Promise<NativeScheduler>;
  /** Async on a pool thread: opens the file for embeddings only. Rejects with a Failure. */
  openEmbedder(path: string, model: NativeModelOptions, embedder: NativeEmbedderOptions): Promise<NativeEmbedder>;
  /**
   * Async on a pool thread: opens a Whisper model in ggml form, whose every length and shape is checked before the engine sees it. Rejects with
   * `invalid` for a file that cannot be used, which names what is wrong.
   */
  openTranscriber(path: string, options: NativeTranscriberOptions): Promise<NativeTranscriber>;
}
