import { randomUUID } from 'node:crypto';
import { UNCONFIGURED_MODEL } from '../../models/built-in.js';
import { Failure, type FailureKind } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { log } from '../base/log.js';
import { once } from '../base/once.js';
import { type Spent, withSpentTokens } from '../completions/budget.js';
import type { Completion, CompletionPart } from '../completions/contract.js';
import { FORM_FIELDS } from '../completions/settings.js';
import type { Events } from '../events/events.js';
import type { ProjectTools } from '../mcp/contract.js';
import { defaultModel } from '../projects/loaded-project.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Provider } from '../providers/contract.js';
import type { Hit, Retrieval } from '../rag/contract.js';
import { Agent, type AgentParts, type AgentState, isTooLong, MODEL_CALLS, newState } from './agent/agent.js';
import { openToolbox, type ToolFields, TurnTools } from './agent/turn-tools.js';
import type { PausedTurn, WaitingCalls } from './agent/waiting.js';
import { isMemory, memoryText, memoryWish, type ProjectMemory, recallMemories, type TurnOwner, turnMemories } from './memories.js';
import {
  assembleMessages,
  begunAnswer,
  conversationOf,
  MAX_TOOLS,
  offeredTools,
  type Prompts,
  renderPrompts,
  settingsOf,
} from './model-request.js';
import { contextText, questionsOf, retrievePassages, serverContext, sourcesOf } from './passages.js';
import type { ReplayOf } from './replay.js';
import { answerSchema, type SchemaForm, schemaName } from './schema/answer-schema.js';
import { structuredProvider } from './schema/structured.js';
import { checkSessionId, type Session } from './session.js';
import type { Sessions } from './sessions.js';
import { type AnswerFrame, type ChatTurn, OpenTurn, withFrame } from './turn.js';
import { TurnRecord } from './turn-record.js';

/** Failures that nobody outside can do anything about. */
const BROKEN: ReadonlySet<FailureKind> = new Set(['model_failed', 'internal']);

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
  /** A conversation that is kept elsewhere, with all its messages in the request: its events and memories have this id. Only in calls that are not stateful. */
  conversation?: string | undefined;
  /** What a new session remembers for whoever goes on with it (`Chat.begunWith`); no secret. */
  begunWith?: Record<string, unknown> | undefined;
  /** True where nobody asked for the turn, so that its event would mislead: none is kept. */
  unrecorded?: boolean;
  /** Where the call repeats a turn: which one. Only in calls that are not stateful. */
  replay?: ReplayOf;
  /** Text around the answer, by the passages that it is made from. */
  frame?: ((passages: readonly Hit[]) => AnswerFrame) | undefined;
  /** Is told what the models of the turn cost. */
  spent?: Spent | undefined;
}

/** What a turn is opened with. */
export interface TurnParts {
  /** As in `ChatCall`. */
  readonly spent?: Spent | undefined;
  readonly project: LoadedProject;
  readonly signal: AbortSignal;
  readonly sessions: Sessions;
  readonly waiting: WaitingCalls<PausedChat>;
  provider(model: ModelConfig): Provider;
  /** Whether the model's provider holds an answer to a schema while it is written. */
  isHeld(model: ModelConfig): boolean;
  /** Absent where nothing is retrieved. */
  readonly retrieval: Retrieval | undefined;
  /** Absent where no event is kept. */
  readonly events: Events | undefined;
  /** Absent where no tool of a server is offered. */
  readonly tools: ProjectTools | undefined;
  /** Absent where nothing is remembered. */
  readonly memory: ProjectMemory | undefined;
}

/** A turn that waits for a person, as it is kept. */
export interface PausedChat {
  readonly request: ChatRequest;
  /** Null where nothing is remembered. */
  readonly sessionId: string | null;
  readonly agent: AgentState;
}

/** The model that a request names, or the default one; the built-in one in a project without models. Throws `bad_request` (UnknownModel, NoModel). */
export function chosenModel(project: LoadedProject, name: string | null | undefined): ModelConfig {
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
export async function openTurn(parts: TurnParts, call: ChatCall): Promise<ChatTurn> {
  const { project, signal, sessions, retrieval } = parts;
  const { request, replay } = call;
  const sessionId = call.stateful ? sessionIdOf(call) : undefined;
  const { spent } = call;
  const kept = { ...parts, spent, ...(call.unrecorded ? { events: undefined, memory: undefined } : {}) };
  const about = { request, sessionId, conversation: call.conversation, begunWith: call.begunWith, replayOf: replay?.of };
  return openWith(kept, about, async ({ model, session, record, prompts, tools, ask, agentOf }) => {
    let opening: Message[] = [];
    let hits: readonly Hit[] = [];
    const completion = await openOrFailStream(model, request, async () => {
      const questions = retrieval ? questionsOf(project, model, request) : [];
      record?.asked(project, questions);
      const found = retrieval ? await retrievePassages(retrieval, project, questions, signal) : [];
      record?.found(questions, found);
      const given = await serverContext(parts.tools, project, request, signal);
      const history = session ? await sessions.history(session) : (replay?.history ?? []);
      const wish = parts.memory && memoryWish(project, model, request);
      const owner = ownerOf(about);
      const memories = wish ? await recallMemories(parts.memory!, project, wish, request, owner, history, signal) : [];
      record?.recalled(memories);
      if (session) await sessions.expect(conversationOf(request.messages)).catch(refuseUnkept);
      const open = (): Promise<Completion> =>
        openWithRoom([...found, ...memories], (passages) => {
          hits = passages;
          const ofDocuments = passages.filter((hit) => !isMemory(hit));
          const system = [...prompts.system, ...given, ...contextText(ofDocuments), ...memoryText(passages.filter(isMemory))];
          opening = assembleMessages({ ...prompts, system }, history, request.messages);
          record?.opened(model, history.length, passages);
          return ask(opening, tools.fields('first'));
        });
      if (tools.ofServers.size === 0) return open();
      return open().catch((failure: unknown) => {
        if (!isTooLong(failure)) throw failure;
        tools.withdraw(
          `The tools of servers were left out of this turn: with them, the context of model ${model.name} has no room for the messages.`,
        );
        return open();
      });
    });
    const agent = tools.ofServers.size > 0 ? agentOf(newState(opening), completion) : undefined;
    const answer = agent ?? completion;
    return { completion: call.frame ? withFrame(answer, call.frame(hits)) : answer, agent, hits };
  });
}

/** Goes on with a turn all of whose waiting calls are decided. Throws as `Chat.complete` does. */
export function resumeTurn(parts: TurnParts, { state, decided }: PausedTurn<PausedChat>): Promise<ChatTurn> {
  const { request, sessionId, agent: done } = state;
  return openWith(parts, { request, sessionId: sessionId ?? undefined }, async ({ model, record, agentOf }) => {
    record?.opened(model, 0, []);
    const agent = agentOf(done, undefined, decided);
    return { completion: agent, agent, hits: [] };
  });
}

/** What a turn is, and what it repeats. */
interface TurnAbout {
  readonly request: ChatRequest;
  readonly sessionId: string | undefined;
  /** As in `ChatCall`. */
  readonly conversation?: string | undefined;
  readonly begunWith?: Record<string, unknown> | undefined;
  readonly replayOf?: string | undefined;
}

/** What a turn has at hand when its model is asked. */
interface TurnAtHand {
  readonly model: ModelConfig;
  readonly session: Session | undefined;
  readonly record: TurnRecord | undefined;
  readonly prompts: Prompts;
  readonly tools: TurnTools;
  ask(messages: readonly Message[], fields: ToolFields): Promise<Completion>;
  agentOf(state: AgentState, first: Completion | undefined, decided?: PausedTurn<PausedChat>['decided']): Agent;
}

/** How a turn is answered. */
interface TurnAnswer {
  readonly completion: Pick<Completion, 'parts' | 'contextUsage'>;
  /** Of a turn that may call tools of servers. */
  readonly agent: Agent | undefined;
  readonly hits: readonly Hit[];
}

/** Makes a turn of what `answer` opens; the session is released and the event ended whatever comes of it. */
async function openWith(parts: TurnParts, about: TurnAbout, answer: (at: TurnAtHand) => Promise<TurnAnswer>): Promise<ChatTurn> {
  const { project, signal, events } = parts;
  const record = events && new TurnRecord(events, { project, ...about, sessionId: about.sessionId ?? about.conversation });
  try {
    return await turnOf(parts, about, record, answer);
  } catch (failure) {
    if (signal.aborted) record?.left(signal.reason);
    record?.failed(failure);
    throw failure;
  }
}

async function turnOf(
  parts: TurnParts,
  about: TurnAbout,
  record: TurnRecord | undefined,
  answer: (at: TurnAtHand) => Promise<TurnAnswer>,
): Promise<ChatTurn> {
  const { request, sessionId, replayOf } = about;
  const { project, signal, sessions, waiting } = parts;
  const { namespace, name } = project;
  const model = chosenModel(project, request.model);
  const form = await answerForm(project, request);
  const provider = form ? structuredProvider(parts.provider(model), { ...form, held: parts.isHeld(model) }) : parts.provider(model);
  const session = sessionId === undefined ? undefined : await sessions.use([namespace, name, sessionId], about.begunWith);
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
    const own = offeredTools(model, request.tools, variables);
    const toolbox = await openToolbox(parts.tools, project, { model, request, isReplay: replayOf !== undefined }, signal);
    const tools = new TurnTools(own, toolbox, request.tool_choice, MAX_TOOLS);
    const settings = { ...settingsOf(model, request), stream: request.stream ?? false };
    const ask: TurnAtHand['ask'] = async (messages, fields) => {
      const completion = await provider.open(model, { ...settings, ...fields, messages: [...messages] }, signal);
      return parts.spent ? withSpentTokens(completion, parts.spent) : completion;
    };
    const begun = form || isFormed(request) ? '' : begunAnswer(request);
    const agentOf: TurnAtHand['agentOf'] = (state, first, decided) => {
      const agentParts: AgentParts = {
        toolbox,
        tools,
        most: model.max_model_calls ?? MODEL_CALLS,
        signal,
        sessionId,
        begun,
        consent: waiting.consent(namespace, name),
        isFormed: !request.stream && (form !== undefined || isFormed(request)),
        pauses: request.stream
          ? undefined
          : { named: (calls) => waiting.named(calls), canPause: (agent) => waiting.canPause({ ...about, agent }) },
        record,
        open: ask,
      };
      return new Agent(agentParts, state, first, decided);
    };
    const { completion, agent, hits } = await answer({ model, session, record, prompts, tools, ask, agentOf });
    return new OpenTurn(request, model, completion, {
      session,
      signal,
      record,
      passages: hits,
      toolMessages: () => agent?.messages ?? [],
      sources: request.include_sources ? sourcesOf(hits, request.sources_limit) : undefined,
      close: release,
      complete: async (message) => {
        if (agent && agent.waiting.length > 0) {
          await waiting.pause(namespace, name, agent.waiting, { request, sessionId: sessionId ?? null, agent: agent.state });
          return;
        }
        const said = conversationOf(request.messages);
        const asked = begun === '' ? said : said.slice(0, -1);
        const answered = begun === '' ? message : { ...message, content: begun + (message.content ?? '') };
        const messages = [...asked, ...(agent?.messages ?? []), answered];
        if (session) await sessions.append(session, messages, prompts.first).catch(refuseUnkept);
        rememberSoon(parts, about, { model, message: answered, event: record?.id });
      },
      beside: () => besideAnswer(request, session === undefined, tools, agent),
    });
  } catch (failure) {
    release();
    throw failure;
  }
}

/** Whose turn it is. */
function ownerOf({ request: { user }, sessionId, conversation }: TurnAbout): TurnOwner {
  return { user: user || undefined, session: sessionId ?? conversation };
}

/** Remembers a turn where its project wants that, without anybody waiting for it. A repetition, and a turn that nobody asked for, say nothing new. */
function rememberSoon(parts: TurnParts, about: TurnAbout, turn: { model: ModelConfig; message: Message; event: string | undefined }): void {
  const { project, memory } = parts;
  const { request, replayOf } = about;
  const owner = ownerOf(about);
  const wish = memory && replayOf === undefined ? memoryWish(project, turn.model, request) : undefined;
  // A client that wants no session wants nothing kept, unless it says so.
  if (!wish?.remember || (owner.session === undefined && !request.memory)) return;
  // Only spoken conversations leave something in their session.
  const isSpoken = about.begunWith !== undefined;
  const records = turnMemories(request, turn.message, {
    model: turn.model.name,
    owner,
    event: turn.event,
    isSpoken,
  });
  memory!
    .remember(project.namespace, project.name, wish.store, records)
    .catch((error: unknown) => log('warn', 'a chat turn could not be remembered', { project: project.name, error }));
}

/** Whether a request asks for a form of the answer. */
function isFormed(request: ChatRequest): boolean {
  const { type } = request.response_format ?? {};
  return (type !== undefined && type !== 'text') || FORM_FIELDS.some((field) => request[field] !== undefined && request[field] !== null);
}

/** What an answer tells of tools in members that only this server writes. Streams have told of the calls. */
function besideAnswer({ stream }: ChatRequest, isStateless: boolean, tools: TurnTools, agent: Agent | undefined): Record<string, unknown> {
  const notes = agent?.notes ?? tools.notes;
  const made = agent?.made ?? [];
  return {
    ...(notes.length > 0 ? { x_tool_notes: notes } : {}),
    ...(made.length > 0 && !stream ? { x_tool_calls: made } : {}),
    ...(made.length > 0 && isStateless ? { x_tool_messages: agent!.messages } : {}),
    ...(agent && agent.waiting.length > 0 ? { x_waiting: agent.waiting } : {}),
  };
}

/** Opens with all the passages, or with the best of them that the model's context has room for: half as many each time that it has not. */
async function openWithRoom(passages: readonly Hit[], open: (passages: readonly Hit[]) => Promise<Completion>): Promise<Completion> {
  for (let best = passages; ; best = best.slice(0, Math.floor(best.length / 2))) {
    try {
      return await open(best);
    } catch (failure) {
      if (best.length === 0 || !isTooLong(failure)) throw failure;
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
    return { model: model.model, parts: failingParts(failure) };
  }
}

// biome-ignore lint/correctness/useYield: it fails where the first part is due.
async function* failingParts(failure: Failure): AsyncGenerator<CompletionPart, void, undefined> {
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

/** Fails a turn that the store refused, in the store's words, with the way round it. */
function refuseUnkept(cause: unknown): never {
  if (!(cause instanceof Failure)) throw cause;
  const message = `This turn cannot be kept in its session: ${cause.message} To chat without a session, send the header X-No-Session.`;
  const retry = cause.retryAfterS === undefined ? {} : { retryAfterS: cause.retryAfterS };
  throw new Failure(cause.kind, message, { code: cause.code, ...retry, cause });
}
