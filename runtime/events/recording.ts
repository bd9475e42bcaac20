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
