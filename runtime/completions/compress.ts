import type { PlainMessage } from './messages.js';

/** The newest messages, which compression leaves as they are (4-runtime-wire 2.13). */
const UNTOUCHED_MESSAGES = 4;
const MAX_TOOL_RESULT_TOKENS = 200;
const CHARS_PER_TOKEN = 4;
const MAX_CODE_LINES = 20;
const KEPT_CODE_LINES = 5;
const MIN_DUPLICATE_CHARS = 50;

const CODE_BLOCK = /```[^\n]*\n[\s\S]*?```/g;

function tidyBlankSpace(text: string): string {
  return text
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/(\S) {2,}/g, '$1 ')
    .trim();
}

function shortenCode(block: string): string {
  const lines = block.split('\n');
  const code = lines.length - 2;
  if (code <= MAX_CODE_LINES) return block;
  return [...lines.slice(0, KEPT_CODE_LINES + 1), `[${code - KEPT_CODE_LINES} more lines left out]`, '```'].join('\n');
}

function shortenToolResult(text: string): string {
  const most = MAX_TOOL_RESULT_TOKENS * CHARS_PER_TOKEN;
  return text.length <= most ? text : `${text.slice(0, most)}\n[tool result shortened]`;
}

/** What two messages that say the same have in common. */
function likeness(message: PlainMessage): string {
  return `${message.role}:${message.content.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')}`;
}

/** Drops earlier copies of messages that come again; calls and their results stay, since they belong together. */
function dropDuplicates(messages: PlainMessage[]): PlainMessage[] {
  const seen = new Set<string>();
  return messages
    .toReversed()
    .filter((message) => {
      if (message.content.length < MIN_DUPLICATE_CHARS || message.role === 'tool' || message.tool_calls?.length) return true;
      const key = likeness(message);
      const known = seen.has(key);
      seen.add(key);
      return !known;
    })
    .toReversed();
}

function compressOne(message: PlainMessage): PlainMessage {
  let content = tidyBlankSpace(message.content);
  if (message.role === 'tool') content = shortenToolResult(content);
  if (message.role === 'assistant') content = content.replaceAll(CODE_BLOCK, shortenCode);
  return content === message.content ? message : { ...message, content };
}

/**
 * Shortens the older part of a history without dropping what it says: blank space, long tool results, long code, repeated messages. The
 * newest four messages stay as they are; a history of no more than four only has its blank space tidied. The input stays as it is.
 */
export function compressHistory(messages: readonly PlainMessage[]): PlainMessage[] {
  if (messages.length <= UNTOUCHED_MESSAGES) {
    return messages.map((message) => ({ ...message, content: tidyBlankSpace(message.content) }));
  }
  const cut = messages.length - UNTOUCHED_MESSAGES;
  const recent = messages.slice(cut);
  const kept = new Set<PlainMessage>(dropDuplicates([...messages]));
  return [
    ...messages
      .slice(0, cut)
      .filter((message) => kept.has(message))
      .map(compressOne),
    ...recent,
  ];
}
