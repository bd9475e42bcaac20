import type { AdapterUse, LanguageModel, LanguageOptions, PromptTexts, RawPrompt } from '../engines/contracts/language.js';
import type { LanguageSettings } from '../models/find/language.js';
import type { CollectedCompletion, Completion, CompletionRequest } from './contract.js';
import type { FormFields } from './settings.js';

/** One completion asked of the runtime, with its model and how to load it. */
export interface UniversalRequest extends CompletionRequest {
  /** As the client named it: file path, built-in name, or `org/repo[:QUANT]`. */
  model: string;
  options: LanguageOptions;
  /** Shorten a history that does not fit (true), or fail with `context_length_exceeded` (false). */
  autoTruncate: boolean;
  /** Any text; unknown names mean `summarize`, as does absence. */
  truncationStrategy?: string | undefined;
  /** What beside `response_format` may say the form of the answer. */
  form?: Omit<FormFields, 'response_format'>;
  /** In place of the model's own chat template: Jinja text, a file, or the name of a known one. */
  chat_template?: string;
  /** LoRA adapters, as the request names them; at most 8. */
  lora?: readonly LoraWish[];
  /** In place of the messages, which are empty then: what goes to the model without a template. No tools, no thinking. */
  raw?: RawPrompt;
  /** True = tools go into the prompt as text even where the template could render them. */
  injectTools?: boolean;
  /** True = the model stays in memory when it is idle. */
  keepLoaded?: boolean;
  /** How long the model stays in memory after this answer, in place of the limit of all models; 0 = no longer, Infinity = until it is in the way. */
  stayMs?: number | undefined;
  /** How an ONNX export is run. */
  transformers?: LanguageSettings;
  /** Uses saved KV states around the generation. */
  states?: StateUse;
  /** Told what is said in the audio of the last message: all of it so far, with each stretch that is heard. */
  heard?: ((text: string) => void) | undefined;
}

/** A LoRA adapter as a client names it: a path, or a name as of a model; how strong it is, -100 to 100, 1 unless given. */
export interface LoraWish {
  readonly path: string;
  readonly scale?: number | null;
}

/** An answer that was made, as the one who keeps its state needs it. */
export interface AnswerMade {
  readonly text: string;
  readonly toolCalls: CollectedCompletion['toolCalls'];
  /** Prompt tokens that were not decoded again. */
  readonly reusedTokens: number;
}

/** What happens to KV states around one generation, while its model is held. Neither call rejects. */
export interface StateUse {
  /** The name under which the engine remembers the generation; absent = nothing is saved after it. */
  readonly remember?: string | undefined;
  before(model: LanguageModel): Promise<void>;
  after(model: LanguageModel, answer: AnswerMade): Promise<void>;
}

/** A model in use; `release` is called exactly once. */
export interface AcquiredModel {
  readonly model: LanguageModel;
  readonly key: string;
  release(): void;
}

/** Where models come from; the `Models` class is one. */
export interface ModelSource {
  /** `keepLoaded` exempts the model from idle unloading. */
  acquire(
    id: string,
    options: LanguageOptions,
    signal: AbortSignal,
    residency?: { keepLoaded?: boolean; stayMs?: number | undefined; transformers?: LanguageSettings },
  ): Promise<AcquiredModel>;
  /** The adapters that a request for a model names, each checked against the model; those of scale 0 are left out. Throws `not_found`, `invalid` or `bad_request`. */
  adapters(id: string, wanted: readonly LoraWish[], transformers?: LanguageSettings): Promise<AdapterUse[]>;
  /** The Jinja text, or the name of a known template, that a setting `chat_template` stands for. Throws `invalid` for one that stands for none. */
  chatTemplate(setting: string): Promise<string>;
}

/** What opens completions; `Completions` is one. */
export interface CompletionSource {
  open(request: UniversalRequest, signal: AbortSignal): Promise<Completion>;
  /** The prompt of a request as its model would get it, however long it is. */
  render(request: UniversalRequest, signal: AbortSignal): Promise<PromptTexts & { readonly contextSize: number }>;
  /** The text of each list of tokens of a model. */
  textsOf(request: ModelRequest, lists: readonly Int32Array[], signal: AbortSignal): Promise<string[]>;
  /** Loads the model of a request, and keeps it loaded until it is released. */
  hold(request: ModelRequest, signal: AbortSignal): Promise<AcquiredModel>;
}

/** What of a request says which model it needs, and how that is loaded. */
export type ModelRequest = Pick<UniversalRequest, 'model' | 'options' | 'keepLoaded' | 'stayMs' | 'transformers'>;
