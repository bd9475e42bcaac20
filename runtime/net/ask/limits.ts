import type { OutboundLimits } from '../limits.js';

/** How long a universal runtime is waited for, as the reference system waits; it may load a model first. */
export const RUNTIME_TIMEOUT_MS = 300_000;

/** Limits of one chat exchange. */
export const CHAT_LIMITS: OutboundLimits = {
  headersMs: RUNTIME_TIMEOUT_MS,
  idleMs: RUNTIME_TIMEOUT_MS,
  totalMs: 3_600_000,
  responseBytes: 64 * 1024 * 1024,
};

/** Largest event of a stream in bytes; a whole tool call may come in one. */
export const MAX_EVENT_BYTES = 2 * 1024 * 1024;

/** Largest answer in one piece (a host that ignores `stream`) in bytes. */
export const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

/** Most tool calls of one answer. */
export const MAX_TOOL_CALLS = 128;

/** As much of an error answer is read, in bytes. */
export const MAX_ERROR_BYTES = 64 * 1024;

/** As much of a host's own words is repeated, in characters. */
export const MAX_ERROR_CHARS = 500;

/** When and how often a request is sent again. Times in milliseconds. */
export interface RetrySettings {
  /** Requests in all. */
  readonly attempts: number;
  /** Wait before the second request; it doubles from there. */
  readonly baseMs: number;
  /** Longest wait; a host that asks for more with `Retry-After` gets no further request. */
  readonly capMs: number;
}

/** Retries unless told otherwise. */
export const RETRY: RetrySettings = { attempts: 3, baseMs: 500, capMs: 10_000 };

/** Wait for usage or `[DONE]` after the finish reason has come, in milliseconds. */
export const TRAILER_MS = 2000;

/** What an operator or a test may change. */
export interface ChatSettings {
  readonly limits?: Partial<OutboundLimits>;
  readonly retry?: Partial<RetrySettings>;
  readonly trailerMs?: number;
}
