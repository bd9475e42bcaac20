import type { CompletionPart, FinishReason, TokenLogprob } from '../../runtime/completions/contract.js';
import { itemId } from '../../runtime/responses/stored-responses.js';
import type { ItemPieces, StoredResponse } from '../../runtime/store/records.js';
import { Failure } from '../../schemas/errors.js';
import type { Usage } from '../../schemas/generated/common.js';

/** An event of a stream without its number. */
export type ResponseEvent = { readonly type: string; readonly [member: string]: unknown };

/** A part of an answer's output as it is written. */
type OutputItem = { id: string; type: string; status: string; [member: string]: unknown };

/** What is being written: at most one item at a time. */
interface Open {
  readonly item: OutputItem;
  readonly index: number;
  /** Of a call its number in the answer. */
  readonly call?: number;
  text: string;
  readonly logprobs: TokenLogprob[];
  readonly lengths: number[];
  readonly logprobCounts: number[];
}

/** How an answer ended. */
export interface ResponseEnd {
  readonly reason: FinishReason;
  readonly usage: Usage;
  readonly thinkingTokens: number;
}

const textPart = (text: string, logprobs: readonly TokenLogprob[] = []) => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [...logprobs],
});

/**
 * Turns the parts of a completion into the items of a response, and tells each step as an event. What was thought is an item of its own; it is told as a
 * summary where the request asks for one, since most clients read no other.
 */
export class ResponseWriter {
  readonly output: OutputItem[] = [];
  /** In which pieces each item of `output` was written that is whole. */
  readonly pieces: ItemPieces[] = [];
  end: ResponseEnd | undefined;
  #open: Open | undefined;

  constructor(
    private readonly response: string,
    private readonly isSummarised: boolean,
  ) {}

  *take(part: CompletionPart): Generator<ResponseEvent> {
    switch (part.type) {
      case 'text':
        yield* this.#message(part.text, part.logprobs);
        return;
      case 'reasoning':
        yield* this.#reasoning(part.text);
        return;
      case 'tool_call':
        yield* this.#call(part);
        return;
      case 'finish':
        yield* this.close();
        this.end = { reason: part.reason, usage: part.usage, thinkingTokens: part.thinkingTokens ?? 0 };
    }
  }

  /** Ends the item that is being written, as `status` where it is not complete. */
  *close(status = 'completed'): Generator<ResponseEvent> {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const { item, index: output_index, text, lengths, logprobCounts } = open;
    item.status = status;
    this.pieces.push({ lengths, ...(open.logprobs.length > 0 ? { logprobCounts } : {}) });
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      item.content = [textPart(text, open.logprobs)];
      yield { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: open.logprobs };
      yield { type: 'response.content_part.done', ...at, content_index: 0, part: textPart(text, open.logprobs) };
    } else if (item.type === 'function_call') {
      item.arguments = text;
      yield { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: text };
    } else if (this.isSummarised) {
      item.summary = [{ type: 'summary_text', text }];
      yield { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text };
      yield { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: { type: 'summary_text', text } };
    } else {
      item.content = [{ type: 'reasoning_text', text }];
      yield { type: 'response.reasoning_text.done', ...at, content_index: 0, text };
    }
    yield { type: 'response.output_item.done', output_index, item };
  }

  *#message(delta: string, logprobs: readonly TokenLogprob[] = []): Generator<ResponseEvent> {
    if (this.#open?.item.type !== 'message') {
      yield* this.#begin('msg', { type: 'message', role: 'assistant', content: [] });
      yield { type: 'response.content_part.added', ...this.#at, content_index: 0, part: textPart('') };
    }
    this.#write(delta);
    this.#open!.logprobs.push(...logprobs);
    this.#open!.logprobCounts.push(logprobs.length);
    yield { type: 'response.output_text.delta', ...this.#at, content_index: 0, delta, logprobs };
  }

  *#reasoning(delta: string): Generator<ResponseEvent> {
    if (this.#open?.item.type !== 'reasoning') {
      yield* this.#begin('rs', { type: 'reasoning', summary: [], content: [] });
      if (this.isSummarised)
        yield { type: 'response.reasoning_summary_part.added', ...this.#at, summary_index: 0, part: { type: 'summary_text', text: '' } };
    }
    this.#write(delta);
    yield this.isSummarised
      ? { type: 'response.reasoning_summary_text.delta', ...this.#at, summary_index: 0, delta }
      : { type: 'response.reasoning_text.delta', ...this.#at, content_index: 0, delta };
  }

  *#call({ index, id, name, arguments: delta }: CompletionPart & { type: 'tool_call' }): Generator<ResponseEvent> {
    if (this.#open?.call !== index)
      yield* this.#begin('fc', { type: 'function_call', call_id: id ?? '', name: name ?? '', arguments: '' }, index);
    if (!delta) return;
    this.#write(delta);
    yield { type: 'response.function_call_arguments.delta', ...this.#at, delta };
  }

  *#begin(kind: string, members: { type: string; [member: string]: unknown }, call?: number): Generator<ResponseEvent> {
    yield* this.close();
    const index = this.output.length;
    const item: OutputItem = { id: itemId(kind, this.response, index), ...members, status: 'in_progress' };
    this.output.push(item);
    this.#open = { item, index, text: '', logprobs: [], lengths: [], logprobCounts: [], ...(call === undefined ? {} : { call }) };
    // What the item becomes is told later.
    yield { type: 'response.output_item.added', output_index: index, item: { ...item } };
  }

  #write(delta: string): void {
    this.#open!.text += delta;
    this.#open!.lengths.push(delta.length);
  }

  get #at(): { item_id: string; output_index: number } {
    const { item, index } = this.#open!;
    return { item_id: item.id, output_index: index };
  }
}

/** Writes the events of one response as frames of an event stream, numbered from 0; those up to the number `after` are counted and not written. */
export class ResponseFrames {
  #number = 0;

  constructor(private readonly after = -1) {}

  write(events: Iterable<ResponseEvent>): string {
    let text = '';
    for (const event of events) {
      if (this.#number > this.after)
        text += `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: this.#number })}\n\n`;
      this.#number += 1;
    }
    return text;
  }
}

/** The two events with which each response begins; `response` is what is known of it then. */
export const firstEvents = (response: object): ResponseEvent[] => [
  { type: 'response.created', response },
  { type: 'response.in_progress', response },
];

/** The event that ends a response. */
export const lastEvent = (response: { readonly status?: unknown }): ResponseEvent => ({ type: `response.${response.status}`, response });

/** The events of a stored response as they were when it was written. Throws `conflict` where it is not known in which pieces that was. */
export function* eventsAgain({ response, output, pieces }: StoredResponse): Generator<ResponseEvent> {
  const { id, completed_at: _completedAt, reasoning, ...frame } = response;
  if (!pieces)
    throw new Failure(
      'conflict',
      `Response '${id}' was stored by a version that did not note how it was streamed; read it without stream, which gives it whole.`,
      { code: 'response_not_streamable' },
    );
  const { summary } = reasoning as { summary?: unknown };
  yield* firstEvents({ ...frame, id, reasoning, status: 'in_progress', incomplete_details: null, output: [], usage: null });
  const writer = new ResponseWriter(String(id), Boolean(summary));
  for (const [index, item] of output.entries())
    for (const part of partsAgain(item as OutputItem, index, pieces[index]!)) yield* writer.take(part);
  yield* writer.close();
  yield lastEvent(response);
}

/** The parts of a completion that an item was written from. */
function* partsAgain(item: OutputItem, index: number, { lengths, logprobCounts }: ItemPieces): Generator<CompletionPart> {
  const isCall = item.type === 'function_call';
  const [said] = [item.content, item.summary].flatMap((parts) => (parts ?? []) as { text: string; logprobs?: TokenLogprob[] }[]);
  const text = isCall ? String(item.arguments) : (said?.text ?? '');
  const call = { type: 'tool_call', index, id: String(item.call_id), name: String(item.name) } as const;
  if (isCall) yield call;
  let [from, first] = [0, 0];
  for (const [place, length] of lengths.entries()) {
    const piece = text.slice(from, from + length);
    const count = logprobCounts?.[place] ?? 0;
    if (isCall) yield { ...call, arguments: piece };
    else if (item.type === 'reasoning') yield { type: 'reasoning', text: piece };
    else yield { type: 'text', text: piece, logprobs: said?.logprobs?.slice(first, first + count) ?? [] };
    from += length;
    first += count;
  }
}
