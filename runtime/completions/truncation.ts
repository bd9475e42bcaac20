import type { LanguageInfo } from '../engines/contracts/language.js';
import type { PlainMessage } from './messages.js';

/** What is done with a history that does not fit. */
export const TRUNCATION_STRATEGIES = ['sliding_window', 'keep_system', 'middle_out', 'summarize'] as const;

/** One of `TRUNCATION_STRATEGIES`. */
export type TruncationStrategy = (typeof TRUNCATION_STRATEGIES)[number];

/** A message with its price in tokens, its role marks included. */
export interface CountedMessage {
  message: PlainMessage;
  tokens: number;
}

/** Tokens of the marks around a message. */
export const MESSAGE_OVERHEAD = 4;

const THINK_END = '</think>';
/** No text of a natural or a programming language has so many characters a token on average; longer ones are cut to this before they are counted. */
const MOST_CHARS_PER_TOKEN = 16;
/** A history keeps so many times what its context can hold: what a summary is made of. */
const KEPT_CONTEXTS = 4;
const MIN_CUT_TOKENS = 100;
const CUT_MARKER = '\n[... message shortened to fit the context ...]';
const MARKER_TOKENS = 16;

/** The strategy of a name; unknown and absent mean `summarize`. With tools in the system message, that message is never dropped. */
export function strategyOf(name: string | null | undefined, injected: boolean): TruncationStrategy {
  const known = TRUNCATION_STRATEGIES.find((strategy) => strategy === name) ?? 'summarize';
  return injected && known === 'sliding_window' ? 'keep_system' : known;
}

/**
 * Fewest tokens that messages can have, told by their length alone; 0 where the tokenizer says nothing about it. Blanks at the ends and finished
 * thinking do not count: templates leave them out.
 */
export function leastTokens(messages: readonly PlainMessage[], { longestToken }: Pick<LanguageInfo, 'longestToken'>): number {
  if (longestToken === undefined) return 0;
  let chars = 0;
  for (const { role, content } of messages) {
    const thought = role === 'assistant' ? content.lastIndexOf(THINK_END) : -1;
    chars += (thought < 0 ? content : content.slice(thought + THINK_END.length)).trim().length;
  }
  return Math.floor(chars / longestToken);
}

/** A history without what is far beyond a prompt of `maxPrompt` tokens, so that the work on the rest is bounded by the context. The input stays as it is. */
export function withinReach(messages: readonly PlainMessage[], maxPrompt: number, strategy: TruncationStrategy): PlainMessage[] {
  const most = maxPrompt * MOST_CHARS_PER_TOKEN;
  const cut = messages.map((message) => (message.content.length > most ? cutContentTo(message, most) : message));
  const chars = cut.map((message) => ({ message, tokens: message.content.length }));
  return dropMessages(chars, most * KEPT_CONTEXTS, strategy).map(({ message }) => message);
}

/** Tokens of a list. */
export function totalTokens(messages: readonly CountedMessage[]): number {
  return messages.reduce((sum, entry) => sum + entry.tokens, 0);
}

function isSystem(entry: CountedMessage): boolean {
  return entry.message.role === 'system';
}

/** Removes the oldest messages that `mayDrop` allows until the rest fits; the newest message always stays. */
function dropOldest(
  messages: readonly CountedMessage[],
  limit: number,
  mayDrop: (entry: CountedMessage, index: number) => boolean,
): CountedMessage[] {
  let over = totalTokens(messages) - limit;
  const kept: CountedMessage[] = [];
  for (const [index, entry] of messages.entries()) {
    const drop = over > 0 && index < messages.length - 1 && mayDrop(entry, index);
    if (drop) over -= entry.tokens;
    else kept.push(entry);
  }
  return withoutOrphans(messages, kept);
}

/** A tool result whose call is gone means nothing, and templates may refuse it. */
function withoutOrphans(all: readonly CountedMessage[], kept: CountedMessage[]): CountedMessage[] {
  const present = new Set(kept.map((entry) => entry.message));
  let callerKept = true;
  const orphans = new Set<CountedMessage>();
  for (const [index, entry] of all.entries()) {
    if (entry.message.role !== 'tool') callerKept = !entry.message.tool_calls?.length || present.has(entry.message);
    else if (!callerKept && index < all.length - 1) orphans.add(entry);
  }
  return kept.filter((entry) => !orphans.has(entry));
}

/** Drops whole messages by a strategy (`summarize` drops as `keep_system` does) until `limit` tokens hold the rest, as far as it may. */
export function dropMessages(messages: readonly CountedMessage[], limit: number, strategy: TruncationStrategy): CountedMessage[] {
  if (totalTokens(messages) <= limit) return [...messages];
  if (strategy === 'sliding_window') return dropOldest(messages, limit, () => true);
  if (strategy === 'middle_out') {
    const first = messages.findIndex((entry) => !isSystem(entry));
    return dropOldest(messages, limit, (entry, index) => !isSystem(entry) && index !== first);
  }
  return dropOldest(messages, limit, (entry) => !isSystem(entry));
}

/** How many tokens of an oversized message stay. */
export function keptTokens(tokens: number): number {
  if (tokens > 10_000) return Math.min(Math.floor(tokens * 0.1), 500);
  if (tokens > 1_000) return Math.min(Math.floor(tokens * 0.3), 300);
  return Math.floor(tokens * 0.5);
}

function withoutMarker(content: string): string {
  return content.endsWith(CUT_MARKER) ? content.slice(0, -CUT_MARKER.length) : content;
}

/** A message with the first `chars` characters of its content, and a note that it was cut. */
function cutContentTo(message: PlainMessage, chars: number): PlainMessage {
  const bare = withoutMarker(message.content);
  let end = Math.max(0, Math.floor(chars));
  // Half of a surrogate pair would be an invalid character.
  if (/[\uD800-\uDBFF]/.test(bare.charAt(end - 1))) end -= 1;
  return { ...message, content: bare.slice(0, end) + CUT_MARKER };
}

function cutContent(entry: CountedMessage, keep: number): CountedMessage {
  const share = Math.min(1, keep / Math.max(1, entry.tokens - MESSAGE_OVERHEAD));
  return {
    message: cutContentTo(entry.message, withoutMarker(entry.message.content).length * share),
    tokens: keep + MARKER_TOKENS + MESSAGE_OVERHEAD,
  };
}

/**
 * Shortens contents until `limit` tokens hold all messages, as far as it may: the largest first, the last user message last, those under
 * 100 tokens never. Token counts of the result are estimates. The input stays as it is.
 */
export function cutContents(messages: readonly CountedMessage[], limit: number): CountedMessage[] {
  const out = [...messages];
  const lastUser = out.findLastIndex((entry) => entry.message.role === 'user');
  const order = out
    .map((entry, index) => ({ index, tokens: index === lastUser ? -1 : entry.tokens }))
    .sort((a, b) => b.tokens - a.tokens)
    .map(({ index }) => index);
  for (const index of order) {
    const over = totalTokens(out) - limit;
    if (over <= 0) break;
    const entry = out[index]!;
    if (entry.tokens < MIN_CUT_TOKENS) continue;
    // The last user message is what the answer is about: it keeps all that still fits.
    const fits = entry.tokens - over - MARKER_TOKENS - MESSAGE_OVERHEAD;
    const keep = index === lastUser ? Math.max(fits, Math.min(keptTokens(entry.tokens), MIN_CUT_TOKENS)) : keptTokens(entry.tokens);
    out[index] = cutContent(entry, Math.min(keep, entry.tokens - MARKER_TOKENS - MESSAGE_OVERHEAD));
  }
  return out;
}

/** Halves the largest content, for histories that still do not fit; null when nothing is left to halve. */
export function halveLargest(messages: readonly CountedMessage[]): CountedMessage[] | null {
  const sizes = messages.map((entry) => entry.message.content.length);
  const largest = sizes.indexOf(Math.max(...sizes));
  const entry = messages[largest];
  if (!entry || entry.message.content.length <= CUT_MARKER.length * 2) return null;
  return messages.with(largest, cutContent(entry, Math.floor(entry.tokens / 2)));
}
