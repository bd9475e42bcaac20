import type { NativeStateOutcome } from '../../../native/contract.js';
import type { Message, Tool } from '../../../schemas/generated/common.js';
import type { RecommendedSampling } from '../../formats/recommended.js';

/** Sampling and length settings of one completion; absent = the provider's default. Wire names, as in the chat request. */
export interface Sampling {
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  /** Answer tokens; thinking tokens are separate. */
  max_tokens?: number;
  stop?: string[];
  seed?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  repeat_penalty?: number;
  /** DRY, of GGUF models: a token that would continue what the answer has said before in `dry_allowed_length` tokens or more becomes less likely. */
  dry_multiplier?: number;
  dry_base?: number;
  dry_allowed_length?: number;
  logit_bias?: Record<string, number>;
  /** The text depends on the messages and settings alone, not on what else runs or ran. Such answers are made one after the other, with nothing reused. */
  deterministic?: boolean;
  logprobs?: boolean;
  /** 0 to 20 alternatives per token. */
  top_logprobs?: number;
}

/** How a language model is loaded; the `extra_body` names of the project file. Absent = the engine's default; ONNX exports know the first, the slots, layers and threads. */
export interface LanguageOptions {
  n_ctx?: number;
  /** Sequences decoded together, 1 to 64; default 32. Each may use up to `n_ctx` tokens; where memory is short they share one KV buffer. */
  n_slots?: number;
  n_batch?: number;
  n_ubatch?: number;
  n_gpu_layers?: number;
  n_threads?: number;
  flash_attn?: boolean;
  use_mmap?: boolean;
  use_mlock?: boolean;
  cache_type_k?: string;
  cache_type_v?: string;
  /** One KV buffer for all sequences (prefixes shared between them) instead of one each. */
  kv_unified?: boolean;
  /** Runs prompts while the model loads, so that the first request does not pay for what devices make at first use; default true. */
  warm_up?: boolean;
}

/** What a loaded language model says about itself. */
export interface LanguageInfo {
  path: string;
  name: string;
  architecture: string;
  /** Bytes of the file(s). */
  sizeBytes: number;
  /** Context that one sequence can use, in tokens. */
  contextSize: number;
  trainedContextSize: number;
  /** Most UTF-16 units of text that one token stands for; absent where a token may stand for any amount, such as an unknown word. */
  longestToken?: number;
  /** How it was loaded: what was asked for where that could be had, and the engine's choice of the rest; what its engine does not have is absent. */
  options: LanguageOptions;
  /**
   * The Jinja text that conversations are written by (at most 256 KiB): the model's own where `present` and usable, else one in its place. The SHA-256 (first 16
   * hex) of its own, empty without one. What the text supports: `tools` = it takes tools, `thinking` = it takes `enable_thinking`.
   */
  template: { present: boolean; text: string; hash: string; tools: boolean; thinking: boolean };
  sampling: RecommendedSampling;
  devices: { requested: string; available: string[]; used: string[]; why: string | null };
  /** Warnings of loading, such as a capped context, for the caller and the log. */
  notes: string[];
}

/** What `prepare` renders. */
export interface PrepareRequest {
  messages: Message[];
  /** Tools for the template's own rendering; already-injected tools come as text instead. */
  tools?: Tool[];
  addGenerationPrompt: boolean;
  /** What of the answer is written already: the model goes on behind it. Needs `addGenerationPrompt`. */
  begunAnswer?: string;
  /** Jinja text, or the name of a known template, in place of the model's own. */
  chatTemplate?: string;
  /** Passed to the template as `enable_thinking` where given. */
  enableThinking?: boolean;
  /** In place of the messages: what goes to the model without a template. */
  raw?: RawPrompt;
}

/** A prompt that no template writes. */
export interface RawPrompt {
  /** Text, or tokens, which go to the model as they are. */
  content: string | Int32Array;
  /** What comes behind the answer, for models that fill gaps; `content` is text then. */
  suffix?: string;
  /** False = nothing is put before the text, such as the model's beginning token; default true. */
  framed?: boolean;
  /** True = texts of control tokens in it are ordinary text. */
  plain?: boolean;
}

/** A prompt as it goes to the model. */
export interface PromptTexts {
  /** Empty where it came as tokens. */
  readonly text: string;
  readonly tokens: Int32Array;
}

/** A rendered and tokenised prompt that waits in the host; generated from or dropped, and gone after 60 s. */
export interface PreparedPrompt {
  promptId: number;
  promptTokens: number;
  /** True when the rendered prompt ends inside an opened thinking block. */
  endsInThinking: boolean;
}

/** A LoRA adapter that a text is made with. The file was checked against the model's. */
export interface AdapterUse {
  /** Absolute, with its links followed. */
  readonly file: string;
  /** Tells the states of the file apart. */
  readonly stamp: string;
  readonly sizeBytes: number;
  /** -100 to 100, not 0. */
  readonly scale: number;
}

/** One generation from a prepared prompt. */
export interface GenerateRequest extends Omit<Sampling, 'max_tokens'> {
  promptId: number;
  /** All tokens that may be generated, thinking included. */
  maxTokens: number;
  /** Of them, most tokens outside a thinking block; thinking that was not used is no room for the answer. */
  answerTokens?: number;
  /** GBNF text with root rule `root`; constrains sampling. */
  grammar?: string;
  /** Text after which the grammar begins to hold, for what follows it; absent = from the beginning. Engines without grammars leave such a one out. */
  grammarStart?: string;
  /** Forces `</think>` after this many tokens inside a thinking block. */
  thinkingBudget?: number;
  startsInThinking?: boolean;
  /** The name under which `states.save` finds what this generation leaves behind. */
  remember?: string;
  /** At most 8, each file once; GGUF models only. */
  adapters?: readonly AdapterUse[];
}

/** One step's news about one generation, as the host sends it. */
export interface GenerateEvent {
  /** Text that became complete UTF-8 in this step; may be empty. */
  text: string;
  tokens: number;
  /** While a long prompt is being read, now and then: tokens of it that are read, and all of them. */
  progress?: { read: number; of: number };
  logprobs?: { token: string; logprob: number; bytes: number[]; top: { token: string; logprob: number; bytes: number[] }[] }[];
  /** Present in the last event. `stop` = end of generation or a stop string, `length` = out of tokens or context. */
  finish?: 'stop' | 'length';
  /** In the last event: the stop string that was found, where one ended the output. */
  stopText?: string;
  /** In the last event: prompt tokens, of them reused from a cached prefix, and generated tokens. */
  counts?: { prompt: number; reused: number; generated: number; thinking: number };
}

/** What a saved state is. */
export interface SavedState {
  /** Tokens that it stands for, those of the answer among them. */
  readonly tokens: number;
  readonly bytes: number;
}

/** What became of a restore. */
export interface RestoredState {
  readonly outcome: NativeStateOutcome;
  readonly tokens: number;
}

/** The KV states of one loaded model, by the path of their file; each call crosses to its host process. */
export interface SequenceStates {
  /** 16 hex digits that tell weights and cache options apart; a state fits only a model with the same. */
  readonly tag: string;
  /** Saves what the generation remembered as `name` left behind, once; `keep` holds a copy in the host's memory. Null where it is gone. */
  save(name: string, file: string, keep: boolean): Promise<SavedState | null>;
  /** Makes the next prompt with the state's beginning go on from it. */
  restore(file: string, keep: boolean): Promise<RestoredState>;
  /** Frees the copy in the host's memory; the file stays. */
  drop(file: string): Promise<void>;
  /** Whether the host holds a copy in memory. */
  holds(file: string): boolean;
}

/** A loaded language model, seen from the daemon; every call crosses to its host process. */
export interface LanguageModel {
  readonly info: LanguageInfo;
  /** Absent where an engine cannot copy its KV memory. */
  readonly states?: SequenceStates | undefined;
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedPrompt>;
  /** What a prompt becomes, which is not kept. Throws as `prepare` does. */
  render(request: PrepareRequest, signal: AbortSignal): Promise<PromptTexts>;
  /** The text of each list of tokens; control tokens are shown. Throws `invalid` for one that the model does not have. */
  textsOf(lists: readonly Int32Array[]): Promise<string[]>;
  /** Token counts of plain texts, for budgets. */
  countTokens(texts: string[]): Promise<number[]>;
  /** Streams one generation. Aborting or leaving the loop frees the sequence within one step. A dead host throws `Failure('unavailable')`. */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<GenerateEvent>;
  /** The model with these adapters: its texts, and the states of those, which no other text goes on from. Absent where an engine runs none. */
  adapted?(adapters: readonly AdapterUse[]): LanguageModel;
}
