import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { DecisionReply } from '../../schemas/generated/core/chat.js';
import type { ReplayReply } from '../../schemas/generated/core/events.js';
import type { QuestionAnswer, TrialQuestion } from '../../schemas/generated/core/generations.js';
import type { Spent } from '../completions/budget.js';
import type { Events } from '../events/events.js';
import type { ProjectTools } from '../mcp/contract.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Provider } from '../providers/contract.js';
import type { ProviderId } from '../providers/index.js';
import type { Retrieval } from '../rag/contract.js';
import type { Store } from '../store/store.js';
import { type WaitingCall, WaitingCalls } from './agent/waiting.js';
import type { ProjectMemory } from './memories.js';
import { type ChatCall, chosenModel, openTurn, type PausedChat, resumeTurn, type TurnParts } from './open-turn.js';
import { type ReplayWish, replayTurn } from './replay.js';
import { type Clock, checkSessionId, systemClock } from './session.js';
import { Sessions } from './sessions.js';
import { trialOf } from './trial.js';
import type { ChatTurn } from './turn.js';

export type { ChatCall } from './open-turn.js';

/** What chat is made of. */
export interface ChatParts {
  /** Where projects come from; `Projects` is one. `onErase` tells of projects that are gone for good. */
  readonly projects: {
    load(namespace: string, project: string): LoadedProject;
    onErase?(listener: (namespace: string, project: string) => Promise<void>): void;
  };
  readonly providers: Readonly<Record<ProviderId, Provider>>;
  readonly providerOf: (model: ModelConfig) => ProviderId;
  /** Closed by whoever opened it, after `close` of the chat. */
  readonly store: Store;
  readonly clock?: Clock;
  /** Asked for passages of the project's documents; without it nothing is retrieved. */
  readonly retrieval?: Retrieval;
  /** Keeps an event for each turn; without it none is kept. */
  readonly events?: Events;
  /** Has the tools of the projects' servers; without it a turn has those of its client only. */
  readonly tools?: ProjectTools;
  /** Remembers turns and recalls what was said; without it a turn knows its session only. */
  readonly memory?: ProjectMemory;
}

/** Chat completions on the models of a project, and the sessions that hold their history. */
export class Chat {
  readonly #parts: ChatParts;
  readonly #sessions: Sessions;
  readonly #waiting: WaitingCalls<PausedChat>;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    const { clock = systemClock } = parts;
    this.#sessions = new Sessions(parts.store, clock);
    this.#sessions.start();
    this.#waiting = new WaitingCalls(parts.store, clock);
    parts.projects.onErase?.(async (namespace, project) => {
      await this.#waiting.erase(namespace, project);
      await this.#sessions.deleteAll(namespace, project);
    });
  }

  /**
   * Opens one turn: everything that can fail before the first token has been checked when this resolves. Throws `not_found` or `invalid` for
   * the project, `bad_request` for an unknown model, unresolved templates or a prompt over the context, and what the provider throws.
   * The turn must be read, as a body, as frames or in parts, or cancelled.
   */
  async complete(call: ChatCall, signal: AbortSignal): Promise<ChatTurn> {
    return this.#open(call, this.#parts.projects.load(call.namespace, call.project), signal);
  }

  /** The model that a chat of the project with this name runs on. Throws as `complete` does. */
  model(namespace: string, project: string, name: string | undefined): ModelConfig {
    return chosenModel(this.#parts.projects.load(namespace, project), name);
  }

  /** Loads a model of this machine and keeps it loaded until the returned function is called; `undefined` for one that is elsewhere. */
  async hold(model: ModelConfig, signal: AbortSignal): Promise<(() => void) | undefined> {
    const { providers, providerOf } = this.#parts;
    return providers[providerOf(model)].hold?.(model, signal);
  }

  /** The messages of a session; none for one that is unknown or expired. Throws as `Projects.load` does. */
  async history(namespace: string, project: string, id: string): Promise<Message[]> {
    this.#parts.projects.load(namespace, project);
    return this.#sessions.read([namespace, project, checkSessionId(id, ['path', 'session_id'])]);
  }

  /** What a session was begun with (`ChatCall.begunWith`); undefined for one that is unknown or expired. Throws as `Projects.load` does. */
  begunWith(namespace: string, project: string, id: string): Record<string, unknown> | undefined {
    this.#parts.projects.load(namespace, project);
    return this.#sessions.begunWith([namespace, project, id]);
  }

  /** Deletes a session, whether or not it exists; resolves when that is on disk. Throws as `Projects.load` does. */
  async deleteSession(namespace: string, project: string, id: string): Promise<void> {
    this.#parts.projects.load(namespace, project);
    const checked = checkSessionId(id, ['path', 'session_id']);
    await this.#waiting.eraseSessions(namespace, project, checked);
    return this.#sessions.delete([namespace, project, checked]);
  }

  /** Deletes all sessions of a project and returns how many there were. Throws as `Projects.load` does. */
  async deleteSessions(namespace: string, project: string): Promise<number> {
    this.#parts.projects.load(namespace, project);
    await this.#waiting.eraseSessions(namespace, project);
    return this.#sessions.deleteAll(namespace, project);
  }

  /** The calls of tools that wait for a person. Throws as `Projects.load` does. */
  waitingCalls(namespace: string, project: string): WaitingCall[] {
    this.#parts.projects.load(namespace, project);
    return this.#waiting.list(namespace, project);
  }

  /**
   * Allows or denies a call that waits. A stream that is open goes on by itself; of a turn whose client has its answer already, the reply to the last
   * decision is the rest, and `spent` is told what that costs. Throws `not_found` for a call that does not wait, and as `complete` does.
   */
  async decide(
    namespace: string,
    project: string,
    id: string,
    decision: 'allow' | 'deny',
    signal: AbortSignal,
    spent?: Spent,
  ): Promise<DecisionReply> {
    const loaded = this.#parts.projects.load(namespace, project);
    const { waiting, turn } = await this.#waiting.decide(namespace, project, id, decision);
    const completion = turn ? await (await resumeTurn({ ...this.#turnParts(loaded, signal), spent }, turn)).body() : null;
    return { id, decision, waiting: [...waiting], completion };
  }

  /** Removes expired sessions, and turns that waited for too long, now, and returns how many sessions; it happens every minute anyway. */
  async sweep(): Promise<number> {
    await this.#waiting.sweep();
    return this.#sessions.sweep();
  }

  /** Runs the turn of an event again, as `wish` says, and tells what differs; `spent` is told what it costs. Throws as `complete` and `replayed` do. */
  async replay(namespace: string, project: string, id: string, wish: ReplayWish, signal: AbortSignal, spent?: Spent): Promise<ReplayReply> {
    const { projects, events } = this.#parts;
    const loaded = projects.load(namespace, project);
    if (!events) throw new Failure('not_found', 'No events are kept here.');
    const history = (session: string): Promise<Message[]> => this.#sessions.read([namespace, project, session]);
    return replayTurn(
      { events, project: loaded, signal, history, open: (call, on) => this.#open({ ...call, spent }, on, signal) },
      id,
      wish,
    );
  }

  /** What the project answers to a question on its settings, or on `config`; see `trialOf`. `spent` is told what it costs. Throws as `Projects.load` does. */
  async tried(
    namespace: string,
    project: string,
    question: TrialQuestion,
    config: ProjectConfig | undefined,
    signal: AbortSignal,
    spent?: Spent,
  ): Promise<QuestionAnswer> {
    const loaded = this.#parts.projects.load(namespace, project);
    const on = config ? { ...loaded, config } : loaded;
    return trialOf(on, question, signal, (call) => this.#open({ ...call, spent }, on, signal));
  }

  #open(call: ChatCall, project: LoadedProject, signal: AbortSignal): Promise<ChatTurn> {
    return openTurn(this.#turnParts(project, signal), call);
  }

  #turnParts(project: LoadedProject, signal: AbortSignal): TurnParts {
    const { providers, providerOf, retrieval, events, tools, memory } = this.#parts;
    const provider = (model: ModelConfig): Provider => providers[providerOf(model)];
    const isHeld = (model: ModelConfig): boolean => providerOf(model) === 'universal';
    return { project, signal, sessions: this.#sessions, waiting: this.#waiting, provider, isHeld, retrieval, events, tools, memory };
  }

  /** Ends background work. Turns under way are ended by their signals. */
  async close(): Promise<void> {
    await this.#waiting.close();
    await this.#sessions.close();
  }
}
