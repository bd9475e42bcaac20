// Tools for models whose template knows none: their definitions, calls and results as text of the prompt.

import type { Message, ToolChoice } from '../../../schemas/generated/common.js';
import { toolsAsText } from '../../engines/language/templates/adaptation.js';
import { type PlainMessage, plainMessages } from '../messages.js';
import { offerTools, type ToolOffer } from './tool-choice.js';

/** Prompt-based tools from a request's own fields; see `injectOffer` and `offerTools`. The input stays as it is. */
export function injectTools(messages: readonly Message[], tools: readonly unknown[] | null | undefined, choice?: ToolChoice): Message[] {
  return injectOffer(messages, offerTools(tools, choice));
}

/** Appends the tool text to the first system message, or puts a system message with it in front. No tools: the same messages. */
export function injectOffer<M extends Message>(messages: readonly M[], offer: ToolOffer): (M | PlainMessage)[] {
  if (offer.tools.length === 0) return [...messages];
  const text = toolText(offer);
  const at = messages.findIndex(
    (message) => (message.role === 'system' || message.role === 'developer') && typeof message.content === 'string',
  );
  if (at < 0) return [{ role: 'system', content: text }, ...messages];
  return messages.map((message, index) =>
    index === at ? { ...message, content: message.content === '' ? text : `${message.content}\n\n${text}` } : message,
  );
}

const CALL_SHAPE = '<tool_call>{"name": "tool name", "arguments": {"parameter": "value"}}</tool_call>';

/** The text that tells a model which tools there are and how to call them. */
function toolText(offer: ToolOffer): string {
  const lines = offer.tools.map((tool) => `<tool>${JSON.stringify(tool.function)}</tool>`);
  return [
    'These tools can be called. Each line describes one, with its parameters as a JSON Schema.',
    '<tools>',
    ...lines,
    '</tools>',
    instruction(offer),
    CALL_SHAPE,
  ].join('\n');
}

function instruction(offer: ToolOffer): string {
  if (offer.mode === 'named')
    return `Your answer must be exactly one call of the tool ${offer.tools[0]?.function.name}, and nothing else, in this form:`;
  if (offer.mode === 'required') return 'Your answer must be at least one tool call, and nothing else, each in this form:';
  return 'If a tool helps with the request, call it by writing a line in the form below; otherwise answer in plain text. One line per call:';
}

/**
 * A history without tool roles, for templates that know none: earlier calls become text of the assistant, and tool results that follow each
 * other become one user message.
 */
export const toolHistoryAsText = (messages: readonly Message[]): PlainMessage[] => [...toolsAsText(plainMessages(messages))];
