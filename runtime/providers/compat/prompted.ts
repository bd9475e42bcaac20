import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import { injectTools, toolHistoryAsText } from '../../completions/tools/offer.js';
import { ToolCallParser } from '../../completions/tools/parser.js';
import type { CompletionPart, CompletionRequest } from '../contract.js';

/** A request whose tools went into the prompt, and what reads the calls of its answer. */
export interface Prompted {
  request: CompletionRequest;
  /** Makes the reader of a choice; absent when nothing in the answer is a call. */
  newParser?: () => ToolCallParser;
}

/** Moves tools and earlier calls into the text when the model's `tool_call_strategy` is `prompt_based`; otherwise the request stays as it is. */
export function promptedTools(model: ModelConfig, request: CompletionRequest): Prompted {
  if (model.tool_call_strategy !== 'prompt_based') return { request };
  const { tools, tool_choice: choice, parallel_tool_calls: parallel, messages, ...rest } = request;
  const toolTurns = messages.some((message) => message.role === 'tool' || message.tool_calls?.length);
  // Only a history with tool turns is rewritten: it loses the parts of its messages that are no text.
  const history = toolTurns ? toolHistoryAsText(messages) : messages;
  const prompted: Prompted = { request: { ...rest, messages: injectTools(history, tools, choice) } };
  if (tools?.length && choice !== 'none')
    prompted.newParser = () => new ToolCallParser(undefined, parallel === false ? { maxCalls: 1 } : {});
  return prompted;
}

/** Takes the calls out of an answer's text. */
export async function* parsedCalls(
  parts: AsyncIterable<CompletionPart>,
  newParser: () => ToolCallParser,
): AsyncGenerator<CompletionPart, void, undefined> {
  const parsers: ToolCallParser[] = [];
  for await (const part of parts) {
    const { choice = 0 } = part;
    parsers[choice] ??= newParser();
    const parser = parsers[choice];
    const chosen = (found: CompletionPart[]) => (choice === 0 ? found : found.map((one) => ({ ...one, choice })));
    if (part.type === 'text') yield* chosen(parser.push(part.text));
    else if (part.type !== 'finish') yield part;
    else {
      yield* chosen(parser.end());
      yield parser.calls > 0 && part.reason === 'stop' ? { ...part, reason: 'tool_calls' } : part;
    }
  }
}
