import type { Message } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Provider } from '../providers/contract.js';
import type { ProviderId } from '../providers/index.js';
import type { Retrieval } from '../rag/query/contract.js';
import type { Store } from '../store/store.js';
import { type ChatCall, type ChatTurn, chosenModel, openTurn } from './complete.js';
import { type Clock, checkSessionId, systemClock } from './session.js';
import { Sessions } from './sessions.js';

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
}

/** Chat completions on the models of a project, and the sessions that hold their history. */
export class Chat {
  readonly #parts: ChatParts;
  readonly #sessions: Sessions;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#sessions = new Sessions(parts.store, parts.clock ?? systemClock);
    this.#sessions.start();
    parts.projects.onErase?.(async (namespace, project) => {
      await this.#sessions.deleteAll(namespace, project);
    });
  }

  /**
   * Opens one turn: everything that can fail before the first token has been checked when this resolves. Throws `not_found` or `invalid` for
   * the project, `bad_request` for an unknown model, unresolved templates or a prompt over the context, and what the provider throws.
   * The turn must be read, as a body, as frames or in parts, or cancelled.
   */
  async complete(call: ChatCall, signal: AbortSignal): Promise<ChatTurn> {
    const { projects, providers, providerOf, retrieval } = this.#parts;
    const project = projects.load(call.namespace, call.project);
    const provider = (model: ModelConfig): Provider => providers[providerOf(model)];
    return openTurn({ call, project, signal, sessions: this.#sessions, provider, retrieval });
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

  /** Deletes a session, whether or not it exists; resolves when that is on disk. Throws as `Projects.load` does. */
  async deleteSession(namespace: string, project: string, id: string): Promise<void> {
    this.#parts.projects.load(namespace, project);
    return this.#sessions.delete([namespace, project, checkSessionId(id, ['path', 'session_id'])]);
  }

  /** Deletes all sessions of a project and returns how many there were. Throws as `Projects.load` does. */
  async deleteSessions(namespace: string, project: string): Promise<number> {
    this.#parts.projects.load(namespace, project);
    return this.#sessions.deleteAll(namespace, project);
  }

  /** Removes expired sessions now, and returns how many; it happens every minute anyway. */
  sweep(): Promise<number> {
    return this.#sessions.sweep();
  }

  /** Ends background work. Turns under way are ended by their signals. */
  close(): Promise<void> {
    return this.#sessions.close();
  }
}
