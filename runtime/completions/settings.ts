import { randomInt } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { TransformersConfig } from '../../schemas/generated/config/project.js';
import type { ExtraBody, WithExtraBody } from '../../schemas/generated/universal/chat.js';
import { check } from '../../schemas/validate.js';
import type { GenerateEvent, GenerateRequest, LanguageOptions, Sampling } from '../engines/contracts/language.js';
import type { RecommendedSampling } from '../formats/recommended.js';
import type { ExportSettings, LanguageSettings } from '../models/find/language.js';
import type { TokenLogprob } from './contract.js';

const OPTION_NAMES = [
  'n_ctx',
  'n_slots',
  'n_batch',
  'n_ubatch',
  'n_gpu_layers',
  'n_threads',
  'flash_attn',
  'use_mmap',
  'use_mlock',
  'cache_type_k',
  'cache_type_v',
  'kv_unified',
  'warm_up',
] as const satisfies readonly (keyof LanguageOptions)[];

/** The members of a request that say what form its answer has; at most one of them may. */
export interface FormFields {
  response_format?: Record<string, unknown> | null | undefined;
  /** GBNF, as llama.cpp's server takes it; `guided_grammar` is vLLM's name. */
  grammar?: string | null | undefined;
  guided_grammar?: string | null | undefined;
  /** A JSON Schema, or one as text; `json_schema` is llama.cpp's name, `guided_json` vLLM's. */
  json_schema?: Record<string, unknown> | string | null | undefined;
  guided_json?: Record<string, unknown> | string | null | undefined;
  /** A regular expression of the whole answer. */
  guided_regex?: string | null | undefined;
  /** The texts of which the answer is one. */
  guided_choice?: readonly string[] | null | undefined;
}

/** Names of the fields that stand beside `response_format`, in the request or its `extra_body`. */
export const FORM_FIELDS = ['grammar', 'guided_grammar', 'json_schema', 'guided_json', 'guided_regex', 'guided_choice'] as const;

/** Names of the settings of DRY. */
export const DRY_SETTINGS = ['dry_multiplier', 'dry_base', 'dry_allowed_length'] as const;

/** Settings of a generation that `extra_body` may hold instead of the request itself. */
export const SETTINGS_IN_EXTRA = [
  'top_k',
  'min_p',
  'repeat_penalty',
  ...DRY_SETTINGS,
  'think',
  'thinking_budget',
  'deterministic',
  'continue_final_message',
  'chat_template',
  'lora',
] as const satisfies readonly (keyof ExtraBody)[];

/** Of these, what is set. */
type SettingsInExtra = Pick<ExtraBody, (typeof SETTINGS_IN_EXTRA)[number]>;

/** Checks an `extra_body` object; out-of-range values and unknown cache types are `Failure('invalid')` naming what is allowed. */
export function checkedExtra(extra: Record<string, unknown> | null | undefined): ExtraBody {
  refuseOtherAdapters(extra);
  // Checked where it stands, so that messages name the path that the client wrote.
  return extra ? (check<WithExtraBody>('universal/chat#WithExtraBody', { extra_body: extra }, 'body').extra_body ?? {}) : {};
}

/** Under which names clients of other servers ask for LoRA adapters. */
const OTHER_NAMES = ['loras', 'lora_adapters', 'lora_request', 'adapters'] as const;
const HOW = 'lora: [{"path": "adapter.gguf", "scale": 1}]';

function adapterMember(names: readonly string[], places: readonly (object | null | undefined)[]): string | undefined {
  for (const place of places)
    for (const name of names) {
      const value = (place as Record<string, unknown> | null | undefined)?.[name];
      if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue;
      return `${name} names ${(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200)}`;
    }
  return undefined;
}

/** Throws `bad_request` (code `AdapterUnsupported`) where a request or its `extra_body` asks for LoRA adapters by a name of another server than `lora`. */
export function refuseOtherAdapters(...places: readonly (object | null | undefined)[]): void {
  const named = adapterMember(OTHER_NAMES, places);
  if (named === undefined) return;
  throw new Failure('bad_request', `${named}, and LoRA adapters go by another name here: ${HOW}.`, { code: 'AdapterUnsupported' });
}

/**
 * Throws `bad_request` where a chat asks for what OpenAI's servers do and none here: an answer that is spoken (code `AudioUnsupported`), or calls in the form before
 * tools (code `FunctionsUnsupported`). An answer without it would look like one that was asked for.
 */
export function refuseUnmade(chat: object): void {
  const { modalities, functions } = chat as { readonly modalities?: unknown; readonly functions?: unknown };
  if (Array.isArray(modalities) && modalities.includes('audio'))
    throw new Failure(
      'bad_request',
      'modalities names audio, and answers are texts: send them to /v1/audio/speech, or hold a voice conversation.',
      {
        code: 'AudioUnsupported',
      },
    );
  if (Array.isArray(functions) && functions.length > 0)
    throw new Failure('bad_request', 'functions is the form before tools: send each as tools: [{"type": "function", "function": {...}}].', {
      code: 'FunctionsUnsupported',
    });
}

/** Throws the same as for adapters where a request of a kind that is made without adapters asks for some, by whatever name. */
export function refuseAdapters(...places: readonly (object | null | undefined)[]): void {
  refuseAdaptersOf(
    `send ${HOW} with a chat or completion of OpenAI's or Anthropic's form, or make a model with ADAPTER by /api/create`,
    ...places,
  );
}

/** The same, with what to do `instead`. */
export function refuseAdaptersOf(instead: string, ...places: readonly (object | null | undefined)[]): void {
  const named = adapterMember(['lora', ...OTHER_NAMES], places);
  if (named === undefined) return;
  throw new Failure('bad_request', `${named}, and LoRA adapters are not run here: ${instead}.`, { code: 'AdapterUnsupported' });
}

/** The loading options of a request: the top-level field, or `extra_body` where that is absent or null. Both are checked already. */
export const languageOptions = (top: ExtraBody, extra: ExtraBody): LanguageOptions => setIn(OPTION_NAMES, top, extra);

/** The settings of a generation that may stand in either place: the request's own, or those of `extra_body` where they are absent or null. */
export const generationSettings = (top: SettingsInExtra, extra: ExtraBody): SettingsInExtra => setIn(SETTINGS_IN_EXTRA, top, extra);

/** The members that say the form of an answer beside `response_format`: the request's own, or those of `extra_body`. */
export const formFields = (top: ExtraBody, extra: ExtraBody): Omit<FormFields, 'response_format'> => setIn(FORM_FIELDS, top, extra);

/** What of `transformers`, or of an encoder's settings, says how an ONNX export is run; undefined where nothing does. */
export function exportSettings({ device, dtype }: ExportSettings = {}): ExportSettings | undefined {
  if (device === undefined && dtype === undefined) return undefined;
  return { ...(device === undefined ? {} : { device }), ...(dtype === undefined ? {} : { dtype }) };
}

/**
 * What of `transformers` says how a language model is run; undefined where nothing does. Throws `bad_request` (code `WrongModelType`) where
 * `model_type` says that the model is there for something else than text.
 */
export function languageSettings(model: string, settings: TransformersConfig | null = {}): LanguageSettings | undefined {
  const { model_type: type } = settings ?? {};
  if (type !== undefined && type !== 'text')
    throw new Failure('bad_request', `Model '${model}' has transformers.model_type ${type}, so it answers no chats; name another model.`, {
      code: 'WrongModelType',
    });
  const how = exportSettings(settings ?? {});
  return type === undefined ? how : { ...how, model_type: type };
}

function setIn(names: readonly (keyof ExtraBody)[], top: ExtraBody, extra: ExtraBody): object {
  const found = names.map((name) => [name, top[name] ?? extra[name]]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null));
}

const SEEDS = 2 ** 32;
const MAX_TOP_LOGPROBS = 20;

/** Where neither a request nor the model's file says anything. */
const SAMPLING_DEFAULTS = { temperature: 1, top_p: 1, top_k: 40, min_p: 0.05 } as const;
/** Sent to the engine only where they do something. */
const PENALTIES = ['presence_penalty', 'frequency_penalty', 'repeat_penalty'] as const;

/**
 * Sampling settings for the engine: the request's, else what the model's file recommends, else the default. The seed is random unless given, 0 for
 * deterministic texts, and is cut to 32 bits. Where an answer is `held` to a form whose signs repeat, such as JSON, recommended penalties are left out.
 */
export function engineSampling(
  request: Sampling,
  recommended: RecommendedSampling,
  held = false,
): Omit<GenerateRequest, 'promptId' | 'maxTokens'> {
  const settings = { ...SAMPLING_DEFAULTS, ...recommended };
  const seed = request.seed ?? (request.deterministic ? 0 : randomInt(SEEDS));
  const sampling: Omit<GenerateRequest, 'promptId' | 'maxTokens'> = {
    temperature: request.temperature ?? settings.temperature,
    top_p: request.top_p ?? settings.top_p,
    top_k: request.top_k ?? settings.top_k,
    min_p: request.min_p ?? settings.min_p,
    seed: seedAfter(seed, 0),
  };
  for (const name of PENALTIES) {
    const value = request[name] ?? (held ? undefined : recommended[name]);
    if (value) sampling[name] = value;
  }
  // Where a grammar holds, the engine leaves DRY out by itself.
  if (request.dry_multiplier ?? recommended.dry_multiplier) {
    for (const name of DRY_SETTINGS) {
      const value = request[name] ?? recommended[name];
      if (value !== undefined) sampling[name] = value;
    }
  }
  if (request.logit_bias && Object.keys(request.logit_bias).length > 0) sampling.logit_bias = request.logit_bias;
  if (request.deterministic) sampling.deterministic = true;
  const stop = request.stop?.filter((text) => text !== '');
  if (stop?.length) sampling.stop = stop;
  if (wantsLogprobs(request)) {
    sampling.logprobs = true;
    sampling.top_logprobs = Math.min(request.top_logprobs ?? 0, MAX_TOP_LOGPROBS);
  }
  return sampling;
}

/** The seed that many behind another, cut to 32 bits. */
export function seedAfter(seed: number, steps: number): number {
  return ((seed % SEEDS) + SEEDS + steps) % SEEDS;
}

/** True when the answer carries logprobs: asked for, or implied by `top_logprobs`. */
export function wantsLogprobs(request: Sampling): boolean {
  return request.logprobs ?? (request.top_logprobs !== undefined && request.top_logprobs > 0);
}

/** The engine's logprobs in the chat format, each list cut to `top` alternatives. */
export function wireLogprobs(logprobs: NonNullable<GenerateEvent['logprobs']>, top: number): TokenLogprob[] {
  return logprobs.map((entry) => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes,
    top_logprobs: entry.top.slice(0, top),
  }));
}
