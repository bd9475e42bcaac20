import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest, ModelParameters } from '../../schemas/generated/core/chat.js';
import { FORM_FIELDS } from '../completions/answer-form.js';
import { DRY_SETTINGS, SETTINGS_IN_EXTRA } from '../completions/options.js';
import { expandEnv } from '../config/variables.js';
import type { CompletionRequest } from '../providers/contract.js';

/** Settings that have the same name and meaning in the request and in `model_api_parameters`; the request wins. */
const MERGED = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'repeat_penalty',
  ...DRY_SETTINGS,
  'logit_bias',
  'think',
  'thinking_budget',
  'deterministic',
  'n_ctx',
] as const;
/** `model_api_parameters` that are read here; all others go to the provider as they are. */
const KNOWN = new Set<string>([...MERGED, 'max_tokens', 'max_completion_tokens', 'stop']);
/** Settings that the universal runtime takes from `extra_body` where the request has none. */
const READ_IN_EXTRA = new Set<string>([...SETTINGS_IN_EXTRA, 'n_ctx']);
/** What `extra_body` cannot change: it would contradict what was decided here. */
const RESERVED = new Set(['model', 'messages', 'stream', 'stream_options', 'n', 'tools', 'tool_choice']);

/** The sampling, length and provider settings of a request: its own, else the model's, else the default. */
export function settingsOf(model: ModelConfig, request: ChatRequest): Omit<CompletionRequest, 'messages'> {
  const defaults: ModelParameters = model.model_api_parameters ?? {};
  const settings: Record<string, unknown> = {};
  for (const name of MERGED) settings[name] = request[name] ?? (hasOwn(request.extra_body, name) ? undefined : defaults[name]);
  settings.max_tokens = request.max_completion_tokens ?? request.max_tokens ?? defaults.max_completion_tokens ?? defaults.max_tokens;
  settings.stop = stopsOf(request.stop ?? defaults.stop);
  if (request.logprobs) Object.assign(settings, { logprobs: true, top_logprobs: request.top_logprobs });
  for (const name of ['parallel_tool_calls', 'response_format', 'user'] as const) settings[name] = request[name];
  if (request.n && request.n > 1) settings.n = request.n;
  settings.extra = extraOf(model, request);
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}

/** Whether a request's own `extra_body` says what the universal runtime reads there, so that the model's setting does not hold. */
function hasOwn(extra: Record<string, unknown> | null | undefined, name: string): boolean {
  return READ_IN_EXTRA.has(name) && extra?.[name] !== undefined && extra[name] !== null;
}

function stopsOf(stop: string | readonly string[] | null | undefined): string[] | undefined {
  const stops = (typeof stop === 'string' ? [stop] : [...(stop ?? [])]).filter((text) => text !== '');
  return stops.length > 0 ? stops : undefined;
}

function extraOf(model: ModelConfig, request: ChatRequest): Record<string, unknown> | undefined {
  const others = Object.entries(model.model_api_parameters ?? {}).filter(([name]) => !KNOWN.has(name));
  // Only the operator's own file may name environment variables.
  const configured = expandEnv({ ...Object.fromEntries(others), ...model.extra_body });
  const form = Object.fromEntries(FORM_FIELDS.map((name) => [name, request[name] ?? undefined]).filter(([, value]) => value !== undefined));
  const extra = Object.entries({ ...configured, ...request.extra_body, ...form }).filter(([name]) => !RESERVED.has(name));
  return extra.length > 0 ? Object.fromEntries(extra) : undefined;
}
