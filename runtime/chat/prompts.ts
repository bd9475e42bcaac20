import type { ContentPart, Message } from '../../schemas/generated/common.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import { resolveText, type Variables } from './templates.js';

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
export function isSystem(role: Message['role']): boolean {
  return role === 'system' || role === 'developer';
}

/**
 * The messages that a model gets: one system message of the prompts and of the system messages that open the request, because most chat
 * templates take no other; then the history; then the rest of the request. Without prompts and history the request stays as it is.
 */
export function assemble(prompts: Prompts, history: readonly Message[], request: readonly Message[]): Message[] {
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

/** Content that is text throughout, as one text. */
function plainText(content: Message['content']): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts: readonly ContentPart[] = content;
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text ?? '').join('\n') : undefined;
}
