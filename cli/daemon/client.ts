import { Readable } from 'node:stream';
import { type DaemonOptions, isLoopback } from '../../gateway/daemon/options.js';
import { Outbound, type OutboundRequest } from '../../runtime/net/outbound.js';
import type { OutboundReply } from '../../runtime/net/reply.js';
import { Failure, type FailureKind, STATUS_OF_KIND } from '../../schemas/errors.js';
import { interruptible } from '../interrupt.js';
import type { Call } from '../verb.js';
import { type Api, baseOf, keyHeaders, trustOf } from './address.js';
import { startBehind } from './background.js';

/** The `data` of each server-sent event of a daemon's answer; comments and empty events are passed over. */
export async function* eventDataOf(reply: OutboundReply): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of reply.chunks()) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      if (data.length > 0 && data.some((line) => line !== '')) yield data.join('\n');
    }
  }
}

/** What is sent to a daemon. */
interface Sent {
  readonly method?: NonNullable<OutboundRequest['method']>;
  readonly api?: Api;
  readonly json?: unknown;
  /** A body that is no JSON, with its type. */
  readonly body?: string | Uint8Array | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  /** In the place of the client's own. */
  readonly signal?: AbortSignal | undefined;
}

/** A daemon that runs says so this soon. */
const LIVENESS_MS = 5000;
/** A request may take this long: models are loaded and files are read for it. */
const LONGEST_MS = 7 * 24 * 3600 * 1000;
const REPLY_BYTES = 1024 ** 3;
const ERROR_BYTES = 64 * 1024;

/** A path with its values as parts of an address. Throws `bad_request` for values that an address would fold. */
export function route(parts: TemplateStringsArray, ...values: string[]): string {
  const wrong = values.find((value) => value === '' || value === '.' || value === '..');
  if (wrong !== undefined) throw new Failure('bad_request', `"${wrong}" cannot be a name; give another one.`);
  return parts.reduce((path, part, index) => path + encodeURIComponent(values[index - 1]!) + part);
}

/** The kind of failure behind a status. */
function kindOf(status: number): FailureKind {
  const found = Object.entries(STATUS_OF_KIND).find(([, known]) => known === status);
  if (found) return found[0] as FailureKind;
  return status >= 500 ? 'unavailable' : 'bad_request';
}

/** The failure that the answer of the daemon at an address stands for, in its own words. */
export async function failureOf(reply: OutboundReply, base: string): Promise<Failure> {
  const text = await reply.text(ERROR_BYTES);
  if (reply.status === 401) return new Failure('unauthorized', `the daemon at ${base} wants a key: give --api-key or QUERN_API_KEY.`);
  let told: { detail?: unknown; error?: unknown } = {};
  try {
    told = JSON.parse(text) as typeof told;
  } catch {
    // What is said below names the status.
  }
  // Endpoints of the house say a sentence and a code; those of other programs a sentence as the error.
  const { detail, error } = told ?? {};
  const kind = kindOf(reply.status);
  if (typeof detail === 'string') return new Failure(kind, detail, typeof error === 'string' ? { code: error } : {});
  return new Failure(kind, typeof error === 'string' ? error : `${base} answered ${reply.status}: ${text.slice(0, 200)}`);
}

/** A running daemon as the verbs ask it; failures come in the daemon's own words. */
export class DaemonClient {
  readonly #outbound: Outbound;
  readonly #bases: Readonly<Record<Api, string>>;
  readonly #headers: Record<string, string>;
  /** Ends what the daemon is asked, where somebody may want that. */
  readonly signal: AbortSignal | undefined;

  constructor(options: DaemonOptions, signal?: AbortSignal) {
    this.signal = signal;
    this.#outbound = new Outbound(trustOf(options));
    this.#bases = { core: baseOf(options, 'core'), runtime: baseOf(options, 'runtime') };
    this.#headers = keyHeaders(options);
  }

  /** The address of an API. */
  baseOf(api: Api): string {
    return this.#bases[api];
  }

  /** Whether something answers at the address of the core API. */
  async isThere(): Promise<boolean> {
    try {
      const limits = { headersMs: LIVENESS_MS, totalMs: LIVENESS_MS };
      const reply = await this.#outbound.request({ url: `${this.#bases.core}/health/liveness`, policy: 'operator', limits });
      reply.discard();
      return reply.status < 500;
    } catch {
      return false;
    }
  }

  /** Sends a request and resolves to its reply, whose body is not read yet. Throws what the daemon says for a status above 299. */
  async reply(path: string, { method, api = 'core', json, body, headers = {}, signal = this.signal }: Sent = {}): Promise<OutboundReply> {
    const content = json === undefined ? body : JSON.stringify(json);
    const reply = await this.#outbound
      .request({
        url: `${this.#bases[api]}${path}`,
        policy: 'operator',
        method: method ?? (content === undefined ? 'GET' : 'POST'),
        headers: {
          accept: 'application/json',
          ...this.#headers,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        limits: { headersMs: LONGEST_MS, idleMs: LONGEST_MS, totalMs: LONGEST_MS, responseBytes: REPLY_BYTES },
        ...(content === undefined ? {} : { body: content }),
        ...(signal ? { signal } : {}),
      })
      .catch((cause: unknown) => {
        if (signal?.aborted) throw cause;
        throw this.#isAway(api, cause);
      });
    if (reply.status >= 300) throw await failureOf(reply, this.#bases[api]);
    return reply;
  }

  /** Sends a request and resolves to the JSON of its answer; null where the answer is empty. */
  async ask<T>(path: string, sent: Sent = {}): Promise<T> {
    const text = await (await this.reply(path, sent)).text();
    return (text === '' ? null : JSON.parse(text)) as T;
  }

  /** The JSON of each server-sent event of an answer; the mark `[DONE]` ends it. */
  async *events<T>(path: string, sent: Sent = {}): AsyncGenerator<T, void, undefined> {
    for await (const data of eventDataOf(await this.reply(path, sent))) {
      if (data === '[DONE]') return;
      yield JSON.parse(data) as T;
    }
  }

  close(): Promise<void> {
    return this.#outbound.close();
  }

  #isAway(api: Api, cause: unknown): Failure {
    const base = this.#bases[api];
    if (cause instanceof Failure && /^No secure connection/.test(cause.message))
      return new Failure('unavailable', `${cause.message.slice(0, -1)} at ${base}: name the daemon's certificate with --ca FILE.`, {
        cause,
      });
    if (cause instanceof Failure && cause.code === 'ConnectionLost' && base.startsWith('http:'))
      return new Failure('unavailable', `${cause.message} A daemon that was started with --tls-cert is asked with --ca FILE.`, { cause });
    if (cause instanceof Failure && cause.code !== 'ConnectFailed') return cause;
    return new Failure('unavailable', `no daemon answers at ${base}: run "quern start" first, or name its --host and --port.`, {
      cause,
    });
  }
}

/**
 * Works with the daemon that a call means. Where none runs on this machine, one is started that outlives the call, unless `starts` is false or the
 * caller gave `--no-start`. Ctrl+C ends what the daemon is asked, and throws `Interrupted`.
 */
export async function withDaemon<T>(call: Call, work: (daemon: DaemonClient) => Promise<T>, { starts = true } = {}): Promise<T> {
  return interruptible(async (signal) => {
    const daemon = new DaemonClient(call.daemon, signal);
    try {
      const isHere = isLoopback(call.daemon.host);
      if (starts && isHere && call.flags['no-start'] !== true && !(await daemon.isThere())) await startBehind(call, daemon);
      return await work(daemon);
    } finally {
      await daemon.close();
    }
  });
}

/** A form with fields and a file from the disk, as the body of a request and its headers; the file is read as it is sent. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file: { field: string; name: string; content: AsyncIterable<Uint8Array> },
) {
  const boundary = `quern-${crypto.randomUUID()}`;
  const quoted = (text: string): string => text.replaceAll(/["\r\n]/g, (sign) => encodeURIComponent(sign));
  async function* parts(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [name, value] of Object.entries(fields))
      yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`);
    const about = `content-disposition: form-data; name="${quoted(file.field)}"; filename="${quoted(file.name)}"`;
    yield Buffer.from(`--${boundary}\r\n${about}\r\ncontent-type: application/octet-stream\r\n\r\n`);
    yield* file.content;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return { body: Readable.from(parts()), headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}
