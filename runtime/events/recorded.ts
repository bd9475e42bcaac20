import { Failure } from '../../schemas/errors.js';
import type { EventType } from '../../schemas/generated/core/events.js';
import type { Events } from './events.js';
import { type EventData, type EventProject, type Outcome, type Recording, SERVER_LOG } from './recording.js';

/** What is known of a piece of work before it begins. */
export interface WorkAbout {
  readonly type: EventType;
  /** The project whose work it is; the server's own unless given. */
  readonly project?: EventProject | undefined;
  readonly sessionId?: string | undefined;
  /** The model that it is about, as `Outcome` has it. */
  readonly model?: string | undefined;
  /** Members of the event's data, and those that repeat what people or models said; what the outcome says comes on top. */
  readonly data?: EventData;
  readonly content?: EventData;
}

/**
 * Does a piece of work and keeps an event of it; without `events` it only does the work. `outcomeOf` tells what came of it, with an `error` where
 * a result is a failure. What `work` throws becomes the error of the event, and is thrown on.
 */
export async function recorded<Result>(
  events: Events | undefined,
  { type, project = SERVER_LOG, sessionId, ...about }: WorkAbout,
  work: (recording: Recording | undefined) => Promise<Result>,
  outcomeOf: (result: Result) => Outcome,
): Promise<Result> {
  const recording = events?.begin(type, project, { sessionId });
  const end = (outcome: Outcome): void =>
    recording?.end({
      ...about,
      ...outcome,
      data: { ...about.data, ...outcome.data },
      content: { ...about.content, ...outcome.content },
    });
  try {
    const result = await work(recording);
    end(outcomeOf(result));
    return result;
  } catch (cause) {
    end(failedOutcome(cause));
    throw cause;
  }
}

/** The outcome of work that failed: the reason of a `Failure`; of anything else the log of the daemon has the cause. */
export function failedOutcome(cause: unknown): Outcome {
  if (cause instanceof Failure) return { error: cause.message, metadata: { code: cause.code } };
  const isCancelled = cause instanceof Error && cause.name === 'AbortError';
  return { error: isCancelled ? 'It was cancelled.' : 'Something went wrong inside the daemon; its log has the cause.' };
}
