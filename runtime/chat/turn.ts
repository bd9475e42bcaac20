import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { log } from '../base/log.js';
import { SCHEMA_NOT_MET } from '../completions/answer-check.js';
import { Collector, collectChoices } from '../completions/collect.js';
import type { CollectedCompletion, Completion, CompletionPart, ContextUsage } from '../completions/contract.js';
import { chunkFrames, completionId, responseBody, type WireOptions } from '../completions/wire.js';
import type { Hit } from '../rag/contract.js';
import { sourcesFrame } from './passages.js';
import type { Session } from './session.js';
import type { TurnRecord } from './turn-record.js';

/** Sees a stream from inside. */
export interface TurnWatcher {
  part(part: CompletionPart): void;
  /** Why the answer broke off, which the stream may keep silent about. */
  failed(error: unknown): void;
}

/** An answer whose reader says what of it goes into the history. */
export interface KeptByReader {
  /** As `ChatTurn.eventId`. */
  readonly eventId?: string | undefined;
  /** Throws what the model throws; leaving the loop ends the generation. */
  readonly parts: AsyncIterable<CompletionPart>;
  /** Stores the turn with this answer; resolves when it is on disk. At most one call. */
  keep(answer: Message): Promise<void>;
  /** Ends the turn, whether or not it was kept. Must be called. */
  close(): void;
}

/** An accepted turn. It is read once, as a body, as frames or in parts. */
export interface ChatTurn {
  /** Absent in stateless calls. */
  readonly sessionId: string | undefined;
  /** The event of this turn in the project's log; absent where none is kept. It is there a moment after the turn's end. */
  readonly eventId: string | undefined;
  /** The name of the model in the project. */
  readonly model: string;
  /** What the model was given of documents and memories, the best first. */
  readonly passages: readonly Hit[];
  /** How full the context was; absent where the model's host does not say, and before it has said it. */
  readonly contextUsage: ContextUsage | undefined;
  /** The calls of servers' tools that were made so far and their results, as the model is to be given them again before the answer. */
  readonly toolMessages: readonly Message[];
  /** The whole answer as `core/chat#CompletionResponse`; `watch` sees its parts as they come. Throws what the model throws. */
  body(watch?: (part: CompletionPart) => void): Promise<Record<string, unknown>>;
  /** The answer as text of server-sent events, up to and with `[DONE]`. Never throws; leaving the loop ends the generation. */
  frames(watcher?: TurnWatcher): AsyncIterable<string>;
  /** The answer in parts, for one who decides what of it is remembered. */
  parts(): KeptByReader;
}

/** What a turn reads. */
type Answer = Pick<Completion, 'parts' | 'contextUsage'>;

/** What `recorded` does at the ends of a turn. */
interface TurnEnds {
  /** Said in place of an answer that is empty; absent = the answer stays empty. */
  emptyText?: string | undefined;
  /** Called with the assistant's message when the answer is complete, before its last part goes out. */
  complete(message: Message): Promise<void>;
  /** Members that the answer has beside its choices; called when it is complete. */
  beside(): Record<string, unknown>;
  /** Called in every case, last. */
  close(): void;
}

interface OpenTurnEnds extends Omit<TurnEnds, 'emptyText'> {
  session: Session | undefined;
  signal: AbortSignal;
  record: TurnRecord | undefined;
  passages: readonly Hit[];
  /** As `ChatTurn.toolMessages`. */
  toolMessages(): readonly Message[];
  /** Shown to the client where it asked for them. */
  sources: Record<string, unknown>[] | undefined;
}

/** What a stream says when the model fails before it has said anything. */
export const APOLOGY = 'Sorry, I could not produce an answer. Please try again.';

/** A turn whose completion is open. */
export class OpenTurn implements ChatTurn {
  readonly sessionId: string | undefined;
  readonly eventId: string | undefined;
  readonly model: string;
  readonly passages: readonly Hit[];
  readonly #request: ChatRequest;
  readonly #completion: Answer;
  readonly #answer: AsyncIterable<CompletionPart>;
  readonly #ends: OpenTurnEnds;
  readonly #wire: WireOptions;
  /** Why the store refused the turn; a stream must say so, whatever it keeps silent about else. */
  #unkept: unknown;

  constructor(request: ChatRequest, model: ModelConfig, completion: Answer, ends: OpenTurnEnds) {
    this.sessionId = ends.session?.key[2];
    this.#request = request;
    this.eventId = ends.record?.id;
    this.model = model.name;
    this.passages = ends.passages;
    this.#completion = completion;
    this.#answer = ends.record?.watched(completion.parts) ?? completion.parts;
    this.#ends = ends;
    this.#wire = {
      id: completionId(),
      model: model.name,
      logprobs: request.logprobs ?? undefined,
    };
  }

  get contextUsage(): ContextUsage | undefined {
    return this.#completion.contextUsage;
  }

  get toolMessages(): readonly Message[] {
    return this.#ends.toolMessages();
  }

  async body(watch?: (part: CompletionPart) => void): Promise<Record<string, unknown>> {
    try {
      const parts = this.#parts(undefined);
      const answers = await collectChoices(watch ? watching(parts, watch) : parts);
      const answer = responseBody(answers, { ...this.#wire, contextUsage: this.#completion.contextUsage });
      const body = this.#ends.sources ? { ...answer, sources: this.#ends.sources } : answer;
      this.#ends.record?.answered(answer);
      return body;
    } catch (cause) {
      this.#ends.record?.failed(cause);
      if (cause instanceof Failure) throw cause;
      throw new Failure('internal', 'The chat service failed while the model was answering. See the log for the reason.', { cause });
    }
  }

  frames(watcher?: TurnWatcher): AsyncIterable<string> {
    const completion = this.#completion;
    // It would become a part of an answer that goes on.
    const fallbackText = this.#request.continue_final_message ? undefined : APOLOGY;
    const parts = this.#parts(fallbackText);
    const frames = chunkFrames(watcher ? watching(parts, (part) => watcher.part(part)) : parts, {
      ...this.#wire,
      // Other runtimes say it with the finish.
      get contextUsage() {
        return completion.contextUsage;
      },
      includeUsage: this.#request.stream_options?.include_usage ?? false,
      fallbackText,
      tells: (error) => error === this.#unkept || (error instanceof Failure && error.code === SCHEMA_NOT_MET),
      onFailure: (error) => {
        this.#ends.record?.failed(error);
        watcher?.failed(error);
        // A client that left is no fault of the model.
        if (!this.#ends.signal.aborted) log('error', 'a chat stream failed', { model: this.#wire.model, error });
      },
    });
    const { sources, record, signal } = this.#ends;
    const whole = sources ? startingWith(sourcesFrame(this.#wire, sources), frames) : frames;
    return record ? untilEnd(whole, record, signal) : whole;
  }

  parts(): KeptByReader {
    const { complete, close, record, signal } = this.#ends;
    return {
      eventId: this.eventId,
      parts: this.#answer,
      keep: async (answer) => {
        await complete(answer);
        record?.streamed();
      },
      close: () => {
        close();
        record?.left(signal.reason);
      },
    };
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
    return reportingParts(this.#answer, { ...this.#ends, emptyText, complete });
  }
}

async function* watching<Part>(parts: AsyncIterable<Part>, watch: (part: Part) => void): AsyncGenerator<Part, void, undefined> {
  for await (const part of parts) {
    watch(part);
    yield part;
  }
}

async function* startingWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield first;
  yield* rest;
}

async function* untilEnd(frames: AsyncIterable<string>, record: TurnRecord, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  try {
    yield* frames;
    record.streamed();
  } finally {
    record.left(signal.reason);
  }
}

type Finish = Extract<CompletionPart, { type: 'finish' }>;

/**
 * Passes an answer on and reports it when it is complete; of several choices the first, whose finish then comes last. Whoever leaves early, and an
 * answer that breaks off, leave nothing behind. Throws `model_failed` when the parts end without a finish.
 */
async function* reportingParts(parts: AsyncIterable<CompletionPart>, ends: TurnEnds): AsyncGenerator<CompletionPart, void, undefined> {
  const collectors: Collector[] = [];
  let finish: Finish | undefined;
  try {
    for await (const part of parts) {
      const { choice = 0 } = part;
      collectors[choice] ??= new Collector();
      const collector = collectors[choice];
      collector.add(part);
      if (part.type === 'finish' && part.reason === 'stop' && isEmpty(collector.collected) && ends.emptyText !== undefined) {
        const text: CompletionPart = { type: 'text', text: ends.emptyText, ...(choice === 0 ? {} : { choice }) };
        collector.add(text);
        yield text;
      }
      if (part.type === 'finish' && choice === 0) finish = part;
      else yield part;
    }
    if (!finish) throw new Failure('model_failed', 'The model broke off its answer without finishing it. Try again.');
    await ends.complete(messageOf(collectors[0]!.collected));
    const beside = ends.beside();
    yield Object.keys(beside).length > 0 ? { ...finish, beside } : finish;
  } finally {
    ends.close();
  }
}

/** Whether the model has said nothing, thinking included. */
function isEmpty({ text, reasoning, toolCalls }: CollectedCompletion): boolean {
  return text === '' && reasoning === '' && toolCalls.length === 0;
}

/** An answer as the assistant's message of the history; thinking is not part of it. */
function messageOf({ text, toolCalls }: CollectedCompletion): Message {
  const calls = toolCalls.filter((call) => call !== undefined && isWhole(call.function.arguments));
  if (calls.length === 0) return { role: 'assistant', content: text };
  return { role: 'assistant', content: text.trim() === '' ? null : text, tool_calls: calls };
}

/** Whether arguments are complete; those of a call that broke off would fail every later turn of the session. */
function isWhole(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Text that belongs to an answer and is not the model's: what stands before it and behind it. Empty text adds nothing. */
export interface AnswerFrame {
  readonly before: string;
  readonly after: string;
}

/** A completion with its frame; of several choices the first gets it. */
export function withFrame(completion: Pick<Completion, 'parts' | 'contextUsage'>, frame: AnswerFrame): typeof completion {
  return {
    // Other runtimes say it with the finish.
    get contextUsage() {
      return completion.contextUsage!;
    },
    parts: framedParts(completion.parts, frame),
  };
}

async function* framedParts(
  parts: AsyncIterable<CompletionPart>,
  { before, after }: AnswerFrame,
): AsyncGenerator<CompletionPart, void, undefined> {
  let begun = false;
  for await (const part of parts) {
    const isFirst = (part.choice ?? 0) === 0;
    if (isFirst && !begun && part.type !== 'progress') {
      begun = true;
      if (before !== '') yield { type: 'text', text: before };
    }
    if (isFirst && part.type === 'finish' && after !== '') yield { type: 'text', text: after };
    yield part;
  }
}
