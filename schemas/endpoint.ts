/** A schema's address: file under `schemas/` without `.json`, `#`, and the name under `$defs`, such as `core/chat#CompletionRequest`. */
export type SchemaName = `${string}#${string}`;

/** A file that came in a form. It lies on disk, flushed, until the handler's answer; the handler moves it away to keep it. */
export interface UploadedFile {
  /** Name of the form's member. */
  readonly field: string;
  /** As the client calls it, without folders. */
  readonly name: string;
  /** The folders that the client puts before the name; absent where there are none. */
  readonly folder?: string;
  /** As the client says; empty when it does not. */
  readonly mimeType: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** A `multipart/form-data` body: text fields, and files that go to disk as they come. */
export interface FormBody<Context> {
  /** An object schema; members of `format: binary`, or arrays of them, are files. Clients may write array names with `[]` at the end. */
  readonly form: SchemaName;
  /** More than these files are refused with 400. */
  readonly maxFiles: number;
  readonly fileLimitBytes: number;
  /** Of one text field; 1 MiB unless given. */
  readonly fieldLimitBytes?: number;
  /** Called before anything of the body is read: throws to refuse it, and may tighten the limit of a file. */
  admit?(context: Context, request: Pick<Request, 'params' | 'query'>): { readonly fileLimitBytes: number } | undefined;
}

/** A request as a handler sees it: everything read, checked and typed. */
export interface Request {
  readonly id: string;
  readonly method: string;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters after validation (numbers and booleans converted, defaults filled). */
  readonly query: Readonly<Record<string, unknown>>;
  /** The validated JSON body, or the text fields of a form; `undefined` where the endpoint takes none. */
  readonly body: unknown;
  /** Bytes of the JSON body, as they were read; 0 where there is none. */
  readonly bodyBytes: number;
  /** The files of a form, in the order they came; empty elsewhere. */
  readonly files: readonly UploadedFile[];
  /** One request header by its lower-case name. */
  header(name: string): string | undefined;
  /** Aborts when the client is gone or the request ran out of time. */
  readonly signal: AbortSignal;
  /** Who asks, where accounts are on. */
  readonly visitor?: { readonly isAdmin: boolean; readonly isAnonymous: boolean; readonly ownNamespace?: string } | undefined;
  /** Told how far the work is, by handlers that know; absent where nobody wants to know. */
  readonly progress?: ((step: Progress) => void) | undefined;
}

/** How far a request is. */
export interface Progress {
  /** Grows with each step, in a unit that the handler chooses, such as tokens. */
  readonly done: number;
  /** In the same unit, where it is known. */
  readonly total?: number | undefined;
  /** For people: the name of the step, or the text that was written since the last one. */
  readonly text: string;
}

/** What a call does to what is kept here. */
export type Effect = 'reads' | 'adds' | 'changes' | 'removes';

/**
 * Who may call an endpoint where accounts are on; without accounts everybody may. `anyone`: also who is not signed in, and the answer says nothing of
 * users. `users`: who is signed in; what is kept is kept for the caller alone. `members`: who may see the namespace that the request names; for others
 * it is not there. `writers`: those of them who may change what is in it. `founders`: its writers, and everyone where the namespace is new, which
 * becomes the caller's. `admins`: those who run the machine.
 */
export type EndpointAccess = 'anyone' | 'users' | 'members' | 'writers' | 'founders' | 'admins';

/** A complete answer. `json` is serialised as it is; `bytes` go out untouched with the given content type. */
export interface WholeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Ready bytes (with `contentType`), for cached or non-JSON answers. */
  readonly bytes?: Uint8Array | string;
  readonly contentType?: string;
}

/**
 * An answer that comes bit by bit. Each item is the full text of one or more Server-Sent Events, ending in a blank line, or where `lines` is set of one or
 * more lines of JSON (`application/x-ndjson`).
 */
export interface StreamReply {
  readonly headers?: Readonly<Record<string, string>>;
  readonly events: AsyncIterable<string>;
  readonly lines?: true;
}

/** A long answer, of which no more is in memory than the client takes at a time. `pieces` are told to return where the client leaves, also before the first. */
export interface PiecesReply {
  /** 200 unless given. */
  readonly status?: 206;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Bytes of all pieces together, at least one; absent where only the end of the pieces tells. */
  readonly length?: number;
  readonly contentType: string;
}

/** What a handler returns. */
export type Reply = WholeReply | StreamReply | PiecesReply;

/**
 * The body of a failure. `house`: `error` is its code, a text. `openai`: `error` is `{message, type, param, code}`, as OpenAI's SDKs read it.
 * `by-client`: the object for OpenAI's SDKs, the code for everyone else. `universal`: the object, and `detail` of a context failure is
 * `{error, message, context_usage}`. `json-rpc`: a JSON-RPC error without an id, with the house's object as its `data`. `ollama`: `{error}`, a
 * sentence. `anthropic`: `{type: "error", error: {type, message}, request_id}`.
 */
export type ErrorShape = 'house' | 'openai' | 'by-client' | 'universal' | 'json-rpc' | 'ollama' | 'anthropic';

/** One route: path, shapes by name, limits and handler. The lists in `gateway/*` are made of these; dispatch and OpenAPI are derived from them. */
export interface Endpoint<Context> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters and no trailing slash; dispatch also serves it with one. A last parameter written `{name+}` takes slashes too. */
  readonly path: string;
  /** OpenAPI operation id, stable. */
  readonly id: string;
  readonly access: EndpointAccess;
  readonly summary: string;
  readonly tag: string;
  /** What names in the path may be, for the document: handlers say with words of their own what is wrong with one. Any text where it says nothing. */
  readonly names?: Readonly<Record<string, SchemaName>>;
  readonly query?: SchemaName;
  readonly body?: SchemaName;
  /** JSON is also read where the content type does not say so, unless a web page sends it: its clients are known to leave that out. */
  readonly anyContentType?: boolean;
  /** Instead of `body`; beside it, for requests whose content type is `multipart/form-data`. */
  readonly multipart?: FormBody<Context>;
  readonly response?: SchemaName;
  /** Success status, 200 unless given. */
  readonly status?: number;
  /** True when the success answer may be `text/event-stream`; `lines` when it may be `application/x-ndjson`. */
  readonly streams?: boolean | 'lines';
  /** Media types of success answers that are no JSON, such as `audio/mpeg`. Where they are given, JSON is an answer only with `response`. */
  readonly mediaTypes?: readonly string[];
  /** Largest body in bytes; 2 MiB unless given. */
  readonly bodyLimitBytes?: number;
  /** Offered as a tool to clients of the Model Context Protocol. */
  readonly tool?: Effect;
  /** How a failure is told; see `ErrorShape`. */
  readonly errorShape?: ErrorShape;
  /** Hidden from OpenAPI (aliases, the docs page). */
  readonly hidden?: boolean;
  handler(context: Context, request: Request): Reply | Promise<Reply>;
}

/** Types an endpoint where it is written. */
export function endpoint<Context>(definition: Endpoint<Context>): Endpoint<Context> {
  return definition;
}
