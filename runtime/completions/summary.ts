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
