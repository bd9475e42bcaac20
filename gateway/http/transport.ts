import type { Readable } from 'node:stream';
import type { Progress } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';

/** Response headers as a flat list: name, value, name, value. */
export type HeaderList = readonly string[];

/** A response body of server-sent events. */
export interface EventStream {
  /** Sends one or more whole events, each ending in a blank line. False means that the client lags: wait for `ready` before writing more. */
  write(text: string): boolean;
  /** Resolves when the client has caught up or is gone. */
  ready(): Promise<void>;
  end(): void;
}

/** A response body whose length was told in its head. */
export interface SizedBody {
  /** Resolves when the network has taken the bytes; false when nothing more is wanted: the body is complete, or the client gone. */
  write(piece: Uint8Array): Promise<boolean>;
  /** Ends the connection where the body is not complete, which the client sees so. */
  cut(): void;
}

/**
 * One request and the way to answer it. `reply`, `stream`, `sized` or `unsized` is called once; whatever follows, or comes after the client
 * has gone, is ignored. `readBody` or `bodyStream` must be called before the first `await`.
 */
export interface Exchange {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded as sent, without the query. */
  readonly path: string;
  /** Raw query text without `?`. */
  readonly query: string;
  readonly remoteAddress: string;
  /** True when the client has closed the connection before the answer was complete. */
  readonly gone: boolean;
  /** A header by its lower-case name; empty when absent. */
  header(name: string): string;
  /** Tells a header that is there and empty from one that is absent. */
  hasHeader(name: string): boolean;
  /** Every header with its lower-case name. */
  eachHeader(told: (name: string, value: string) => void): void;
  /**
   * The whole body; `undefined` when the client went away or was too slow. Rejects with `Failure('too_large')`, at once
   * where the declared length is over the limit, else as soon as that many bytes have come; nothing beyond is kept. `take` is told the bytes of memory
   * that the body is about to have: its declared length, else more and more; what it throws refuses the body too.
   */
  readBody(limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined>;
  /**
   * The body as it comes; what is not read stops the network, not the process. Fails with `Failure('too_large')` as `readBody` does, and with
   * an `AbortError` when the client goes away. Destroy it to leave the rest; the answer can be sent at any time.
   */
  bodyStream(limitBytes: number): Readable;
  /** Calls back once when the client goes away before the answer is complete. */
  onGone(callback: () => void): void;
  /** Who asks, where that is known without looking: a `Visitor`. */
  readonly visitor?: object | undefined;
  /** As in `Request`. */
  readonly progress?: ((step: Progress) => void) | undefined;
  reply(status: number, headers: HeaderList, body: string | Uint8Array): void;
  stream(status: number, headers: HeaderList): EventStream;
  /** `length`: bytes of the body, at least one. */
  sized(status: number, headers: HeaderList, length: number): SizedBody;
  unsized(status: number, headers: HeaderList): OpenBody;
}

/** A response body whose length only its end tells. */
export interface OpenBody extends SizedBody {
  /** The body is complete. */
  end(): void;
}

/** The request that asks for a WebSocket. */
export interface UpgradeRequest {
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  header(name: string): string;
}

/** The far end of a WebSocket. */
export interface SocketPeer {
  /** Sends text or bytes; false when the peer's buffer is over its limit, after which the socket is closed. */
  send(content: string | Uint8Array): boolean;
  /** Bytes accepted but not yet taken by the network. */
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
}

/** What reacts to a WebSocket. Bytes handed to `message` belong to the listener. */
export interface SocketListener {
  open(peer: SocketPeer): void;
  message(content: string | Uint8Array): void;
  closed(code: number): void;
  /** The daemon stops, and the connection is closed after this: the time for a last message. */
  stopping?(): void;
}

/** An upgrade that is turned down with an ordinary answer. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** What a transport serves. Neither function may throw. */
export interface Application {
  request(exchange: Exchange): void;
  /** All of the request is read before it returns. */
  upgrade(request: UpgradeRequest): SocketListener | Refusal | Promise<SocketListener | Refusal>;
}

/** Limits against slow and greedy clients (threats T14, T15, T34). */
export interface TransportLimits {
  /** All headers of one request together. */
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers. uWebSockets.js has 10 s built in. */
  readonly headerTimeoutMs: number;
  /** From the end of the headers to the end of the body; of a streamed body, the longest pause between two pieces. */
  readonly bodyTimeoutMs: number;
  /** A connection without a request. uWebSockets.js has 10 s built in. */
  readonly idleTimeoutMs: number;
  /** An answer whose reader takes nothing. uWebSockets.js has about 10 s built in, so more has no effect there. */
  readonly stallTimeoutMs: number;
  readonly connections: number;
  /** One WebSocket message. */
  readonly socketPayloadBytes: number;
  /** What may wait for a WebSocket peer before it is dropped. */
  readonly socketBufferBytes: number;
}

/** The limits of a daemon; tests use shorter ones. */
export const DEFAULT_LIMITS: TransportLimits = {
  headerBytes: 16 * 1024,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  idleTimeoutMs: 10_000,
  stallTimeoutMs: 10_000,
  connections: 10_000,
  socketPayloadBytes: 4 * 1024 * 1024,
  socketBufferBytes: 4 * 1024 * 1024,
};

/** How a WebSocket is closed when the daemon stops. */
export const STOPPING = { code: 1001, reason: 'the daemon stops' } as const;

/** How often a WebSocket peer is pinged; one that stays silent until the next ping is dropped. */
export const PING_INTERVAL_S = 30;

/** What https is served with: a certificate with its chain, and its key, both in PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Where to listen and what to serve. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly application: Application;
  readonly limits?: Partial<TransportLimits>;
  /** Serves https and wss instead of http and ws. */
  readonly tls?: TlsIdentity | undefined;
  /** A TCP socket that listens already, by its descriptor, which belongs to the listener from then on; host and port are those that it has. */
  readonly descriptor?: number | undefined;
}

/** An open port. */
export interface Listener {
  /** The address that it is bound to. */
  readonly host: string;
  readonly port: number;
  /** The descriptor of the listening socket, while it is open; -1 where it is not known. */
  readonly descriptor: number;
  /** Serves connections from now on with another certificate; there where one listens with TLS. */
  renewTls?(identity: TlsIdentity): void;
  /** Takes no new connections, lets running requests end for up to `deadlineMs`, then closes everything. */
  drain(deadlineMs: number): Promise<void>;
}

/** One HTTP engine. */
export interface Transport {
  readonly name: 'uws' | 'node';
  /** Throws `Failure('unavailable')` with code `PortInUse`, `PortForbidden` or `AddressUnknown`. */
  listen(options: ListenOptions): Promise<Listener>;
}

/** Says in one line why a port could not be opened and what to do about it. */
export function listenFailure(host: string, port: number, cause: unknown): Failure {
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown reason';
  if (reason === 'EADDRINUSE') {
    return new Failure('unavailable', `Port ${port} on ${host} is in use: stop the program that holds it, or choose another port.`, {
      code: 'PortInUse',
      cause,
    });
  }
  if (reason === 'EACCES') {
    return new Failure('unavailable', `Port ${port} on ${host} needs privileges: choose a port from 1024 upwards.`, {
      code: 'PortForbidden',
      cause,
    });
  }
  if (reason === 'EADDRNOTAVAIL' || reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') {
    return new Failure('unavailable', `The address ${host} does not belong to this machine: bind 127.0.0.1 or one of its own addresses.`, {
      code: 'AddressUnknown',
      cause,
    });
  }
  return new Failure('unavailable', `Port ${port} on ${host} could not be opened (${reason}).`, { code: 'PortUnavailable', cause });
}
