import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { Collector } from '../completions/collect.js';
import type { CollectedCompletion, CompletionPart } from '../completions/contract.js';
import type { Events } from '../events/events.js';
import type { Outcome, Recording } from '../events/recording.js';
import { FIRST_TOKEN } from '../events/stored-event.js';
import { defaultModel } from '../projects/loaded-project.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Hit, Question } from '../rag/contract.js';
import { databaseOf, retrievalOf, topKOf } from '../rag/retrieval.js';
import type { CallAbout, CallRecord, MadeCall } from './agent/tool-call.js';
import { sourceOf } from './passages.js';

/** Passages that the log shows the beginning of. */
const TOP_CHUNKS = 2;
const PREVIEW_CHARACTERS = 100;
/** The error of a stream that broke off; its reason stands in the metadata. */
const STREAM_FAILED = 'stream_failed';

/** What of a turn is known before it begins. */
interface TurnAbout {
  readonly project: LoadedProject;
  readonly request: ChatRequest;
  readonly sessionId: string | undefined;
  /** The event that this turn repeats. */
  readonly replayOf?: string | undefined;
}

/** The event of one chat turn: what happened in which order, and what came of it. Only its first end counts. */
export class TurnRecord implements CallRecord {
  readonly #recording: Recording;
  readonly #request: ChatRequest;
  readonly #replayOf: string | undefined;
  #model: string | undefined;
  #historyMessages = 0;
  #passages: readonly Hit[] = [];
  #collected: CollectedCompletion | undefined;

  constructor(events: Events, { project, request, sessionId, replayOf }: TurnAbout) {
    this.#recording = events.begin('inference', project, { sessionId });
    this.#request = request;
    this.#replayOf = replayOf;
    this.#model = request.model ?? defaultModel(project.config.runtime)?.name;
    const databases = project.config.rag?.databases ?? [];
    this.#recording.note('request_received', {
      message_length: lengthOf(request),
      model: this.#model ?? null,
      rag_enabled: request.rag_enabled ?? databases.length > 0,
    });
  }

  /** The id of the event. */
  get id(): string {
    return this.#recording.id;
  }

  /** Notes that the documents are asked. */
  asked(project: LoadedProject, questions: readonly Question[]): void {
    const [first] = questions;
    if (!first) return;
    const strategy = retrievalOf(databaseOf(project.config, first.database), first.strategy);
    const data = {
      database: first.database,
      top_k: topKOf(strategy, first),
      retrieval_strategy: strategy.name,
      rag_queries_count: questions.length,
    };
    this.#recording.note('rag_query_start', data, { query: first.text });
  }

  /** Notes what the documents answered. */
  found(questions: readonly Question[], hits: readonly Hit[]): void {
    if (questions.length === 0) return;
    const sum = hits.reduce((total, { score }) => total + score, 0);
    const top = hits.slice(0, TOP_CHUNKS).map((hit, at) => ({
      rank: at + 1,
      content_preview: hit.text.slice(0, PREVIEW_CHARACTERS),
      source: sourceOf(hit) ?? null,
      score: hit.score,
    }));
    const data = { chunks_retrieved: hits.length, avg_score: hits.length === 0 ? 0 : sum / hits.length };
    this.#recording.note('rag_retrieval_complete', data, { top_chunks: top });
  }

  /** Notes what was remembered. */
  recalled(memories: readonly Hit[]): void {
    if (memories.length === 0) return;
    const top = memories
      .slice(0, TOP_CHUNKS)
      .map(({ id, text, score }) => ({ id, content_preview: text.slice(0, PREVIEW_CHARACTERS), score }));
    this.#recording.note('memory_recalled', { memories: memories.length }, { top_memories: top });
  }

  /** Notes what the model is given, and that it is asked. */
  opened(model: ModelConfig, historyMessages: number, passages: readonly Hit[]): void {
    this.#model = model.name;
    this.#historyMessages = historyMessages;
    this.#passages = passages;
    if (this.#request.stream) this.#recording.note('llm_inference_start', { model: model.name });
  }

  /** The parts of the answer, as they come. */
  async *watched(parts: AsyncIterable<CompletionPart>): AsyncGenerator<CompletionPart, void, undefined> {
    const collector = new Collector();
    this.#collected = collector.collected;
    let isFirst = this.#request.stream === true;
    for await (const part of parts) {
      if ((part.choice ?? 0) === 0) collector.add(part);
      if (isFirst && part.type !== 'progress' && part.type !== 'event' && part.type !== 'finish') {
        isFirst = false;
        this.#recording.note(FIRST_TOKEN);
      }
      yield part;
    }
    if (this.#request.stream) this.#recording.note('llm_inference_complete', { finish_reason: collector.collected.finishReason });
  }

  /** Notes that the model calls a tool of a server. */
  toolCalled({ arguments: args, ...call }: CallAbout): void {
    this.#recording.note('tool_call', call, { arguments: args });
  }

  /** Notes what the tool gave. */
  toolAnswered({ arguments: _args, result, ...call }: MadeCall): void {
    this.#recording.note('tool_result', call, { result });
  }

  /** Ends the event of an answer in one piece. */
  answered(body: Record<string, unknown>): void {
    this.#recording.note('response_generated', {}, { response: body });
    this.#recording.end(this.#outcome());
  }

  /** Ends the event of a stream that was read to its end. */
  streamed(): void {
    this.#recording.note('stream_complete');
    this.#recording.end(this.#outcome());
  }

  /** Ends the event of a turn that failed. */
  failed(cause: unknown): void {
    const reason = cause instanceof Failure ? cause.message : 'The chat service failed; the log of the daemon has the reason.';
    const code = cause instanceof Failure ? { code: cause.code } : {};
    const outcome = this.#outcome();
    this.#recording.end(
      this.#request.stream
        ? { ...outcome, error: STREAM_FAILED, metadata: { ...outcome.metadata, reason, ...code } }
        : { ...outcome, error: reason, metadata: { ...outcome.metadata, ...code } },
    );
  }

  /** Ends the event of a turn whose reader left before its end, or whose time was up: then the reason is a `Failure`. */
  left(reason?: unknown): void {
    this.failed(
      reason instanceof Failure
        ? reason
        : new Failure('unavailable', 'The client left before the answer was complete.', { code: 'ClientLeft' }),
    );
  }

  #outcome(): Outcome {
    const { messages, ...request } = this.#request;
    const { usage, finishReason, text, toolCalls } = this.#collected ?? {};
    return {
      model: this.#model,
      tokens: usage && { prompt: usage.prompt_tokens, completion: usage.completion_tokens, total: usage.total_tokens },
      data: {
        finish_reason: finishReason ?? null,
        history_messages: this.#historyMessages,
        passages: this.#passages.map((hit) => ({ id: hit.id, source: sourceOf(hit) ?? null, score: hit.score })),
      },
      content: { messages, response: text ?? null, tool_calls: toolCalls ?? [], request },
      metadata: { stream: request.stream === true, ...(this.#replayOf === undefined ? {} : { replay_of: this.#replayOf }) },
    };
  }
}

/** Characters of the last thing that the user said. */
function lengthOf({ messages }: ChatRequest): number {
  const content = messages.findLast((message) => message.role === 'user')?.content;
  if (typeof content === 'string') return content.length;
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
}
