import type { Message } from '../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import { UNTIL_CONTEXT_ENDS } from '../../completions/budget.js';
import type { CompletionRequest } from '../../completions/contract.js';
import { DRY_SETTINGS, languageSettings } from '../../completions/settings.js';
import { expandEnv } from '../../config/variables.js';

/** Request members that go to an OpenAI-compatible host under the same name. */
const SAME_NAME = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'max_tokens',
  'seed',
  'n',
  'presence_penalty',
  'frequency_penalty',
  'repeat_penalty',
  ...DRY_SETTINGS,
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'response_format',
  'user',
] as const;

/** Answer tokens of a foreign host where neither the request nor the model says; our own runtime fits its default to the context. */
const DEFAULT_MAX_TOKENS = 512;

/** Members that `extra` cannot change, since the answer is read by them. */
const OURS = new Set(['messages', 'stream', 'stream_options', 'n']);

/** Those of our own runtime that only the model's entry in the project says, as in process. */
const OF_THE_ENTRY = new Set(['keep_loaded', 'transformers']);

/** Hosts reject null members and empty `tool_calls`; only `content` may be null. */
function plainMessage(message: Message): Record<string, unknown> {
  const { role, content, tool_calls: calls, ...rest } = message;
  const out: Record<string, unknown> = { role, content: content ?? (role === 'assistant' && calls?.length ? null : '') };
  for (const [name, value] of Object.entries(rest)) if (value !== null && value !== undefined) out[name] = value;
  if (calls?.length)
    out.tool_calls = calls.map((call) => ({
      ...(typeof call.id === 'string' ? { id: call.id } : {}),
      type: 'function',
      function: { name: call.function.name, arguments: call.function.arguments ?? '{}' },
    }));
  return out;
}

/**
 * The JSON body of `POST /chat/completions`. It always streams and asks for usage; `extra_body` of the model and
 * `extra` of the request are merged in last. `think`, `thinking_budget`, `deterministic`
 * and `n_ctx` are left out, because a hosted API answers unknown members with 400: providers that know better name them in `added`.
 */
export function chatBody(
  model: ModelConfig,
  request: CompletionRequest,
  { added = {}, ours = false }: { added?: Record<string, unknown>; ours?: boolean } = {},
): Record<string, unknown> {
  const body: Record<string, unknown> = { model: model.model, messages: request.messages.map(plainMessage) };
  if (!ours) body.max_tokens = DEFAULT_MAX_TOKENS;
  for (const name of SAME_NAME) if (request[name] !== undefined && request[name] !== null) body[name] = request[name];
  // Hosts go on until their own limit where none is given, and take no empty form.
  if (!ours && body.max_tokens === UNTIL_CONTEXT_ENDS) delete body.max_tokens;
  if (request.response_format && Object.keys(request.response_format).length === 0) delete body.response_format;
  if (request.stop?.length) body.stop = request.stop;
  if (request.tools?.length) {
    body.tools = request.tools;
    if (request.tool_choice !== undefined && request.tool_choice !== null) body.tool_choice = request.tool_choice;
    if (request.parallel_tool_calls !== undefined) body.parallel_tool_calls = request.parallel_tool_calls;
  }
  Object.assign(body, added);
  const isSet = (name: string): boolean => OURS.has(name) || (ours && OF_THE_ENTRY.has(name));
  for (const [name, value] of Object.entries(extraMembers(model, request))) if (!isSet(name) && value !== undefined) body[name] = value;
  // Newer hosted models refuse the older name next to the newer one.
  if (body.max_completion_tokens !== undefined) delete body.max_tokens;
  body.stream = true;
  body.stream_options = { include_usage: true };
  return body;
}

/**
 * The model's members with `${env:NAME}` expanded, then the request's. A request's own strings are never expanded: they are the client's.
 * Where `extra` only repeats the model's member, the expanded one stays.
 */
function extraMembers(model: ModelConfig, request: CompletionRequest): Record<string, unknown> {
  const written = model.extra_body ?? {};
  const out: Record<string, unknown> = expandEnv({ ...written });
  for (const [name, value] of Object.entries(request.extra ?? {})) if (value !== written[name]) out[name] = value;
  return out;
}

/** The members that only the universal runtime knows. As in process, a history is not shortened unless `extra_body` says so. */
export function universalMembers(model: ModelConfig, request: CompletionRequest): Record<string, unknown> {
  const out: Record<string, unknown> = { auto_truncate: false };
  if (model.keep_loaded) out.keep_loaded = true;
  const transformers = languageSettings(model.name, model.transformers);
  if (transformers) out.transformers = transformers;
  for (const name of ['think', 'thinking_budget', 'deterministic', 'continue_final_message', 'n_ctx'] as const)
    if (request[name] !== undefined) out[name] = request[name];
  return out;
}
