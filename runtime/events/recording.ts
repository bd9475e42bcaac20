import { Failure } from '../../schemas/errors.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { EventType } from '../../schemas/generated/core/events.js';

/** The project whose event it is, as it is configured at that moment. */
export interface EventProject {
  readonly namespace: string;
  readonly name: string;
  /** Not changed afterwards: its hash is remembered. */
  readonly config: ProjectConfig;
}

/** The log of the server, for what belongs to no project. No project has an empty name. */
export const SERVER_LOG: EventProject = { namespace: '', name: '', config: {} as ProjectConfig };

/** Members of an event. */
export type EventData = Readonly<Record<string, unknown>>;

/** One step of an event. */
export interface Note {
  readonly name: string;
  /** As `performance.now()` has it. */
  readonly atMs: number;
  readonly data: EventData;
  /** Members that repeat what people or models said. */
  readonly content: EventData;
}

/** What is told at the end of an event. */
export interface Outcome {
  /** The model of the project, by its name. */
  readonly model?: string | undefined;
  readonly tokens?: { prompt: number; completion: number; total: number } | undefined;
  readonly data?: EventData;
  /** Members of the data that repeat what people or models said. */
  readonly content?: EventData;
  /** Why it failed; absent where it did not. */
  readonly error?: string;
  readonly metadata?: EventData;
}

/** An event that has ended and is not written yet. It refers to what it was told, which must not change afterwards. */
export interface EndedEvent {
  readonly id: string;
  /** `req_` and 12 hex digits. */
  readonly requestId: string;
  readonly type: EventType;
  readonly project: EventProject;
  readonly sessionId: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** The same moment and the end as `performance.now()` has them. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly notes: readonly Note[];
  readonly outcome: Outcome;
}

/** An event while it happens. Telling it something costs next to nothing: texts are looked at when the event is written. */
export class Recording {
  /** Of the event log; known from the start. */
  readonly id: string;
  readonly #about: Omit<EndedEvent, 'toMs' | 'notes' | 'outcome'>;
  readonly #notes: Note[] = [];
  readonly #ended: (event: EndedEvent) => void;
  #isOpen = true;

  constructor(about: Omit<EndedEvent, 'toMs' | 'notes' | 'outcome'>, ended: (event: EndedEvent) => void) {
    this.id = about.id;
    this.#about = about;
    this.#ended = ended;
  }

  /** Notes a step. `content` are members that repeat what people or models said. */
  note(name: string, data: EventData = {}, content: EventData = {}): void {
    if (this.#isOpen) this.#notes.push({ name, atMs: performance.now(), data, content });
  }

  /** Ends the event; only the first end counts. */
  end(outcome: Outcome): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#ended({ ...this.#about, toMs: performance.now(), notes: this.#notes, outcome });
  }
}

/** Where events begin; `Events` is one. */
interface EventLog {
  begin(type: EventType, project: EventProject, about: { sessionId?: string | undefined }): Recording;
}

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
export async function recordWork<Result>(
  events: EventLog | undefined,
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
