import { breathe } from '../../runtime/base/loop.js';
import { type Completion, cachedTokens } from '../../runtime/completions/contract.js';
import { responseId } from '../../runtime/responses/stored-responses.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { GetQuery, ResponseRequest } from '../../schemas/generated/universal/responses.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { failureOf } from '../http/errors.js';
import { eventsAgain, firstEvents, lastEvent, ResponseFrames, ResponseWriter } from './responses-events.js';
import { inputItems, type KeptItem, responseRequest } from './responses-request.js';

/** Turns with longer bodies are answered and not kept: writing one would hold up everybody else. Their answer says `store: false`. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Answers that are being made, by id, so that they can be cancelled by those whose they are. */
const running = new Map<string, { readonly control: AbortController; readonly of: Runtime['responses'] }>();

/** What a response says whatever becomes of it. */
function frameOf(id: string, body: ResponseRequest, isKept: boolean) {
  return {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    background: false,
    error: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    parallel_tool_calls: body.parallel_tool_calls !== false,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    store: isKept,
    temperature: body.temperature ?? null,
    text: { format: body.text?.format ?? { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: body.truncation ?? 'disabled',
    user: body.user ?? null,
  };
}

/** One answer on its way: what it says of itself so far, and what becomes of it. */
class Turn {
  readonly id = responseId();
  readonly #bodyBytes: number;
  readonly #frame: ReturnType<typeof frameOf>;
  readonly #writer: ResponseWriter;
  readonly #frames = new ResponseFrames();
  readonly #control = new AbortController();
  readonly signal: AbortSignal;
  #items: KeptItem[] = [];

  constructor(
    private readonly runtime: Runtime,
    private readonly body: ResponseRequest,
    request: Request,
  ) {
    this.#bodyBytes = request.bodyBytes;
    this.#frame = frameOf(this.id, body, body.store !== false && this.#bodyBytes <= KEPT_BYTES);
    this.#writer = new ResponseWriter(this.id, Boolean(body.reasoning?.summary));
    this.signal = AbortSignal.any([request.signal, this.#control.signal]);
  }

  async open(): Promise<Completion> {
    const { responses, completions } = this.runtime;
    this.#items = inputItems(this.body, this.id, responses);
    return completions.open(await responseRequest(this.body, this.#items, responses), this.signal);
  }

  /** The whole answer, kept where that is wanted. */
  async whole({ parts }: Completion): Promise<object> {
    for await (const part of parts) for (const _event of this.#writer.take(part));
    return this.#kept();
  }

  /** Its events, numbered, of which the last says how it ended. */
  async *events({ parts }: Completion): AsyncGenerator<string, void, undefined> {
    // Before its first event nobody knows its id.
    running.set(this.id, { control: this.#control, of: this.runtime.responses });
    try {
      yield this.#frames.write(firstEvents(this.#response('in_progress')));
      for await (const part of parts) {
        if (part.type === 'progress') yield `: prompt ${part.read}/${part.of}\n\n`;
        else yield this.#frames.write(this.#writer.take(part));
      }
      yield this.#frames.write([lastEvent(await this.#kept())]);
    } catch (error) {
      yield this.#failed(error);
    } finally {
      running.delete(this.id);
    }
  }

  /** A cancelled answer ends as one that failed: clients know no other end of a stream that was begun. */
  #failed(error: unknown): string {
    const { code, message } = failureOf(error);
    const response = { ...this.#response('failed'), error: { code, message } };
    return this.#frames.write([{ type: 'error', code, message, param: null }, lastEvent(response)]);
  }

  async #kept() {
    const isCut = this.#writer.end?.reason === 'length';
    const response = { ...this.#response(isCut ? 'incomplete' : 'completed'), completed_at: Math.floor(Date.now() / 1000) };
    if (!response.store) return response;
    const previous = this.body.previous_response_id;
    const kept = {
      response,
      input: this.#items.map((item) => ({ ...item })),
      output: this.#writer.output,
      pieces: this.#writer.pieces,
      ...(previous ? { previous } : {}),
    };
    await this.runtime.responses.keep(this.id, kept, this.#bodyBytes + JSON.stringify(response).length);
    return response;
  }

  #response(status: 'in_progress' | 'completed' | 'incomplete' | 'failed') {
    const { end, output } = this.#writer;
    const usage = end && {
      input_tokens: end.usage.prompt_tokens,
      input_tokens_details: { cached_tokens: cachedTokens(end.usage) },
      output_tokens: end.usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: end.thinkingTokens },
      total_tokens: end.usage.total_tokens,
    };
    const incomplete = status === 'incomplete' ? { reason: 'max_output_tokens' } : null;
    return { ...this.#frame, status, incomplete_details: incomplete, output, usage: usage ?? null };
  }
}

function refuseUnkept(body: ResponseRequest): void {
  if (body.background)
    throw new Failure('bad_request', 'background is true, and answers are made while their request waits; stream it instead.', {
      code: 'BackgroundUnsupported',
    });
  if (body.conversation !== undefined && body.conversation !== null)
    throw new Failure(
      'bad_request',
      'conversation is given, and conversations are not kept here; name the answer to go on from as previous_response_id.',
      { code: 'ConversationUnsupported' },
    );
}

async function create(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as ResponseRequest;
  refuseUnkept(body);
  const turn = new Turn(runtime, body, request);
  const completion = await turn.open();
  return body.stream ? { events: turn.events(completion) } : { json: await turn.whole(completion) };
}

/** A stored answer, whole or as the events with which it was made. */
function stored(runtime: Runtime, { params, query }: Request): Reply {
  const { stream, starting_after: after } = query as GetQuery;
  const kept = runtime.responses.get(params.response_id!);
  if (!stream) return { json: kept.response };
  const events = eventsAgain(kept);
  // What cannot be told again is refused before the stream begins.
  const first = events.next();
  const frames = new ResponseFrames(after);
  async function* told(): AsyncGenerator<string, void, undefined> {
    for (let next = first; !next.done; next = events.next()) {
      const frame = frames.write([next.value]);
      if (frame !== '') yield frame;
      await breathe();
    }
  }
  return { events: told() };
}

/** The tokens that a turn would be asked with: its own, and those of the turns that it goes on from. */
async function count(runtime: Runtime, { body: given, signal }: Request): Promise<Reply> {
  const body = given as ResponseRequest;
  refuseUnkept(body);
  const { responses, completions } = runtime;
  const wanted = await responseRequest(body, inputItems(body, responseId(), responses), responses);
  const { tokens } = await completions.render(wanted, signal);
  return { json: { object: 'response.input_tokens', input_tokens: tokens.length } };
}

/** Ends an answer that is being made; one that is complete stays as it is. */
function cancel(runtime: Runtime, { params }: Request): Reply {
  const id = params.response_id!;
  const { control, of } = running.get(id) ?? {};
  if (!control || of !== runtime.responses) {
    runtime.responses.get(id);
    throw new Failure('bad_request', `Response '${id}' is complete, so there is nothing to cancel.`, { code: 'ResponseComplete' });
  }
  control.abort(new Failure('unavailable', 'The response was cancelled.', { code: 'response_cancelled' }));
  return {
    json: { id, object: 'response', created_at: Math.floor(Date.now() / 1000), status: 'cancelled', model: '', output: [], usage: null },
  };
}

function items(runtime: Runtime, { params, query }: Request): Reply {
  const { limit, order, after } = query as { limit: number; order: 'asc' | 'desc'; after?: string };
  const { input } = runtime.responses.get(params.response_id!);
  const all = order === 'asc' ? [...input] : [...input].reverse();
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0)
    throw new Failure('bad_request', `after is "${after.slice(0, 100)}", and response '${params.response_id}' has no such item.`);
  const data = all.slice(start, start + limit);
  return {
    json: { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: start + limit < all.length },
  };
}

const common = { access: 'users', tag: 'responses', errorShape: 'openai' } as const;

/** OpenAI's responses API on the port of the universal runtime. */
export const responseEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    ...common,
    method: 'POST',
    path: '/v1/responses',
    id: 'create_response',
    summary: 'Answer a turn, and keep it for the next one',
    body: 'universal/responses#ResponseRequest',
    response: 'universal/responses#Response',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    handler: create,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/v1/responses/input_tokens',
    id: 'count_response_tokens',
    summary: 'Count the tokens of a turn',
    body: 'universal/responses#ResponseRequest',
    response: 'universal/responses#InputTokens',
    bodyLimitBytes: CHAT_BODY_BYTES,
    handler: count,
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/v1/responses/{response_id}',
    id: 'get_response',
    summary: 'A stored answer, whole or as the events with which it was made',
    query: 'universal/responses#GetQuery',
    response: 'universal/responses#Response',
    streams: true,
    handler: stored,
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: '/v1/responses/{response_id}',
    id: 'delete_response',
    summary: 'Remove a stored answer',
    response: 'universal/responses#Deleted',
    handler: async (runtime, { params }) => {
      await runtime.responses.remove(params.response_id!);
      return { json: { id: params.response_id!, object: 'response', deleted: true } };
    },
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/v1/responses/{response_id}/cancel',
    id: 'cancel_response',
    summary: 'End an answer that is being made',
    response: 'universal/responses#Response',
    handler: cancel,
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/v1/responses/{response_id}/input_items',
    id: 'list_input_items',
    summary: 'What a stored answer was asked',
    query: 'universal/responses#ItemsQuery',
    response: 'universal/responses#ItemList',
    handler: items,
  }),
];
