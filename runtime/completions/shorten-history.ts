import type { LanguageModel } from '../engines/contracts/language.js';
import { allocate } from './budget.js';
import type { PlainMessage } from './messages.js';
import { ThinkingSplitter, thinkingPlan, withSoftSwitch } from './thinking.js';

/** First line of the text that stands for the older part of a conversation. */
const SUMMARY_HEADING = '[Conversation Summary]';
/** Newest messages that are never summarised: four exchanges. */
const RECENT_MESSAGES = 8;
const SUMMARY_TOKENS = 512;
const SUMMARY_TEMPERATURE = 0.3;
const MAX_MESSAGE_CHARS = 1_000;
const SHORTENINGS = 4;
const INSTRUCTION =
  'Write a short summary of the conversation below for someone who continues it. Keep names, numbers, decisions, open questions and wishes. Write only the summary.';

/** The messages that a summary would stand for: all but system messages and the newest eight. */
export function summarisable(messages: readonly PlainMessage[]): PlainMessage[] {
  const spoken = messages.filter((message) => message.role !== 'system');
  let end = Math.max(0, spoken.length - RECENT_MESSAGES);
  // A tool result stays with its call.
  while (end > 0 && spoken[end]?.role === 'tool') end -= 1;
  return spoken.slice(0, end);
}

/** A history in which `old` is replaced by a summary at the end of the system message. */
export function withSummary(messages: readonly PlainMessage[], old: readonly PlainMessage[], summary: string): PlainMessage[] {
  const gone = new Set(old);
  const rest = messages.filter((message) => !gone.has(message));
  const text = `${SUMMARY_HEADING}\n${summary}`;
  const at = rest.findIndex((message) => message.role === 'system');
  if (at < 0) return [{ role: 'system', content: text }, ...rest];
  return rest.map((message, index) => (index === at ? { ...message, content: `${message.content}\n\n${text}` } : message));
}

function transcript(messages: readonly PlainMessage[], maxChars: number): string {
  return messages.map((message) => `${message.role}: ${message.content.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '')}`).join('\n');
}

/** Lets the loaded model summarise `messages` in at most 512 tokens; null when it cannot be done. Aborting throws. */
export async function summarise(
  model: LanguageModel,
  messages: readonly PlainMessage[],
  signal: AbortSignal,
  deterministic = false,
): Promise<string | null> {
  const plan = thinkingPlan(model.info, false);
  const { maxPrompt, completion } = allocate(model.info.contextSize, {
    max_tokens: Math.min(SUMMARY_TOKENS, Math.floor(model.info.contextSize / 4)),
  });
  const sampling = { temperature: SUMMARY_TEMPERATURE, top_p: 1, top_k: 40, min_p: 0.05, seed: 1, deterministic };
  for (let round = 0, chars = MAX_MESSAGE_CHARS; round < SHORTENINGS; round += 1, chars = Math.floor(chars / 3)) {
    const prompt: PlainMessage[] = [
      { role: 'system', content: INSTRUCTION },
      { role: 'user', content: transcript(messages, chars) },
    ];
    const prepared = await model.prepare(
      {
        messages: withSoftSwitch(prompt, plan),
        addGenerationPrompt: true,
        ...(plan.enableThinking === undefined ? {} : { enableThinking: false }),
      },
      signal,
    );
    if (prepared.promptTokens > maxPrompt) continue;
    const splitter = new ThinkingSplitter(prepared.endsInThinking);
    const pieces = [];
    for await (const event of model.generate({ promptId: prepared.promptId, maxTokens: completion, ...sampling }, signal))
      pieces.push(...splitter.push(event.text));
    pieces.push(...splitter.end());
    const text = pieces
      .filter((piece) => piece.type === 'text')
      .map((piece) => piece.text)
      .join('')
      .trim();
    return text === '' ? null : text;
  }
  return null;
}

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
