import { Failure, type FailureItem, type FailureKind, STATUS_OF_KIND } from '../../schemas/errors.js';

/** An engine as a host runs it: it lives alone in a child process and may abort that process. */
export interface HostedEngine {
  /**
   * Answers one call. What it returns or throws crosses to the daemon, so it must be structured-cloneable; a `Failure` keeps its kind.
   * `signal` is aborted when the caller has gone.
   */
  call(method: string, body: unknown, signal: AbortSignal): unknown;
  /** Ends all work; the process exits after it. */
  close(): Promise<void> | void;
}

/** The function that an engine's module exports as `openEngine`. `emit` sends one event to the daemon, in order. */
export type OpenEngine = (emit: (event: unknown) => void) => HostedEngine;

/** A `Failure` as it crosses between processes. */
export interface WireFailure {
  kind: string;
  message: string;
  code?: string;
  errors?: readonly FailureItem[];
  fields?: Readonly<Record<string, unknown>>;
  retryAfterS?: number;
}

/** What the daemon sends to a host. */
export type ToHost =
  | { type: 'call'; id: number; method: string; body: unknown }
  | { type: 'cancel'; id: number }
  | { type: 'ping' }
  | { type: 'close' };

/** What a host sends to the daemon. */
export type FromHost =
  | { type: 'ready' }
  | { type: 'pong' }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'failed'; id: number; failure: WireFailure }
  | { type: 'event'; value: unknown };

/** Longest message text that crosses, in characters. */
const MESSAGE_LIMIT = 4096;

function isFailureKind(kind: unknown): kind is FailureKind {
  return typeof kind === 'string' && Object.hasOwn(STATUS_OF_KIND, kind);
}

/** An error as it is sent. Errors with a `kind` of ours (native code raises such) keep it; all others become `model_failed`. */
export function toWire(error: unknown): WireFailure {
  const like = error as Partial<WireFailure> | null | undefined;
  const message = error instanceof Error ? error.message : String(error);
  const wire: WireFailure = { kind: isFailureKind(like?.kind) ? like.kind : 'model_failed', message: message.slice(0, MESSAGE_LIMIT) };
  if (!isFailureKind(like?.kind)) return wire;
  if (typeof like.code === 'string') wire.code = like.code;
  if (like.errors) wire.errors = like.errors;
  if (like.fields) wire.fields = like.fields;
  if (typeof like.retryAfterS === 'number') wire.retryAfterS = like.retryAfterS;
  return wire;
}

/** The `Failure` that was sent. */
export function fromWire(wire: WireFailure): Failure {
  const { kind, message, code, errors, fields, retryAfterS } = wire;
  return new Failure(isFailureKind(kind) ? kind : 'model_failed', message, {
    ...(code === undefined ? {} : { code }),
    ...(errors === undefined ? {} : { errors }),
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });
}
