import { Failure } from '../../schemas/errors.js';
import type { Message, MessageUsage } from '../../schemas/generated/core/conversations.js';
import { isMemory } from '../chat/memories.js';
import { sourceOf } from '../chat/passages.js';
import type { ChatTurn, TurnWatcher } from '../chat/turn.js';
import { Collector } from '../completions/collect.js';
import type { CompletionPart } from '../completions/contract.js';
import type { Hit } from '../rag/contract.js';
import type { ConversationMessage } from '../store/records.js';

/** One passage that an answer was made from. */
export type Citation = NonNullable<Message['citations']>[number];

/** What the model was given of documents, by the numbers that it was shown, with what a client needs to open each where it stands. */
function citationsOf(hits: readonly Hit[]): Citation[] {
  return hits.map((hit, at) => {
    const { dataset } = hit.metadata;
    const page = hit.metadata.page ?? hit.metadata.page_number;
    return {
      n: at + 1,
      id: hit.id,
      text: hit.text,
      document: sourceOf(hit) ?? null,
      file_hash: hit.documentHash || null,
      dataset: typeof dataset === 'string' ? dataset : null,
      page: typeof page === 'number' ? page : null,
      score: hit.score,
      metadata: hit.metadata,
    };
  });
}

type MadeCall = NonNullable<Message['made_calls']>[number];

/** An answer while it is written: what its message says at each moment. */
export class GrowingAnswer implements TurnWatcher {
  /** Why it broke off. */
  error: string | undefined;
  readonly #begun: ConversationMessage;
  readonly #startedMs = performance.now();
  readonly #collector = new Collector();
  readonly #calls = new Map<string, Record<string, unknown>>();
  #turn: ChatTurn | undefined;
  #citations: Citation[] | undefined;
  #firstMs: number | undefined;
  #lastMs: number | undefined;
  #isFinished = false;

  /** `begun` is the message before the model writes: empty, or what it goes on from. */
  constructor(begun: ConversationMessage) {
    this.#begun = begun;
  }

  /** Whether the model has ended it. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Notes what is known when the model has been asked. */
  opened(turn: ChatTurn): void {
    this.#turn = turn;
    this.#citations = citationsOf(turn.passages.filter((hit) => !isMemory(hit)));
  }

  part(part: CompletionPart): void {
    if ((part.choice ?? 0) !== 0) return;
    this.#collector.add(part);
    if (part.type === 'finish') this.#isFinished = true;
    if (part.type === 'event') this.#noteCall(part.name, part.data);
    if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool_call') return;
    this.#lastMs = performance.now();
    this.#firstMs ??= this.#lastMs;
  }

  failed(error: unknown): void {
    this.error ??=
      error instanceof Failure ? error.message : 'The chat service failed while the model was answering; the log has the reason.';
  }

  /** The message as it is now, with what the model is to be given again of calls between question and answer. */
  message(status: Message['status']): ConversationMessage {
    const { text, reasoning, toolCalls, finishReason } = this.#collector.collected;
    const calls = toolCalls.filter((call) => call !== undefined);
    const { message: begun, between: before = [] } = this.#begun;
    const turn = this.#turn;
    const between = [...before, ...(turn?.toolMessages ?? [])];
    const made = [...(begun.made_calls ?? []), ...([...this.#calls.values()] as unknown as MadeCall[])];
    const thinking = (begun.thinking ?? '') + reasoning;
    return {
      message: {
        ...begun,
        content: begun.content + text,
        ...(thinking === '' ? {} : { thinking }),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...(made.length > 0 ? { made_calls: made } : {}),
        ...(this.#citations?.length ? { citations: this.#citations } : {}),
        ...(turn ? { model: turn.model } : {}),
        ...(turn?.eventId === undefined ? {} : { event_id: turn.eventId }),
        ...(this.#firstMs === undefined && !this.#isFinished ? {} : { usage: this.#usage() }),
        status,
        ...(status === 'done' ? { finish_reason: finishReason } : {}),
        ...(status === 'failed' ? { error: this.error ?? 'The model broke off its answer without finishing it.' } : {}),
      },
      ...(between.length > 0 ? { between } : {}),
    };
  }

  #usage(): MessageUsage {
    const { usage } = this.#collector.collected;
    const context = this.#turn?.contextUsage;
    const prompt = this.#isFinished ? usage.prompt_tokens : (context?.prompt_tokens ?? 0);
    const seconds = this.#firstMs === undefined ? 0 : (this.#lastMs! - this.#firstMs) / 1000;
    const completion = usage.completion_tokens;
    return {
      prompt_tokens: prompt,
      completion_tokens: completion,
      // The first token comes at the beginning of that time.
      tokens_per_second: seconds > 0 && completion > 1 ? Math.round(((completion - 1) / seconds) * 100) / 100 : null,
      first_token_ms: this.#firstMs === undefined ? null : Math.round((this.#firstMs - this.#startedMs) * 10) / 10,
      context_tokens: context ? context.prompt_tokens + completion : null,
      context_size: context?.total_context ?? null,
      ...(context?.truncated ? { truncated_messages: context.truncated_messages } : {}),
    };
  }

  #noteCall(name: string, data: Readonly<Record<string, unknown>>): void {
    const id = String(data.tool_call_id);
    if (name === 'tool_call') this.#calls.set(id, { ...data, failed: true, result: '', duration_ms: 0 });
    else if (name === 'tool_result') this.#calls.set(id, { ...this.#calls.get(id), ...data });
  }
}
