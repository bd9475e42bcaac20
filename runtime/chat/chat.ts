import { randomUUID } from 'node:crypto';
import { UNCONFIGURED_MODEL } from '../../models/built-in.js';
import { Failure, type FailureKind } from '../../schemas/errors.js';
import type { Message, Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import type { ReplayReply, ReplayRequest } from '../../schemas/generated/core/events.js';
import type { Events } from '../events/events.js';
import { defaultModel } from '../projects/models.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Completion, CompletionPart, CompletionRequest, Provider } from '../providers/contract.js';
import type { ProviderId } from '../providers/index.js';
import type { Hit } from '../rag/contract.js';
import type { Retrieval } from '../rag/query/contract.js';
import type { Store } from '../store/store.js';
import { assemble, conversationOf, offeredTools, renderPrompts, settingsOf } from './model-request.js';
import { contextText, questionsOf, retrieve, sourcesOf } from './passages.js';
import { type ReplayOf, replayed } from './replay.js';
import { answerSchema, schemaName } from './schema/answer-schema.js';
import type { SchemaForm } from './schema/modes.js';
import { structured } from './schema/structured.js';
import { type Clock, checkSessionId, systemClock } from './session.js';
import { Sessions } from './sessions.js';
import { type ChatTurn, OpenTurn } from './turn.js';
import { TurnRecord } from './turn-record.js';

/** Failures that nobody outside can do anything about. */
const BROKEN: ReadonlySet<FailureKind> = new Set(['model_failed', 'internal']);

/** Failures of a prompt that its model has no room for. */
const TOO_LONG: ReadonlySet<string> = new Set(['context_length_exceeded', 'context_truncation_failed']);

/** One chat request as it arrives. */
export interface ChatCall {
  namespace: string;
  project: string;
  /** Already checked against its schema. */
  request: ChatRequest;
  /** False = nothing is remembered. */
  stateful: boolean;
  /** The session that the client names; a new one where it is absent or empty. */
  sessionId?: string | undefined;
  /** Where the call repeats a turn: which one. Only in calls that are not stateful. */
  replay?: ReplayOf;
}

/** What a turn is made of. */
interface TurnParts {
  call: ChatCall;
  project: LoadedProject;
  signal: AbortSignal;
  sessions: Sessions;
  provider(model: ModelConfig): Provider;
  /** Whether the model's provider holds an answer to a schema while it is written. */
  isHeld(model: ModelConfig): boolean;
  /** Absent where nothing is retrieved. */
  retrieval?: Retrieval | undefined;
  /** Absent where no event is kept. */
  events?: Events | undefined;
}

/** The model that a request names, or the default one; the built-in one in a project without models. Throws `bad_request` (UnknownModel, NoModel). */
function chosenModel(project: LoadedProject, name: string | null | undefined): ModelConfig {
  const { runtime } = project.config;
  const place = `project ${project.namespace}/${project.name}`;
  if (runtime.models.length === 0) {
    if (UNCONFIGURED_MODEL && (!name || name === UNCONFIGURED_MODEL.name)) return UNCONFIGURED_MODEL;
    throw new Failure('bad_request', `No model is configured in ${place}. Add one under runtime.models.`, { code: 'NoModel' });
  }
  const model = name ? runtime.models.find((one) => one.name === name) : defaultModel(runtime);
  if (model) return model;
  const known = runtime.models.map((one) => one.name).join(', ');
  throw new Failure('bad_request', `There is no model "${name}" in ${place}. Configured models: ${known}.`, { code: 'UnknownModel' });
}

/** Opens a turn; see `Chat.complete`. */
async function openTurn(parts: TurnParts): Promise<ChatTurn> {
  const { call, project, signal, events } = parts;
  const { request } = call;
  const sessionId = call.stateful ? sessionIdOf(call) : undefined;
  const record = events && new TurnRecord(events, { project, request, sessionId, replayOf: call.replay?.of });
  try {
    return await turnOf(parts, sessionId, record);
  } catch (failure) {
    if (signal.aborted) record?.left(signal.reason);
    record?.failed(failure);
    throw failure;
  }
}

async function turnOf(
  { call, project, signal, sessions, provider, isHeld, retrieval }: TurnParts,
  sessionId: string | undefined,
  record: TurnRecord | undefined,
): Promise<ChatTurn> {
  const { request, namespace } = call;
  const model = chosenModel(project, request.model);
  const form = await answerForm(project, request);
  const answering = form ? structured(provider(model), { ...form, held: isHeld(model) }) : provider(model);
  const session = sessionId === undefined ? undefined : await sessions.use([namespace, call.project, sessionId]);
  const release = once(() => session && sessions.release(session));
  // An answer that nobody starts to read has no end of its own.
  const leave = (): void => {
    release();
    record?.left(signal.reason);
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    const variables = request.variables ?? {};
    const prompts = renderPrompts(project.config, model, variables);
    const tools = offeredTools(model, request.tools, variables);
    let hits: readonly Hit[] = [];
    const completion = await openOrFailStream(model, request, async () => {
      const questions = retrieval ? questionsOf(project, model, request) : [];
      record?.asked(project, questions);
      const found = retrieval ? await retrieve(retrieval, project, questions, signal) : [];
      record?.found(questions, found);
      const history = session ? await sessions.history(session) : (call.replay?.history ?? []);
      if (session) await sessions.expect(conversationOf(request.messages)).catch(refuseUnkept);
      return openWithRoom(found, (passages) => {
        hits = passages;
        const system = [...prompts.system, ...contextText(passages)];
        const messages = assemble({ ...prompts, system }, history, request.messages);
        const asked = { ...settingsOf(model, request), messages, stream: request.stream ?? false };
        record?.opened(model, history.length, passages);
        return answering.open(model, withTools(asked, request, tools), signal);
      });
    });
    return new OpenTurn(request, model, completion, {
      session,
      signal,
      record,
      sources: request.include_sources ? sourcesOf(hits, request.sources_limit) : undefined,
      close: release,
      complete: async (message) => {
        if (session) await sessions.append(session, [...conversationOf(request.messages), message], prompts.first).catch(refuseUnkept);
      },
    });
  } catch (failure) {
    release();
    throw failure;
  }
}

/** Opens with all the passages, or with the best of them that the model's context has room for: half as many each time that it has not. */
async function openWithRoom(passages: readonly Hit[], open: (passages: readonly Hit[]) => Promise<Completion>): Promise<Completion> {
  for (let best = passages; ; best = best.slice(0, Math.floor(best.length / 2))) {
    try {
      return await open(best);
    } catch (failure) {
      if (best.length === 0 || !(failure instanceof Failure) || !TOO_LONG.has(failure.code)) throw failure;
    }
  }
}

/**
 * A model or a search that fails before a stream has begun fails the stream, which ends with an apology; what the caller can mend, or try
 * later, stays a status.
 */
async function openOrFailStream(model: ModelConfig, { stream }: ChatRequest, open: () => Promise<Completion>): Promise<Completion> {
  try {
    return await open();
  } catch (failure) {
    if (!stream || !(failure instanceof Failure) || !BROKEN.has(failure.kind)) throw failure;
    return { model: model.model, parts: failing(failure) };
  }
}

// biome-ignore lint/correctness/useYield: it fails where the first part is due.
async function* failing(failure: Failure): AsyncGenerator<CompletionPart, void, undefined> {
  throw failure;
}

function sessionIdOf({ sessionId }: ChatCall): string {
  return sessionId ? checkSessionId(sessionId, ['header', 'X-Session-ID']) : randomUUID();
}

/** The form that the project's schema gives to an answer. Throws `bad_request` for a stream, and for a schema that cannot be used. */
async function answerForm(project: LoadedProject, request: ChatRequest): Promise<Omit<SchemaForm, 'held'> | undefined> {
  const { config, namespace, name } = project;
  if (config.schema === undefined) return undefined;
  if (request.stream) {
    const message = `Streaming is not supported while project ${namespace}/${name} has a schema (${config.schema}). Send "stream": false.`;
    throw new Failure('bad_request', message, { code: 'StreamingWithSchema' });
  }
  return { name: schemaName(config.schema), schema: await answerSchema(project.directory, config.schema) };
}

function withTools(asked: CompletionRequest, request: ChatRequest, tools: Tool[]): CompletionRequest {
  if (tools.length === 0) return asked;
  return { ...asked, tools, ...(request.tool_choice ? { tool_choice: request.tool_choice } : {}) };
}

/** Fails a turn that the store refused, in the store's words, with the way round it. */
function refuseUnkept(cause: unknown): never {
  if (!(cause instanceof Failure)) throw cause;
  const message = `This turn cannot be kept in its session: ${cause.message} To chat without a session, send the header X-No-Session.`;
  const retry = cause.retryAfterS === undefined ? {} : { retryAfterS: cause.retryAfterS };
  throw new Failure(cause.kind, message, { code: cause.code, ...retry, cause });
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

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

  /** Runs the turn of an event again, as `wish` says, and tells what differs. Throws as `complete` and `replayed` do. */
  async replay(namespace: string, project: string, id: string, wish: ReplayRequest, signal: AbortSignal): Promise<ReplayReply> {
    const { projects, events } = this.#parts;
    const loaded = projects.load(namespace, project);
    if (!events) throw new Failure('not_found', 'No events are kept here.');
    const history = (session: string): Promise<Message[]> => this.#sessions.read([namespace, project, session]);
    return replayed({ events, project: loaded, signal, history, open: (call, on) => this.#open(call, on, signal) }, id, wish);
  }

  #open(call: ChatCall, project: LoadedProject, signal: AbortSignal): Promise<ChatTurn> {
    const { providers, providerOf, retrieval, events } = this.#parts;
    const provider = (model: ModelConfig): Provider => providers[providerOf(model)];
    const isHeld = (model: ModelConfig): boolean => providerOf(model) === 'universal';
    return openTurn({ call, project, signal, sessions: this.#sessions, provider, isHeld, retrieval, events });
  }

  /** Ends background work. Turns under way are ended by their signals. */
  close(): Promise<void> {
    return this.#sessions.close();
  }
}
