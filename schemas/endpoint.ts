/** A schema's address: file under `schemas/` without `.json`, `#`, and the name under `$defs`, such as `core/chat#CompletionRequest`. */
export type SchemaName = `${string}#${string}`;

/** A request as a handler sees it: everything read, checked and typed. */
export interface Request {
  readonly id: string;
  readonly method: string;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters after validation (numbers and booleans converted, defaults filled). */
  readonly query: Readonly<Record<string, unknown>>;
  /** The validated JSON body; `undefined` where the endpoint takes none. */
  readonly body: unknown;
  /** One request header by its lower-case name. */
  header(name: string): string | undefined;
  /** Aborts when the client is gone or the request ran out of time. */
  readonly signal: AbortSignal;
}

/** A complete answer. `json` is serialised as it is; `bytes` go out untouched with the given content type. */
export interface WholeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Ready bytes (with `contentType`), for cached or non-JSON answers. */
  readonly bytes?: Uint8Array | string;
  readonly contentType?: string;
}

/** A Server-Sent-Events answer: each item is the full text of one or more frames, ending in a blank line. */
export interface StreamReply {
  readonly headers?: Readonly<Record<string, string>>;
  readonly events: AsyncIterable<string>;
}

/** What a handler returns. */
export type Reply = WholeReply | StreamReply;

/** One route: path, shapes by name, limits and handler. The lists in `gateway/*` are made of these; dispatch and OpenAPI are derived from them. */
export interface Endpoint<Context> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters and no trailing slash; dispatch also serves it with one. A last parameter written `{name+}` takes slashes too. */
  readonly path: string;
  /** OpenAPI operation id, stable. */
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  readonly query?: SchemaName;
  readonly body?: SchemaName;
  readonly response?: SchemaName;
  /** Success status, 200 unless given. */
  readonly status?: number;
  /** True when the success answer may be `text/event-stream`. */
  readonly streams?: boolean;
  /** Largest body in bytes; 2 MiB unless given. */
  readonly bodyLimitBytes?: number;
  /** `openai`: `error` is `{message, type, param, code}`, which the official clients read; `universal`: that, and `detail` of a context failure is the object `{error, message, context_usage}`. */
  readonly errorShape?: 'house' | 'openai' | 'universal';
  /** Hidden from OpenAPI (aliases, the docs page). */
  readonly hidden?: boolean;
  handler(context: Context, request: Request): Reply | Promise<Reply>;
}

/** Types an endpoint where it is written. */
export function endpoint<Context>(definition: Endpoint<Context>): Endpoint<Context> {
  return definition;
}
