/** How long one outgoing request may take and how much it may bring. Times in milliseconds. */
export interface OutboundLimits {
  /** From the end of the request to the end of the response headers. */
  readonly headersMs: number;
  /** Between two pieces of the body, while the reader is waiting. */
  readonly idleMs: number;
  /** The whole exchange, redirects and body included. */
  readonly totalMs: number;
  /** Bytes of the response body. */
  readonly responseBytes: number;
}

/** Limits of a request that gives none: an ordinary small exchange. */
export const DEFAULT_LIMITS: OutboundLimits = { headersMs: 30_000, idleMs: 30_000, totalMs: 120_000, responseBytes: 16 * 1024 * 1024 };

/** Longest connect, name resolution and TLS handshake included. */
export const CONNECT_MS = 10_000;

/** Most sockets to one origin; further requests wait within their total time. */
export const SOCKETS_PER_ORIGIN = 256;

/** Longest idle time of a kept socket. */
export const KEEP_ALIVE_MS = 30_000;

/** Largest response header block in bytes. */
export const RESPONSE_HEADER_BYTES = 32 * 1024;

/** Most redirects that a request may allow. */
export const MAX_REDIRECTS = 5;
