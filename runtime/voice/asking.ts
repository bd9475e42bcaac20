import type { Message } from '../../schemas/generated/common.js';
import type { CompletionRequest } from '../../schemas/generated/core/chat.js';
import type { Chat } from '../chat/chat.js';
import type { KeptByReader } from '../chat/turn.js';
import type { Spent } from '../completions/spent.js';
import type { VoiceSettings } from './settings.js';

/** Answers of a voice are short and lively where the project says nothing else. */
const TEMPERATURE = 0.7;
const MOST_TOKENS = 500;

/** Which conversation is asked. */
export interface Conversation {
  readonly namespace: string;
  readonly project: string;
  readonly id: string;
  readonly systemPrompt: string | undefined;
  /** What its client has chosen, for whoever goes on with it. */
  readonly begunWith: Record<string, unknown>;
  /** Who speaks, as memory keeps it; absent where nobody says. */
  readonly user?: string | undefined;
  /** Asked before each turn: rejects with why there is none. */
  readonly admit?: (() => Promise<void>) | undefined;
  /** Is told what the answers cost. */
  readonly spent?: Spent | undefined;
}

/** Asks the model of a conversation, with the prompts, tools, documents and history of its project. Throws as `Chat.complete` does. */
export async function ask(
  chat: Pick<Chat, 'complete' | 'model'>,
  { namespace, project, id, systemPrompt, begunWith, user: speaker, admit, spent }: Conversation,
  { llmModel, thinks }: Pick<VoiceSettings, 'llmModel' | 'thinks'>,
  text: string,
  signal: AbortSignal,
  { unrecorded = false, ...more }: Partial<CompletionRequest> & { unrecorded?: boolean } = {},
): Promise<KeptByReader> {
  await admit?.();
  const { model_api_parameters: own = {} } = chat.model(namespace, project, llmModel);
  const user: Message = { role: 'user', content: text };
  const messages: CompletionRequest['messages'] = systemPrompt ? [{ role: 'system', content: systemPrompt }, user] : [user];
  const request: CompletionRequest = {
    ...(llmModel === undefined ? {} : { model: llmModel }),
    ...(speaker === undefined ? {} : { user: speaker }),
    messages,
    stream: true,
    think: thinks,
    ...(own.temperature === undefined ? { temperature: TEMPERATURE } : {}),
    ...(own.max_tokens === undefined && own.max_completion_tokens === undefined ? { max_tokens: MOST_TOKENS } : {}),
    ...more,
  };
  const turn = await chat.complete({ namespace, project, request, stateful: true, sessionId: id, begunWith, unrecorded, spent }, signal);
  return turn.parts();
}

/** Has the model read what each turn of the conversation begins with, so that it is in its memory when the first one comes. Nothing is kept. */
export async function rehearse(
  chat: Pick<Chat, 'complete' | 'model'>,
  conversation: Conversation,
  settings: Pick<VoiceSettings, 'llmModel' | 'thinks'>,
  signal: AbortSignal,
): Promise<void> {
  const { parts, close } = await ask(chat, { ...conversation, admit: undefined, spent: undefined }, settings, 'Hello', signal, {
    max_tokens: 1,
    rag_enabled: false,
    unrecorded: true,
  });
  try {
    for await (const _part of parts);
  } finally {
    close();
  }
}
