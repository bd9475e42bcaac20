import { randomUUID } from 'node:crypto';
import { UNCONFIGURED_MODEL } from '../../models/built-in.js';
import { Failure, type FailureKind } from '../../schemas/errors.js';
import type { Message, Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { log } from '../base/log.js';
import { SCHEMA_NOT_MET } from '../completions/answer-check.js';
import { chunkFrames, completionId, responseBody, type WireOptions } from '../completions/wire.js';
import { defaultModel } from '../projects/models.js';
import type { LoadedProject } from '../projects/projects.js';
import { type Completion, type CompletionPart, type CompletionRequest, collectChoices, type Provider } from '../providers/contract.js';
import type { Hit } from '../rag/contract.js';
import type { Retrieval } from '../rag/query/contract.js';
import { recorded } from './answer-recorder.js';
import { assemble, conversationOf, offeredTools, renderPrompts, settingsOf } from './model-request.js';
import { contextText, questionsOf, retrieve, sourcesFrame, sourcesOf } from './passages.js';
import { answerSchema, schemaName } from './schema/answer-schema.js';
import { checkSessionId, type Session } from './session.js';
import type { Sessions } from './sessions.js';

/** What a stream says when the model fails before it has said anything. */
export const APOLOGY = 'Sorry, I could not produce an answer. Please try again.';

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
}

/** An accepted turn. It is read once, as a body, as frames or in parts. */
export interface ChatTurn {
  /** Absent in stateless calls. */
  readonly sessionId: string | undefined;
  /** The whole answer as `core/chat#CompletionResponse`. Throws what the model throws. */
  body(): Promise<Record<string, unknown>>;
  /** The answer as text of server-sent events, up to and with `[DONE]`. Never throws; leaving the loop ends the generation. */
  frames(): AsyncIterable<string>;
  /** The answer in parts, for one who decides what of it is remembered. */
  parts(): KeptByReader;
}

/** An answer whose reader says what of it goes into the history. */
export interface KeptByReader {
  /** Throws what the model throws; leaving the loop ends the generation. */
  readonly parts: AsyncIterable<CompletionPart>;
  /** Stores the turn with this answer; resolves when it is on disk. At most one call. */
  keep(answer: Message): Promise<void>;
  /** Ends the turn, whether or not it was kept. Must be called. */
  close(): void;
}

/** What a turn is made of. */
export interface TurnParts {
  call: ChatCall;
  project: LoadedProject;
  signal: AbortSignal;
  sessions: Sessions;
  provider(model: ModelConfig): Provider;
  /** Absent where nothing is retrieved. */
  retrieval?: Retrieval | undefined;
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
export async function openTurn({ call, project, signal, sessions, provider, retrieval }: TurnParts): Promise<ChatTurn> {
  const { request, namespace } = call;
  const model = chosenModel(project, request.model);
  const form = await answerForm(project, request);
  const session = call.stateful ? await sessions.use([namespace, call.project, sessionIdOf(call)]) : undefined;
  const release = once(() => session && sessions.release(session));
  // An answer that nobody starts to read has no end of its own.
  signal.addEventListener('abort', release, { once: true });
  try {
    const variables = request.variables ?? {};
    const prompts = renderPrompts(project.config, model, variables);
    const tools = offeredTools(model, request.tools, variables);
    let hits: readonly Hit[] = [];
    const completion = await opened(model, request, async () => {
      const found = retrieval ? await retrieve(retrieval, project, questionsOf(project, model, request), signal) : [];
      const history = session ? await sessions.history(session) : [];
      if (session) await sessions.expect(conversationOf(request.messages)).catch(refuseUnkept);
      return fitting(found, (passages) => {
        hits = passages;
        const system = [...prompts.system, ...contextText(passages)];
        const messages = assemble({ ...prompts, system }, history, request.messages);
        const asked = { ...settingsOf(model, request), ...form, messages, stream: request.stream ?? false };
        return provider(model).open(model, withTools(asked, request, tools), signal);
      });
    });
    return new OpenTurn(call, model, completion, {
      session,
      signal,
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
async function fitting(passages: readonly Hit[], open: (passages: readonly Hit[]) => Promise<Completion>): Promise<Completion> {
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
async function opened(model: ModelConfig, { stream }: ChatRequest, open: () => Promise<Completion>): Promise<Completion> {
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
async function answerForm(project: LoadedProject, request: ChatRequest): Promise<Pick<CompletionRequest, 'response_format'>> {
  const { config, namespace, name } = project;
  if (config.schema === undefined) return {};
  if (request.stream) {
    const message = `Streaming is not supported while project ${namespace}/${name} has a schema (${config.schema}). Send "stream": false.`;
    throw new Failure('bad_request', message, { code: 'StreamingWithSchema' });
  }
  const schema = await answerSchema(project.directory, config.schema);
  return { response_format: { type: 'json_schema', json_schema: { name: schemaName(config.schema), schema } } };
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

interface OpenTurnEnds {
  session: Session | undefined;
  signal: AbortSignal;
  /** Shown to the client where it asked for them. */
  sources: Record<string, unknown>[] | undefined;
  complete(message: Message): Promise<void>;
  close(): void;
}

class OpenTurn implements ChatTurn {
  readonly sessionId: string | undefined;
  readonly #request: ChatRequest;
  readonly #completion: Completion;
  readonly #ends: OpenTurnEnds;
  readonly #wire: WireOptions;
  /** Why the store refused the turn; a stream must say so, whatever it keeps silent about else. */
  #unkept: unknown;

  constructor({ request }: ChatCall, model: ModelConfig, completion: Completion, ends: OpenTurnEnds) {
    this.sessionId = ends.session?.key[2];
    this.#request = request;
    this.#completion = completion;
    this.#ends = ends;
    this.#wire = {
      id: completionId(),
      model: model.name,
      logprobs: request.logprobs ?? undefined,
    };
  }

  async body(): Promise<Record<string, unknown>> {
    try {
      const answers = await collectChoices(this.#parts(undefined));
      const body = responseBody(answers, { ...this.#wire, contextUsage: this.#completion.contextUsage });
      return this.#ends.sources ? { ...body, sources: this.#ends.sources } : body;
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('internal', 'The chat service failed while the model was answering. See the log for the reason.', { cause });
    }
  }

  frames(): AsyncIterable<string> {
    const completion = this.#completion;
    const frames = chunkFrames(this.#parts(APOLOGY), {
      ...this.#wire,
      // Other runtimes say it with the finish.
      get contextUsage() {
        return completion.contextUsage;
      },
      includeUsage: this.#request.stream_options?.include_usage ?? false,
      fallbackText: APOLOGY,
      tells: (error) => error === this.#unkept || (error instanceof Failure && error.code === SCHEMA_NOT_MET),
      onFailure: (error) => {
        // A client that left is no fault of the model.
        if (!this.#ends.signal.aborted) log('error', 'a chat stream failed', { model: this.#wire.model, error });
      },
    });
    return this.#ends.sources ? after(sourcesFrame(this.#wire, this.#ends.sources), frames) : frames;
  }

  parts(): KeptByReader {
    const { complete, close } = this.#ends;
    return { parts: this.#completion.parts, keep: complete, close };
  }

  #parts(emptyText: string | undefined): AsyncIterable<CompletionPart> {
    const complete = async (message: Message): Promise<void> => {
      try {
        await this.#ends.complete(message);
      } catch (failure) {
        this.#unkept = failure;
        throw failure;
      }
    };
    return recorded(this.#completion.parts, { emptyText, complete, close: this.#ends.close });
  }
}

async function* after(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield first;
  yield* rest;
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
