import type { Message } from '../../schemas/generated/common.js';
import type { CompletionRequest } from '../../schemas/generated/core/chat.js';
import type { Chat } from '../chat/chat.js';
import type { KeptByReader } from '../chat/turn.js';
import type { Spent } from '../completions/budget.js';
import type { Events } from '../events/events.js';
import type { EventProject } from '../events/recording.js';
import { failedOutcome } from '../events/recording.js';
import type { TalkRecord, TurnTimings } from './contract.js';
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
  /** Where its turns are kept, whose earlier ones the model is given; absent = in the session of its id. */
  readonly talk?: Pick<TalkRecord, 'id' | 'earlier'> | undefined;
  /** Who speaks, as memory keeps it; absent where nobody says. */
  readonly user?: string | undefined;
  /** Asked before each turn: rejects with why there is none. */
  readonly admit?: (() => Promise<void>) | undefined;
  /** Is told what the answers cost. */
  readonly spent?: Spent | undefined;
}

/** Asks the model of a conversation, with the prompts, tools, documents and history of its project. Throws as `Chat.complete` does. */
export async function askModel(
  chat: Pick<Chat, 'complete' | 'model'>,
  { namespace, project, id, systemPrompt, begunWith, talk, user: speaker, admit, spent }: Conversation,
  { llmModel, thinks }: Pick<VoiceSettings, 'llmModel' | 'thinks'>,
  text: string,
  signal: AbortSignal,
  { unrecorded = false, ...more }: Partial<CompletionRequest> & { unrecorded?: boolean } = {},
): Promise<KeptByReader> {
  await admit?.();
  const { model_api_parameters: own = {} } = chat.model(namespace, project, llmModel);
  const user: Message = { role: 'user', content: text };
  const system: Message[] = systemPrompt ? [{ role: 'system', content: systemPrompt }] : [];
  const messages: Message[] = [...system, ...((await talk?.earlier()) ?? []), user];
  const request: CompletionRequest = {
    ...(llmModel === undefined ? {} : { model: llmModel }),
    ...(speaker === undefined ? {} : { user: speaker }),
    messages: messages as CompletionRequest['messages'],
    stream: true,
    think: thinks,
    ...(own.temperature === undefined ? { temperature: TEMPERATURE } : {}),
    ...(own.max_tokens === undefined && own.max_completion_tokens === undefined ? { max_tokens: MOST_TOKENS } : {}),
    ...more,
  };
  const history = talk ? { stateful: false, conversation: talk.id } : { stateful: true, sessionId: id };
  const turn = await chat.complete({ namespace, project, request, ...history, begunWith, unrecorded, spent }, signal);
  return turn.parts();
}

/** Has the model read what each turn of the conversation begins with, so that it is in its memory when the first one comes. Nothing is kept. */
export async function readPromptAhead(
  chat: Pick<Chat, 'complete' | 'model'>,
  conversation: Conversation,
  settings: Pick<VoiceSettings, 'llmModel' | 'thinks'>,
  signal: AbortSignal,
): Promise<void> {
  const { parts, close } = await askModel(chat, { ...conversation, admit: undefined, spent: undefined }, settings, 'Hello', signal, {
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

/** A spoken question and its answer, when they are over. */
export interface EndedTurn {
  /** What the user said; empty where it did not become text. */
  readonly asked: string;
  /** What was heard of the answer. */
  readonly heard: string;
  /** Whether the user, or the end of the session, ended the answer. */
  readonly isCut: boolean;
  readonly timings: TurnTimings;
  /** Milliseconds since the user stopped speaking. */
  readonly sinceAskedMs: number;
  /** The event of the chat turn; absent where none was begun. */
  readonly inferenceEvent: string | undefined;
}

/** A turn whose speech became no text. */
export function notUnderstood(timings: TurnTimings, sinceAskedMs: number): EndedTurn {
  return { asked: '', heard: '', isCut: false, timings, sinceAskedMs, inferenceEvent: undefined };
}

/** Where the turns of a session are kept. */
export interface TurnLog {
  readonly events: Events;
  readonly project: EventProject;
  readonly sessionId: string;
  readonly model: string | undefined;
}

/** Keeps the event of a turn; `error` is why it failed, where it did. */
export function logVoiceTurn({ events, project, sessionId, model }: TurnLog, turn: EndedTurn, error?: unknown): void {
  const { asked, heard, isCut, timings, sinceAskedMs, inferenceEvent } = turn;
  events.begin('voice_turn', project, { sessionId, startedMs: Date.now() - sinceAskedMs }).end({
    ...(error === undefined ? {} : failedOutcome(error)),
    model,
    data: { timings: { ...timings }, is_cut: isCut, inference_event_id: inferenceEvent ?? null },
    content: { transcript: asked, response: heard },
  });
}
