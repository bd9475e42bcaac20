import { createHash } from 'node:crypto';
import type { Message, Tool } from '../../../../schemas/generated/common.js';

/** A message as templates expect it. */
export interface TemplateMessage {
  role: string;
  /** Null where a template wants it so beside calls. */
  content: string | null;
  name?: string;
  tool_call_id?: string;
  tool_calls?: { id?: string; type: 'function'; function: { name: string; arguments: unknown } }[];
}

/** How a template takes the calls of an answer. */
export interface CallForm {
  /** It writes arguments as they come: then they must be JSON text. */
  readonly argumentsAsText: boolean;
  /** It leaves calls out unless the content beside them is null. */
  readonly contentAsNull: boolean;
  /** It refuses ids that have not nine letters or digits. */
  readonly idsShort: boolean;
}

/** What most templates take. */
export const PLAIN_FORM: CallForm = { argumentsAsText: false, contentAsNull: false, idsShort: false };

const SHORT_ID = /^[a-zA-Z0-9]{9}$/;
/** The same for the same id, so that a result is still that of its call. */
const shortId = (id: string): string => (SHORT_ID.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9));

/** Texts of `parts` joined by line breaks; other parts have no text. */
function flatText(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => part.text ?? part.refusal ?? '')
    .filter((text) => text !== '')
    .join('\n');
}

/** The arguments of a call as an object; text that is none stays as it is. */
export function parsedArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

/** Messages for a template: text contents, today's role names, and calls in the form that the template takes. */
export function templateMessages(messages: readonly Message[], form: CallForm): TemplateMessage[] {
  const { argumentsAsText, contentAsNull, idsShort } = form;
  const idOf = (id: string): string => (idsShort ? shortId(id) : id);
  return messages.map((message) => {
    const role = message.role === 'developer' ? 'system' : message.role === 'function' ? 'tool' : message.role;
    const out: TemplateMessage = { role, content: flatText(message.content) };
    if (message.name) out.name = message.name;
    if (message.tool_call_id) out.tool_call_id = idOf(message.tool_call_id);
    if (message.tool_calls && message.tool_calls.length > 0) {
      if (contentAsNull && out.content === '') out.content = null;
      out.tool_calls = message.tool_calls.map((call) => {
        const text = call.function.arguments ?? '{}';
        const made = {
          type: 'function' as const,
          function: { name: call.function.name, arguments: argumentsAsText ? text : parsedArguments(text) },
        };
        return typeof call.id === 'string' ? { id: idOf(call.id), ...made } : made;
      });
    }
    return out;
  });
}

/** Tools as plain objects for a template, null fields left out. */
export function templateTools(tools: readonly Tool[]): unknown[] {
  return tools.map((tool) => ({
    type: tool.type,
    function: Object.fromEntries(Object.entries(tool.function).filter(([, value]) => value !== null)),
  }));
}
