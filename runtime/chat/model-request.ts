import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message, Tool } from '../../schemas/generated/common.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest, ModelParameters } from '../../schemas/generated/core/chat.js';
import { check } from '../../schemas/validate.js';
import { log } from '../base/log.js';
import type { CompletionRequest } from '../completions/contract.js';
import { DRY_SETTINGS, FORM_FIELDS, refuseOtherAdapters, refuseUnmade, SETTINGS_IN_EXTRA } from '../completions/settings.js';
import { thinkOf } from '../completions/thinking.js';
import { expandEnv } from '../config/variables.js';
import { resolveDeep, resolveText, type Variables } from './templates.js';

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
  refuseOtherAdapters(request);
  refuseUnmade(request);
  const defaults: ModelParameters = model.model_api_parameters ?? {};
  const settings: Record<string, unknown> = {};
  for (const name of MERGED) settings[name] = request[name] ?? (hasOwn(request.extra_body, name) ? undefined : defaults[name]);
  if ((request.think ?? request.extra_body?.think ?? null) === null) settings.think = thinkOf(request.reasoning_effort) ?? settings.think;
  settings.max_tokens = request.max_completion_tokens ?? request.max_tokens ?? defaults.max_completion_tokens ?? defaults.max_tokens;
  settings.stop = stopsOf(request.stop ?? defaults.stop);
  if (request.logprobs) Object.assign(settings, { logprobs: true, top_logprobs: request.top_logprobs });
  for (const name of ['parallel_tool_calls', 'response_format', 'user', 'continue_final_message'] as const) settings[name] = request[name];
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
  const own = Object.fromEntries(
    [...FORM_FIELDS, 'lora' as const].map((name) => [name, request[name] ?? undefined]).filter(([, value]) => value !== undefined),
  );
  const extra = Object.entries({ ...configured, ...request.extra_body, ...own }).filter(([name]) => !RESERVED.has(name));
  return extra.length > 0 ? Object.fromEntries(extra) : undefined;
}

/** Most tools of one request, configured ones included. */
export const MAX_TOOLS = 128;

function checkedTool(tool: unknown, index: number): Tool {
  try {
    return check<Tool>('common#Tool', tool);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const errors = error.errors?.map((item) => ({ ...item, loc: ['body', 'tools', index, ...item.loc.slice(1)] })) ?? [];
    throw new Failure('invalid', `tools.${index}: ${error.message}`, { errors });
  }
}

/** The function tools of a request; those of other types, which clients send to the hosts that have them, are left out. Throws `invalid` for a flawed one. */
function functionTools(requested: readonly unknown[]): Tool[] {
  return requested.flatMap((tool, index) => {
    const { type } = tool as { type?: unknown };
    if (typeof type === 'string' && type !== 'function') {
      log('warn', `tool definition ${index} is skipped: its type is ${JSON.stringify(type.slice(0, 100))}`);
      return [];
    }
    return [checkedTool(tool, index)];
  });
}

/**
 * The tools offered to the model: those of its configuration, then those of the request, with variables resolved. A tool of the request
 * replaces a configured one of the same name; it may come from anywhere, such as an MCP server, so that braces in it need no values. Throws `invalid` for a flawed tool, `bad_request` for unresolved variables of configured tools or too many tools.
 */
export function offeredTools(model: ModelConfig, requested: readonly unknown[] | null | undefined, variables: Variables): Tool[] {
  const own = functionTools(requested ?? []).map((tool) => resolveDeep(tool, variables, false));
  const names = new Set(own.map((tool) => tool.function.name));
  const configured = (model.tools ?? [])
    .map(({ type, ...definition }): Tool => ({ type, function: resolveDeep(definition, variables) as Tool['function'] }))
    .filter((tool) => !names.has(tool.function.name));
  const tools = [...configured, ...own];
  if (tools.length > MAX_TOOLS) {
    throw new Failure(
      'bad_request',
      `${tools.length} tools are offered (${configured.length} by the project's model, ${own.length} by the request); at most ${MAX_TOOLS} are possible. Leave some out.`,
    );
  }
  return tools;
}

/** The configured prompts of one turn, with their variables resolved. */
export interface Prompts {
  /** System texts in order. They go before every turn and never into the history. */
  system: string[];
  /** The other prompt messages: the first messages of a conversation. */
  first: Message[];
}

/** Renders the prompt sets of a model: all in file order, or those that it names, in its order. Throws `bad_request` as `resolveText` does. */
export function renderPrompts(config: ProjectConfig, model: ModelConfig, variables: Variables): Prompts {
  const sets = config.prompts ?? [];
  const chosen = model.prompts?.map((name) => sets.find((set) => set.name === name)) ?? sets;
  const prompts: Prompts = { system: [], first: [] };
  for (const { role, content, tool_call_id: callId } of chosen.flatMap((set) => set?.messages ?? [])) {
    const text = resolveText(content, variables);
    if (isSystem(role)) prompts.system.push(text);
    else prompts.first.push({ role, content: text, ...(callId === undefined ? {} : { tool_call_id: callId }) });
  }
  return prompts;
}

/** Whether messages of this role instruct the model instead of being part of the conversation. */
function isSystem(role: Message['role']): boolean {
  return role === 'system' || role === 'developer';
}

/**
 * The messages that a model gets: one system message of the prompts and of the system messages that open the request, because most chat
 * templates take no other; then the history; then the rest of the request. Without prompts and history the request stays as it is.
 */
export function assembleMessages(prompts: Prompts, history: readonly Message[], request: readonly Message[]): Message[] {
  const stays = prompts.system.length === 0 && prompts.first.length === 0 && history.length === 0;
  if (stays) return [...request];
  const texts = [...prompts.system];
  let opening = 0;
  for (const message of request) {
    const text = isSystem(message.role) ? plainText(message.content) : undefined;
    if (text === undefined) break;
    texts.push(text);
    opening += 1;
  }
  const system = texts.filter((text) => text !== '').join('\n\n');
  const conversation = history.length > 0 ? history : prompts.first;
  return [...(system === '' ? [] : [{ role: 'system', content: system } as const]), ...conversation, ...request.slice(opening)];
}

/** The messages of a request that become part of the history. */
export function conversationOf(request: readonly Message[]): Message[] {
  return request.filter((message) => !isSystem(message.role));
}

/** The answer that a request begins with its last message, so that the model goes on in it; empty where it begins none. */
export function begunAnswer({ continue_final_message: isWanted, messages }: ChatRequest): string {
  const last = messages.at(-1);
  if (isWanted !== true || last?.role !== 'assistant' || last.tool_calls?.length) return '';
  return plainText(last.content) ?? '';
}

/** Content that is text throughout, as one text. */
function plainText(content: Message['content']): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts: readonly ContentPart[] = content;
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text ?? '').join('\n') : undefined;
}
