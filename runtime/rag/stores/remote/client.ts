import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../../../schemas/errors.js';
import { quoteHost } from '../../../net/ask/failures.js';
import type { Outbound, OutboundRequest } from '../../../net/outbound.js';
import type { Chunk, EmbeddedChunk } from '../../contract.js';
import type { Condition } from '../metadata.js';

/** Tries of one request, the first included. Every request of a store may be repeated: points have fixed ids. */
const TRIES = 3;
const FIRST_DELAY_MS = 200;
const LIMITS = { headersMs: 30_000, idleMs: 30_000, totalMs: 60_000, responseBytes: 256 * 1024 * 1024 };

/** An answer of a server, read in full. */
export interface ServerReply {
  readonly status: number;
  /** Undefined where the body is no JSON. */
  readonly body: unknown;
}

/** Speaks JSON with the server of a store. */
export class Server {
  readonly #outbound: Outbound;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** `origin` is scheme, host and port; `headers` go with every request. */
  constructor(outbound: Outbound, origin: string, headers: Readonly<Record<string, string>>) {
    this.#outbound = outbound;
    this.#origin = origin;
    this.#headers = headers;
  }

  /** The host as it may be shown. */
  get host(): string {
    return new URL(this.#origin).host;
  }

  /**
   * Sends a request, again after a while when nothing came back or the server was busy. Answers with any status below 300, and with 404;
   * for others it throws `unavailable` naming host and reason. Address refusals stay `bad_request`.
   */
  async call(method: NonNullable<OutboundRequest['method']>, path: string, body?: unknown, signal?: AbortSignal): Promise<ServerReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reply = await this.#send(method, path, body, signal);
        if (reply.status < 300 || reply.status === 404) return reply;
        if (attempt === TRIES || (reply.status !== 429 && reply.status < 502)) throw this.#refusal(method, path, reply);
      } catch (error) {
        const again = error instanceof Failure && (error.code === 'ConnectionLost' || error.code === 'ConnectFailed');
        if (!again || attempt === TRIES) throw this.#named(error);
      }
      await delay(FIRST_DELAY_MS * 2 ** (attempt - 1), undefined, signal && { signal }).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    }
  }

  async #send(method: NonNullable<OutboundRequest['method']>, path: string, body: unknown, signal?: AbortSignal): Promise<ServerReply> {
    const reply = await this.#outbound.request({
      url: `${this.#origin}${path}`,
      policy: 'operator',
      method,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      limits: LIMITS,
    });
    const text = await reply.text();
    try {
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      return { status: reply.status, body: text };
    }
  }

  #refusal(method: string, path: string, { status, body }: ServerReply): Failure {
    const shown = quoteHost(typeof body === 'string' ? body : JSON.stringify(body ?? ''), undefined);
    return new Failure('unavailable', `The store server ${this.host} answered ${status} to ${method} ${path.split('?')[0]}: ${shown}`);
  }

  /** Timeouts become `unavailable` too: for the caller the store is not there. */
  #named(error: unknown): unknown {
    if (!(error instanceof Failure) || error.kind !== 'timed_out') return error;
    return new Failure('unavailable', error.message, { code: error.code, cause: error });
  }
}

/** A chunk that was found on a server; `raw` as `scoreOf` wants it. */
export interface RemoteHit {
  readonly chunk: Chunk;
  readonly raw: number;
}

/** One collection on a server. A collection that is not there is an empty one. Failures are those of `Server`. */
export interface CollectionClient {
  /** `host` as it may be shown. */
  readonly host: string;
  /** Of the vectors there; undefined while there are none. */
  dimensions(): Promise<number | undefined>;
  /** Makes the collection where it is missing. */
  prepare(dimensions: number): Promise<void>;
  /** Which of the ids are there; at most BATCH. */
  existing(ids: readonly string[]): Promise<Set<string>>;
  /** Stores chunks, at most BATCH, in place of those with their ids. */
  put(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<void>;
  /** Removes chunks by their ids, at most BATCH. */
  erase(ids: readonly string[]): Promise<void>;
  /** Removes a document; returns how many chunks it had. */
  eraseDocument(documentHash: string): Promise<number>;
  /** The `limit` nearest of those that may pass the conditions: every one that does is among them, others may be. */
  nearest(vector: Float32Array, limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<RemoteHit[]>;
  /** At most about `limit` chunks, in any order, in whose text a word begins with one of `beginnings`, and that may pass the conditions. */
  matching(beginnings: readonly string[], limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Chunk[]>;
  /** All chunks without their vectors, in any order. */
  list(): AsyncIterable<readonly Chunk[]>;
  /** Chunks by their ids, at most BATCH, in any order. */
  fetch(ids: readonly string[]): Promise<EmbeddedChunk[]>;
  count(): Promise<number>;
  /** Removes the collection. */
  drop(): Promise<void>;
  /** Throws when the server does not answer. */
  ping(): Promise<void>;
}

/** Most chunks of one request. */
export const BATCH = 256;

/** A list in parts of at most BATCH. */
export function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += BATCH) parts.push(items.slice(at, at + BATCH));
  return parts;
}
