import { Counter, Histogram, SECONDS } from '../../runtime/base/metrics.js';
import type { ErrorShape, Request, UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Exchange } from './transport.js';

const SANE_ID = /^[\w.:+/=@-]{1,128}$/;
const prefix = `req_${Math.random().toString(36).slice(2, 8)}${Date.now().toString(36)}_`;
let count = 0;

/** The caller's request id where it is harmless to echo, else a fresh one. */
function requestId(given: string): string {
  if (given !== '' && SANE_ID.test(given)) return given;
  count += 1;
  return prefix + count.toString(36);
}

const ALLOWED_ORIGIN_HEADERS = ['Access-Control-Expose-Headers', '*, X-Request-ID, X-Session-ID, Retry-After, Content-Disposition'];

/** The header by which Anthropic's clients are known: the version of its API that they speak. */
export const ANTHROPIC_VERSION = 'anthropic-version';

/** Headers that OpenAI's SDKs send with each request; their generator names them. */
const SDK_HEADERS = ['lang', 'package-version', 'os', 'arch', 'runtime', 'runtime-version', 'retry-count', 'timeout', 'async'].map(
  (name) => `x-stainless-${name}`,
);

const OPENAI_SHAPES: ReadonlySet<ErrorShape> = new Set(['by-client', 'openai', 'universal']);

/**
 * The shape in which a client is told the failures of a route. Where it is OpenAI's, Anthropic's clients are told in theirs: some paths are those of both. `by-client`
 * becomes `openai` where the client is one of OpenAI's SDKs.
 */
export function shapeFor(shape: ErrorShape, client: { header(name: string): string; hasHeader(name: string): boolean }): ErrorShape {
  if (OPENAI_SHAPES.has(shape) && client.hasHeader(ANTHROPIC_VERSION)) return 'anthropic';
  if (shape !== 'by-client') return shape;
  const isSdk = client.header('user-agent').startsWith('OpenAI/') || SDK_HEADERS.some((name) => client.hasHeader(name));
  return isSdk ? 'openai' : shape;
}

/** A header value that cannot end its line; not every transport refuses one that would. */
export function safeValue(value: string): string {
  return /[^\t\x20-\x7e\x80-\xff]/.test(value) ? value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?') : value;
}

/** One exchange on its way through dispatch: its id, its verdicts, and whether it has been answered. */
export class Call {
  readonly id: string;
  /** The Origin header where the page behind it may read our answers, else empty. */
  allowedOrigin = '';
  errorShape: ErrorShape = 'house';
  answered = false;
  /** The path of its endpoint, as the list of endpoints has it; empty where there is none. */
  path = '';
  readonly startedMs = performance.now();
  timer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  /** As in `Request`. */
  bodyBytes = 0;
  /** Who asks, where accounts are on. */
  visitor: Request['visitor'];

  constructor(public exchange: Exchange) {
    this.id = requestId(exchange.header('x-request-id'));
  }

  /** Aborts when the client goes away or `abort` is called; made on first use, most requests need none. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
      else if (this.exchange.gone) this.abort(clientGone());
      else this.exchange.onGone(() => this.abort(clientGone()));
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  /** The headers that every answer carries, as a list to append to. */
  headers(): string[] {
    const list = ['X-Request-ID', this.id, 'X-Content-Type-Options', 'nosniff', 'Vary', 'Origin'];
    if (this.allowedOrigin !== '') list.push('Access-Control-Allow-Origin', this.allowedOrigin, ...ALLOWED_ORIGIN_HEADERS);
    return list;
  }
}

function clientGone(): Error {
  return new DOMException('The client closed the connection.', 'AbortError');
}

/** The request as a handler sees it. */
export class CheckedRequest implements Request {
  readonly #call: Call;

  constructor(
    call: Call,
    readonly params: Readonly<Record<string, string>>,
    readonly query: Readonly<Record<string, unknown>>,
    readonly body: unknown,
    readonly files: readonly UploadedFile[] = [],
  ) {
    this.#call = call;
  }

  get id(): string {
    return this.#call.id;
  }

  get method(): string {
    return this.#call.exchange.method;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get bodyBytes(): number {
    return this.#call.bodyBytes;
  }

  get visitor(): Request['visitor'] {
    return this.#call.visitor;
  }

  get progress(): Request['progress'] {
    return this.#call.exchange.progress;
  }

  /** A property, so that handlers may take it out of the request. */
  readonly header = (name: string): string | undefined => {
    const value = this.#call.exchange.header(name);
    return value === '' && !this.#call.exchange.hasHeader(name) ? undefined : value;
  };
}

const ANSWERED = new Counter('quern_requests_total', 'Requests by API, path and the status of their answer.', [
  'api',
  'method',
  'path',
  'status',
]);
const TOOK = new Histogram('quern_request_seconds', 'From a request to the beginning of its answer.', ['api', 'method', 'path'], SECONDS);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts a request to an API whose answer begins; nothing for requests that come from this process. */
export function countAnswer(api: string | undefined, { path, startedMs, exchange }: Call, status: number): void {
  if (api === undefined) return;
  const method = METHODS.has(exchange.method) ? exchange.method : 'other';
  ANSWERED.add([api, method, path, String(status)]);
  TOOK.observe([api, method, path], (performance.now() - startedMs) / 1000);
}

/** How well an `Accept` header likes a media type, 0 (not at all) to 1. The most specific entry counts. */
export function acceptQuality(accept: string, type: string): number {
  let best = { rank: -1, quality: 0 };
  for (const entry of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const rank = range === type ? 2 : range === `${type.split('/')[0]}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (rank <= best.rank) continue;
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const value = given === undefined ? 1 : Number(given.slice(2));
    best = { rank, quality: value >= 0 && value <= 1 ? value : 0 };
  }
  return best.quality;
}

/** The type that an `Accept` header likes best, the first of equals and without a header. Throws `not_acceptable` naming `types` where it likes none. */
export function negotiateType<Type extends string>(accept: string | undefined, types: readonly [Type, ...Type[]]): Type {
  if (accept === undefined || accept.trim() === '') return types[0];
  let [best, most]: [Type | undefined, number] = [undefined, 0];
  for (const type of types) {
    const how = acceptQuality(accept, type);
    if (how > most) [best, most] = [type, how];
  }
  if (best !== undefined) return best;
  throw new Failure('not_acceptable', `Accept is ${JSON.stringify(accept.slice(0, 200))}; this answer comes as ${types.join(', ')}.`);
}
