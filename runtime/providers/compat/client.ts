import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { Completion, CompletionPart, CompletionRequest, ContextUsage } from '../../completions/contract.js';
import { parsedCalls, ToolCallParser } from '../../completions/tools/parser.js';
import { injectTools, toolHistoryAsText } from '../../completions/tools/tool-prompt.js';
import { apiKeyOf } from '../../config/variables.js';
import type { Bases } from '../../net/ask/bases.js';
import { BROKEN_REMEDY, brokenAnswerFailure, streamFailure, type Upstream } from '../../net/ask/failures.js';
import type { Outbound } from '../../net/outbound.js';
import type { OutboundReply } from '../../net/reply.js';
import { chatBody } from './body.js';
import { ChunkReader } from './chunks.js';
import { type ChatEvent, chatEvents } from './events.js';
import { type Accepted, type SendSettings, sendChat } from './send.js';

/** A request whose tools went into the prompt, and what reads the calls of its answer. */
interface Prompted {
  request: CompletionRequest;
  /** Makes the reader of a choice; absent when nothing in the answer is a call. */
  newParser?: () => ToolCallParser;
}

/** Moves tools and earlier calls into the text when the model's `tool_call_strategy` is `prompt_based`; otherwise the request stays as it is. */
function promptedTools(model: ModelConfig, request: CompletionRequest): Prompted {
  if (model.tool_call_strategy !== 'prompt_based') return { request };
  const { tools, tool_choice: choice, parallel_tool_calls: parallel, messages, ...rest } = request;
  const toolTurns = messages.some((message) => message.role === 'tool' || message.tool_calls?.length);
  // Only a history with tool turns is rewritten: it loses the parts of its messages that are no text.
  const history = toolTurns ? toolHistoryAsText(messages) : messages;
  const prompted: Prompted = { request: { ...rest, messages: injectTools(history, tools, choice) } };
  if (tools?.length && choice !== 'none')
    prompted.newParser = () => new ToolCallParser(undefined, parallel === false ? { maxCalls: 1 } : {});
  return prompted;
}

/** Wait for usage or `[DONE]` after the finish reason has come, in milliseconds. */
const TRAILER_MS = 2000;

/** The answer of a host as it comes in: read until the first part by `prime`, from there by whoever iterates `parts`. */
export class Answer {
  readonly #reply: OutboundReply;
  readonly #upstream: Upstream;
  readonly #body: AsyncIterator<Uint8Array>;
  readonly #events: AsyncIterator<ChatEvent>;
  readonly #reader: ChunkReader;
  #first: CompletionPart[] = [];
  #over = false;

  constructor(
    { reply, upstream }: Accepted,
    choices = 1,
    readonly trailerMs = TRAILER_MS,
  ) {
    this.#reader = new ChunkReader(choices);
    this.#reply = reply;
    this.#upstream = upstream;
    this.#body = reply.chunks();
    this.#events = chatEvents(reply, this.#body, upstream);
  }

  /** The model as the host names it. */
  get model(): string | undefined {
    return this.#reader.model;
  }

  /** How full the context was; our own runtime says it with the finish. */
  get contextUsage(): ContextUsage | undefined {
    return this.#reader.contextUsage;
  }

  /** Waits for the first part, so that a host that fails at once fails the call and not the stream. */
  async prime(): Promise<void> {
    while (!this.#over && this.#first.length === 0) this.#first = await this.#step();
  }

  /** The parts, once. Leaving the loop closes the socket. */
  async *parts(): AsyncGenerator<CompletionPart, void, undefined> {
    try {
      yield* this.#first.splice(0);
      while (!this.#over) yield* await this.#step();
    } finally {
      if (!this.#over) this.#reply.discard();
    }
  }

  /** One event's parts; with the last come the held-back ones and the finish. */
  async #step(): Promise<CompletionPart[]> {
    try {
      const event = await this.#next();
      if (event === undefined || event === 'done') return this.#end(event === 'done');
      if (event.error !== undefined && event.error !== null) throw streamFailure(event, this.#upstream);
      return this.#reader.read(event);
    } catch (error) {
      this.#over = true;
      this.#reply.discard();
      throw brokenAnswerFailure(error, this.#upstream);
    }
  }

  #end(done: boolean): CompletionPart[] {
    const { name, base } = this.#upstream;
    if (!this.#reader.started) throw new Failure('model_failed', `${base} sent an empty answer. ${BROKEN_REMEDY}`, { code: 'BadAnswer' });
    if (!done && !this.#reader.whole)
      throw new Failure('model_failed', `Model '${name}': ${base} broke off in the middle of its answer. ${BROKEN_REMEDY}`, {
        code: 'AnswerTruncated',
      });
    this.#over = true;
    if (done) void this.#reply.drain(this.#body);
    else this.#reply.discard();
    return this.#reader.end();
  }

  /** The next event. Once the finish reasons are there, what is missing is only usage: a host that hangs or breaks then has answered. */
  async #next(): Promise<ChatEvent | undefined> {
    const pending = this.#events.next();
    if (!this.#reader.finished) {
      const next = await pending;
      return next.done ? undefined : next.value;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.trailerMs);
    });
    const trailer = pending.then(
      (next) => (next.done ? undefined : next.value),
      () => undefined,
    );
    try {
      return await Promise.race([trailer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What an operator or a test may change. */
export interface ChatSettings extends SendSettings {
  readonly trailerMs?: number;
}

/** Where a completion is asked for, and what differs from a plain OpenAI-compatible host. */
export interface ChatPlace {
  readonly bases: Bases;
  /** Body members of this kind of host. */
  readonly added?: Record<string, unknown>;
  /** True when the host is our own runtime. */
  readonly ours?: boolean;
}

/** Speaks the chat API to hosts; every provider but the in-process one goes through here. */
export class ChatClient {
  constructor(
    readonly outbound: Outbound,
    readonly settings: ChatSettings = {},
  ) {}

  /** Sends the request and opens the completion; resolves with its first part at hand. Throws `Failure`, or the signal's reason. */
  async open(model: ModelConfig, request: CompletionRequest, place: ChatPlace, signal: AbortSignal): Promise<Completion> {
    const { request: sent, newParser } = promptedTools(model, request);
    const call = {
      bases: place.bases,
      body: chatBody(model, sent, place),
      name: model.name,
      model: model.model,
      apiKey: apiKeyOf(model),
      ours: place.ours ?? false,
    };
    const answer = new Answer(await sendChat(this.outbound, call, this.settings, signal), request.n, this.settings.trailerMs);
    await answer.prime();
    return {
      model: answer.model ?? model.model,
      get contextUsage() {
        return answer.contextUsage;
      },
      parts: newParser ? parsedCalls(answer.parts(), newParser) : answer.parts(),
    };
  }
}
