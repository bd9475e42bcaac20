import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { log } from '../../runtime/base/log.js';
import type { Endpoint, EndpointAccess, PiecesReply, Reply, SchemaName, StreamReply, WholeReply } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { coerced } from '../../schemas/validate.js';
import { Access, type AccessRules } from './access.js';
import { BodyRoom, DEFAULT_BODY_BYTES, parseQuery, readJson } from './body.js';
import { Call, CheckedRequest, countAnswer, safeValue, shapeFor } from './call.js';
import {
  allowedMethods,
  ErrorShapes,
  errorBody,
  failureHeaders,
  failureOf,
  logFailure,
  methodNotAllowed,
  notFound,
  originRefused,
  statusOf,
} from './errors.js';
import { HeldExchange } from './held-exchange.js';
import { Forms, formLimitBytes, type ReceivedForm } from './multipart.js';
import { type Match, Router } from './router.js';
import { andThen, EventSender, sendPieces, streamHeaders } from './streamed-answer.js';
import type { Application, Exchange, Refusal, SocketListener, UpgradeRequest } from './transport.js';
import type { Guard, SocketRequest, Visitor } from './visitor.js';

/** Longest time for a complete answer; a model that writes a long text on a slow machine needs minutes. Streams have none. */
export const REQUEST_TIME_LIMIT_MS = 600_000;
/** How long a browser may keep a preflight answer. */
const PREFLIGHT_MAX_AGE_S = '600';
const NO_QUERY: Readonly<Record<string, unknown>> = Object.freeze({});
const HEADER_NAMES = /^[\w\s,-]{1,1000}$/;
const JSON_TYPE = 'application/json';
/** What is not there is told to those who have signed in. */
const UNKNOWN = { access: 'users' } as const;
const FORM_TYPE = /^\s*multipart\/form-data\b/i;

/** A WebSocket route. */
export interface SocketRoute<Context> {
  /** As in `Endpoint`. */
  readonly path: string;
  readonly access: EndpointAccess;
  readonly query?: SchemaName;
  /** Throws a `Failure` to refuse the upgrade. */
  open(context: Context, request: SocketRequest): SocketListener;
}

/** What a listener serves and to whom. */
export interface DispatchOptions<Context> {
  /** Names the API in metrics; without it nothing is counted. */
  readonly name?: string;
  readonly endpoints: readonly Endpoint<Context>[];
  readonly sockets?: readonly SocketRoute<Context>[];
  readonly context: Context;
  /** Absent where requests come from this process, which has checked who asks for them. */
  readonly access?: AccessRules;
  /** Where accounts are on: finds out who asks, and takes the place of the key of `access`. */
  readonly guard?: Guard<Context> | undefined;
  /** Longest time for a complete answer; `REQUEST_TIME_LIMIT_MS` unless given. */
  readonly timeLimitMs?: number;
  /** Where files of forms lie until their handler is done; on the file system of what keeps them. A folder of the system's unless given. */
  readonly uploadFolder?: string;
}

/** Turns an endpoint list into what a transport serves: routes, access rules, checks, answers and errors. */
export function dispatch<Context>(options: DispatchOptions<Context>): Application {
  return new Dispatch(options);
}

class Dispatch<Context> implements Application {
  readonly #router = new Router<Endpoint<Context>>();
  readonly #sockets = new Router<SocketRoute<Context>>();
  readonly #dialects: ErrorShapes;
  readonly #access: Access | undefined;
  readonly #guard: Guard<Context> | undefined;
  readonly #context: Context;
  readonly #name: string | undefined;
  readonly #timeLimitMs: number;
  readonly #bodies = new BodyRoom();
  readonly #forms: Forms;

  constructor(options: DispatchOptions<Context>) {
    this.#access = options.access && new Access(options.access);
    this.#guard = options.guard;
    this.#context = options.context;
    this.#name = options.name;
    this.#timeLimitMs = options.timeLimitMs ?? REQUEST_TIME_LIMIT_MS;
    this.#forms = new Forms(options.uploadFolder ?? join(tmpdir(), `quern-uploads-${process.pid}`));
    if (options.uploadFolder !== undefined)
      this.#forms.prepare().catch((cause: unknown) => log('warn', 'old uploads could not be removed', { cause }));
    this.#dialects = new ErrorShapes(options.endpoints);
    for (const one of options.endpoints) this.#router.add(one.method, one.path, one);
    for (const one of options.sockets ?? []) this.#sockets.add('GET', one.path, one);
  }

  request(exchange: Exchange): void {
    const call = new Call(exchange);
    try {
      this.#route(call);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  upgrade(request: UpgradeRequest): SocketListener | Refusal | Promise<SocketListener | Refusal> {
    const { path, query } = request;
    try {
      const host = request.header('host');
      this.#access?.checkHost(host);
      const origin = request.header('origin');
      if (origin !== '' && this.#access?.allowsOrigin(origin, host) === false) throw originRefused(origin);
      if (!this.#guard) {
        this.#access?.checkKey(request);
        return this.#connect(path, query);
      }
      // A connection may change things: a page that opens one with a cookie must be trusted as one that posts.
      const visitor = this.#guard.visitorOf({
        method: 'POST',
        remoteAddress: request.remoteAddress,
        header: (name) => request.header(name),
      });
      return Promise.resolve(visitor)
        .then((known) => this.#connect(path, query, known))
        .catch((error: unknown) => refusalOf(error, path));
    } catch (error) {
      return refusalOf(error, path);
    }
  }

  #connect(path: string, asked: string, visitor?: undefined): SocketListener;
  #connect(path: string, asked: string, visitor: Visitor<Context>): SocketListener | Promise<SocketListener>;
  #connect(path: string, asked: string, visitor?: Visitor<Context>): SocketListener | Promise<SocketListener> {
    const match = this.#sockets.match(path);
    const route = match?.methods.get('GET');
    visitor?.admit(route ? { access: route.access, tag: 'audio', method: 'POST' } : UNKNOWN);
    if (!match || !route) throw notFound({ method: 'WebSocket', path });
    const given = parseQuery(asked);
    const query = route.query ? coerced<Record<string, unknown>>(route.query, given) : given;
    const request = { params: match.params, query };
    return visitor ? visitor.connect(route, request) : route.open(this.#context, request);
  }

  #route(call: Call): void {
    const { exchange } = call;
    const { method } = exchange;
    const host = exchange.header('host');
    const origin = exchange.header('origin');
    // The shape of errors belongs to the route, so it is found before anything can be refused.
    const match = this.#router.match(exchange.path);
    const endpoint = match?.methods.get(method) ?? (method === 'HEAD' ? match?.methods.get('GET') : undefined);
    call.path = endpoint?.path ?? '';
    const shape = endpoint ? endpoint.errorShape : this.#dialects.shapeAt(exchange.path);
    if (shape) call.errorShape = shapeFor(shape, exchange);
    this.#access?.checkHost(host);
    if (this.#guard?.owns(exchange.path)) {
      this.#guard.answer(exchange);
      return;
    }
    if (origin !== '') {
      if (this.#access?.allowsOrigin(origin, host) !== false) call.allowedOrigin = origin;
      else if (method !== 'GET' && method !== 'HEAD') throw originRefused(origin);
    }
    if (method === 'OPTIONS') {
      preflight(call, match?.methods);
      return;
    }
    const visitor = (exchange.visitor as Visitor<Context> | undefined) ?? this.#guard?.visitorOf(exchange);
    if (!visitor) this.#access?.checkKey(exchange);
    if (visitor instanceof Promise) void this.#await(call, visitor, match, endpoint);
    else this.#found(call, visitor, match, endpoint);
  }

  /** Goes on when it is known who asks. */
  async #await(
    call: Call,
    coming: Promise<Visitor<Context>>,
    match: Match<Endpoint<Context>> | undefined,
    endpoint: Endpoint<Context> | undefined,
  ): Promise<void> {
    const held = new HeldExchange(call.exchange, endpoint && bodyLimitOf(endpoint, call.exchange));
    call.exchange = held;
    try {
      this.#found(call, await coming, match, endpoint);
    } catch (error) {
      held.discard();
      this.#fail(call, error);
    }
  }

  #found(
    call: Call,
    visitor: Visitor<Context> | undefined,
    match: Match<Endpoint<Context>> | undefined,
    endpoint: Endpoint<Context> | undefined,
  ): void {
    // Who has not signed in learns of no path whether it is there.
    visitor?.admit(endpoint ?? UNKNOWN);
    if (!match) throw notFound(call.exchange);
    if (!endpoint) throw methodNotAllowed(call.exchange, match.methods);
    call.visitor = visitor;
    this.#run(call, endpoint, match.params);
  }

  #handle(call: Call, endpoint: Endpoint<Context>, request: CheckedRequest): Reply | Promise<Reply> {
    const visitor = call.visitor as Visitor<Context> | undefined;
    return visitor ? visitor.serve(endpoint, request) : endpoint.handler(this.#context, request);
  }

  /** Endpoints that need no body and answer at once are done when this returns; no promise is made for them. */
  #run(call: Call, endpoint: Endpoint<Context>, params: Readonly<Record<string, string>>): void {
    const { exchange } = call;
    const query = endpoint.query ? coerced<Record<string, unknown>>(endpoint.query, parseQuery(exchange.query)) : NO_QUERY;
    const isForm = takesForm(endpoint, exchange);
    const takesBody = isForm ? this.#withForm : endpoint.body ? this.#withBody : undefined;
    const outcome = takesBody
      ? takesBody.call(this, call, endpoint, params, query)
      : this.#handle(call, endpoint, new CheckedRequest(call, params, query, undefined));
    if (!(outcome instanceof Promise)) {
      this.#answer(call, endpoint, outcome);
      return;
    }
    // A form may take long to arrive; its time starts after that.
    if (!isForm) this.#startClock(call);
    outcome.then(
      (reply) => this.#answer(call, endpoint, reply),
      (error: unknown) => this.#fail(call, error),
    );
  }

  async #withBody(
    call: Call,
    endpoint: Endpoint<Context>,
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, unknown>>,
  ): Promise<Reply | undefined> {
    const share = this.#bodies.share();
    try {
      const body = await readJson(call.exchange, endpoint.body!, {
        limitBytes: bodyLimitOf(endpoint, call.exchange)!,
        take: share.take,
        anyType: endpoint.anyContentType,
      });
      if (body === undefined) return undefined;
      call.bodyBytes = body.bytes;
      return await this.#handle(call, endpoint, new CheckedRequest(call, params, query, body.value));
    } finally {
      share.leave();
    }
  }

  #startClock(call: Call): void {
    call.timer = setTimeout(() => this.#expire(call), this.#timeLimitMs);
  }

  async #withForm(
    call: Call,
    endpoint: Endpoint<Context>,
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, unknown>>,
  ): Promise<Reply | undefined> {
    const { exchange } = call;
    const given = endpoint.multipart!;
    const head = { type: exchange.header('content-type'), length: exchange.header('content-length') };
    const stream = exchange.bodyStream(formLimitBytes(given));
    let form: ReceivedForm;
    try {
      const visitor = call.visitor as Visitor<Context> | undefined;
      const asked = { params, query };
      const admitted = visitor ? visitor.admitForm(endpoint, asked) : given.admit?.(this.#context, asked);
      form = await this.#forms.receive(stream, head, { ...given, ...admitted });
    } catch (error) {
      stream.destroy();
      if (exchange.gone) return undefined;
      throw error;
    }
    this.#startClock(call);
    let reply: Reply | undefined;
    try {
      reply = await this.#handle(call, endpoint, new CheckedRequest(call, params, query, form.fields, form.files));
    } finally {
      if (!reply || !isStreamed(reply)) await form.discard();
    }
    if (!isStreamed(reply)) return reply;
    const discard = (): Promise<void> => form.discard();
    return 'events' in reply ? { ...reply, events: andThen(reply.events, discard) } : { ...reply, pieces: andThen(reply.pieces, discard) };
  }

  #answer(call: Call, endpoint: Endpoint<Context>, reply: Reply | undefined): void {
    clearTimeout(call.timer);
    try {
      if (reply === undefined) return;
      countAnswer(this.#name, call, 'status' in reply ? (reply.status ?? 200) : (endpoint.status ?? 200));
      if ('events' in reply) this.#stream(call, reply);
      else if ('pieces' in reply) void sendPieces(call, reply, (error) => this.#fail(call, error));
      else sendWhole(call, endpoint.status ?? 200, reply);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #stream(call: Call, reply: StreamReply): void {
    const { exchange } = call;
    const headers = Object.entries(reply.headers ?? {}).flatMap(([name, value]) => [name, safeValue(value)]);
    if (exchange.method === 'HEAD' || call.answered) {
      call.abort(new DOMException('The answer is not wanted.', 'AbortError'));
      if (!call.answered) exchange.reply(200, [...call.headers(), ...streamHeaders(reply.lines), ...headers], '');
    }
    const sender = new EventSender(call, { headers, lines: reply.lines, onFailureBeforeStart: (error) => this.#fail(call, error) });
    void sender.run(reply.events);
  }

  #expire(call: Call): void {
    const seconds = Math.round(this.#timeLimitMs / 1000);
    const failure = new Failure('timed_out', `The request was not done within ${seconds} s; ask for less, or stream the answer.`);
    this.#fail(call, failure);
    call.abort(failure);
  }

  #fail(call: Call, error: unknown): void {
    clearTimeout(call.timer);
    const { exchange } = call;
    if (call.answered || exchange.gone) return;
    call.answered = true;
    const failure = failureOf(error);
    countAnswer(this.#name, call, statusOf(failure, call.errorShape));
    logFailure(failure, { id: call.id, method: exchange.method, path: exchange.path });
    const headers = call.headers();
    headers.push(...failureHeaders(failure));
    exchange.reply(statusOf(failure, call.errorShape), headers, JSON.stringify(errorBody(failure, call.errorShape, call.id)));
  }
}

/** An upgrade that is turned down. */
function refusalOf(error: unknown, path: string): Refusal {
  const failure = failureOf(error);
  logFailure(failure, { id: '', method: 'GET', path });
  return { status: failure.status, headers: failureHeaders(failure), body: JSON.stringify(errorBody(failure, 'house', '')) };
}

function takesForm<Context>(endpoint: Endpoint<Context>, exchange: Exchange): boolean {
  return endpoint.multipart !== undefined && (!endpoint.body || FORM_TYPE.test(exchange.header('content-type')));
}

/** Most bytes of the body that an endpoint takes; undefined where it takes none. */
function bodyLimitOf<Context>(endpoint: Endpoint<Context>, exchange: Exchange): number | undefined {
  if (takesForm(endpoint, exchange)) return formLimitBytes(endpoint.multipart!);
  return endpoint.body ? (endpoint.bodyLimitBytes ?? DEFAULT_BODY_BYTES) : undefined;
}

/** Whether an answer goes on when its handler has returned. */
function isStreamed(reply: Reply): reply is StreamReply | PiecesReply {
  return 'events' in reply || 'pieces' in reply;
}

function preflight(call: Call, methods: ReadonlyMap<string, unknown> | undefined): void {
  const { exchange } = call;
  const allow = methods ? allowedMethods(methods) : 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
  const headers = call.headers();
  headers.push('Allow', allow);
  if (call.allowedOrigin !== '') {
    const asked = exchange.header('access-control-request-headers');
    headers.push('Access-Control-Allow-Methods', allow, 'Access-Control-Max-Age', PREFLIGHT_MAX_AGE_S);
    if (HEADER_NAMES.test(asked)) headers.push('Access-Control-Allow-Headers', asked);
    if (exchange.header('access-control-request-private-network') === 'true') headers.push('Access-Control-Allow-Private-Network', 'true');
  }
  call.answered = true;
  exchange.reply(204, headers, '');
}

function sendWhole(call: Call, status: number, reply: WholeReply): void {
  if (call.answered) return;
  const { bytes } = reply;
  const body = bytes ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
  const headers = call.headers();
  if (body !== '') headers.push('Content-Type', reply.contentType ?? (bytes === undefined ? JSON_TYPE : 'application/octet-stream'));
  if (reply.headers) for (const name in reply.headers) headers.push(name, safeValue(reply.headers[name]!));
  call.answered = true;
  call.exchange.reply(reply.status ?? status, headers, body);
}
