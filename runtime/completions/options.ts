import { Failure } from '../../schemas/errors.js';
import type { TransformersConfig } from '../../schemas/generated/config/project.js';
import type { ExtraBody, WithExtraBody } from '../../schemas/generated/universal/chat.js';
import { check } from '../../schemas/validate.js';
import type { LanguageOptions } from '../engines/contracts/language.js';
import type { ExportSettings, LanguageSettings } from '../models/find/language.js';
import { FORM_FIELDS, type FormFields } from './answer-form.js';

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
  'chat_template',
] as const satisfies readonly (keyof ExtraBody)[];

/** Of these, what is set. */
export type SettingsInExtra = Pick<ExtraBody, (typeof SETTINGS_IN_EXTRA)[number]>;

/** Checks an `extra_body` object; out-of-range values and unknown cache types are `Failure('invalid')` naming what is allowed. */
export function checkedExtra(extra: Record<string, unknown> | null | undefined): ExtraBody {
  // Checked where it stands, so that messages name the path that the client wrote.
  return extra ? (check<WithExtraBody>('universal/chat#WithExtraBody', { extra_body: extra }, 'body').extra_body ?? {}) : {};
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
