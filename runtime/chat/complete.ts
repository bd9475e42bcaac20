import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Message, Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { chunkFrames, completionId, responseBody, type WireOptions } from '../completions/wire.js';
import { defaultModel } from '../config/default-model.js';
import { log } from '../log.js';
import type { LoadedProject } from '../projects/projects.js';
import { type Completion, type CompletionPart, type CompletionRequest, collect, type Provider } from '../providers/contract.js';
import { settingsOf } from './parameters.js';
import { recorded } from './parts.js';
import { assemble, conversationOf, type Prompts, renderPrompts } from './prompts.js';
import type { Session } from './session.js';
import { checkSessionId } from './session-id.js';
import type { Sessions } from './sessions.js';
import { offeredTools } from './tools.js';

/** What a stream says when the model fails before it has said anything. */
export const APOLOGY = 'Sorry, I could not produce an answer. Please try again.';

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

/** An accepted turn. It is read once, as a body or as frames. */
export interface ChatTurn {
  /** Absent in stateless calls. */
  readonly sessionId: string | undefined;
  /** The whole answer as `core/chat#CompletionResponse`. Throws what the model throws. */
  body(): Promise<Record<string, unknown>>;
  /** The answer as text of server-sent events, up to and with `[DONE]`. Never throws; leaving the loop ends the generation. */
  frames(): AsyncIterable<string>;
}

/** What a turn is made of. */
export interface TurnParts {
  call: ChatCall;
  project: LoadedProject;
  signal: AbortSignal;
  sessions: Sessions;
  provider(model: ModelConfig): Provider;
}

/** The model that a request names, or the default one. Throws `bad_request` (UnknownModel, NoModel). */
function chosenModel(project: LoadedProject, name: string | null | undefined): ModelConfig {
  const { runtime } = project.config;
  const place = `project ${project.namespace}/${project.name}`;
  if (runtime.models.length === 0) {
    throw new Failure('bad_request', `No model is configured in ${place}. Add one under runtime.models.`, { code: 'NoModel' });
  }
  const model = name ? runtime.models.find((one) => one.name === name) : defaultModel(runtime);
  if (model) return model;
  const known = runtime.models.map((one) => one.name).join(', ');
  throw new Failure('bad_request', `There is no model "${name}" in ${place}. Configured models: ${known}.`, { code: 'UnknownModel' });
}

/** Opens a turn; see `Chat.complete`. */
export async function openTurn({ call, project, signal, sessions, provider }: TurnParts): Promise<ChatTurn> {
  const { request, namespace } = call;
  const model = chosenModel(project, request.model);
  refuseStructuredStream(project, request);
  const session = call.stateful ? sessions.use([namespace, call.project, sessionIdOf(call)]) : undefined;
  const release = once(() => session && sessions.release(session));
  // An answer that nobody starts to read has no end of its own.
  signal.addEventListener('abort', release, { once: true });
  try {
    const variables = request.variables ?? {};
    const prompts = renderPrompts(project.config, model, variables);
    const tools = offeredTools(model, request.tools, variables);
    const history = session ? await sessions.history(session) : [];
    const messages = assemble(prompts, history, request.messages);
    const completion = await opened(provider(model), model, completionRequest(model, request, messages, tools), signal);
    return new OpenTurn(call, model, completion, {
      session,
      signal,
      close: release,
      complete: (message) => remember(sessions, session, call, prompts, message),
    });
  } catch (failure) {
    release();
    throw failure;
  }
}

/** A model that fails before a stream has begun fails the stream, which ends with an apology; what the caller can mend stays a status. */
async function opened(provider: Provider, model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion> {
  try {
    return await provider.open(model, request, signal);
  } catch (failure) {
    if (!request.stream || !(failure instanceof Failure) || failure.kind !== 'model_failed') throw failure;
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

function refuseStructuredStream({ config, namespace, name }: LoadedProject, request: ChatRequest): void {
  if (config.schema === undefined) return;
  const place = `project ${namespace}/${name}`;
  if (request.stream) {
    const message = `Streaming is not supported while ${place} has a schema (${config.schema}). Send "stream": false.`;
    throw new Failure('bad_request', message, { code: 'StreamingWithSchema' });
  }
  log('warn', `the schema of ${place} is not applied to this answer`, { schema: config.schema });
}

function completionRequest(model: ModelConfig, request: ChatRequest, messages: Message[], tools: Tool[]): CompletionRequest {
  const settings = settingsOf(model, request);
  const asked = { ...settings, messages, stream: request.stream ?? false };
  if (tools.length === 0) return asked;
  return { ...asked, tools, ...(request.tool_choice ? { tool_choice: request.tool_choice } : {}) };
}

/** Stores a complete turn. A disk that refuses costs the memory of the turn, not its answer. */
async function remember(
  sessions: Sessions,
  session: Session | undefined,
  call: ChatCall,
  prompts: Prompts,
  answer: Message,
): Promise<void> {
  if (!session) return;
  try {
    await sessions.append(session, [...conversationOf(call.request.messages), answer], prompts.first);
  } catch (error) {
    log('error', 'a chat turn could not be stored', { session: session.key.join('/'), error });
  }
}

interface OpenTurnEnds {
  session: Session | undefined;
  signal: AbortSignal;
  complete(message: Message): Promise<void>;
  close(): void;
}

class OpenTurn implements ChatTurn {
  readonly sessionId: string | undefined;
  readonly #request: ChatRequest;
  readonly #completion: Completion;
  readonly #ends: OpenTurnEnds;
  readonly #wire: WireOptions;

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
      const answer = await collect(this.#parts(undefined));
      return responseBody(answer, { ...this.#wire, contextUsage: this.#completion.contextUsage });
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('internal', 'The chat service failed while the model was answering. See the log for the reason.', { cause });
    }
  }

  frames(): AsyncIterable<string> {
    const completion = this.#completion;
    return chunkFrames(this.#parts(APOLOGY), {
      ...this.#wire,
      // Other runtimes say it with the finish.
      get contextUsage() {
        return completion.contextUsage;
      },
      includeUsage: this.#request.stream_options?.include_usage ?? false,
      fallbackText: APOLOGY,
      onFailure: (error) => {
        // A client that left is no fault of the model.
        if (!this.#ends.signal.aborted) log('error', 'a chat stream failed', { model: this.#wire.model, error });
      },
    });
  }

  #parts(emptyText: string | undefined): AsyncIterable<CompletionPart> {
    return recorded(this.#completion.parts, { emptyText, complete: this.#ends.complete, close: this.#ends.close });
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
