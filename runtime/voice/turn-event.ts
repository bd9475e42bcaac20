import type { Events } from '../events/events.js';
import { type EventProject, failedOutcome } from '../events/recording.js';
import type { TurnTimings } from './contract.js';

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
export function keepTurn({ events, project, sessionId, model }: TurnLog, turn: EndedTurn, error?: unknown): void {
  const { asked, heard, isCut, timings, sinceAskedMs, inferenceEvent } = turn;
  events.begin('voice_turn', project, { sessionId, startedMs: Date.now() - sinceAskedMs }).end({
    ...(error === undefined ? {} : failedOutcome(error)),
    model,
    data: { timings: { ...timings }, is_cut: isCut, inference_event_id: inferenceEvent ?? null },
    content: { transcript: asked, response: heard },
  });
}
