import { log } from '../../runtime/base/log.js';
import type { Endpoint, ErrorShape } from '../../schemas/endpoint.js';
import { Failure, type FailureKind } from '../../schemas/errors.js';

/** No endpoint takes the request. `detail` is what FastAPI says of it, which clients compare; the message says more. */
class Unrouted extends Failure {
  constructor(
    kind: 'not_found' | 'not_allowed',
    readonly detail: string,
    message: string,
    readonly allow?: string,
  ) {
    super(kind, message);
  }
}

/** Longest path that is looked at, or shown in a message, in characters. */
const PATH_LIMIT = 200;

/** Nothing lies at the path. */
export function notFound({ method, path }: { method: string; path: string }): Failure {
  return new Unrouted('not_found', 'Not Found', `Nothing answers at ${method} ${path.slice(0, PATH_LIMIT)}; /docs lists every endpoint.`);
}

/** Another method would be answered at the path. */
export function methodNotAllowed({ method, path }: { method: string; path: string }, methods: ReadonlyMap<string, unknown>): Failure {
  const allow = allowedMethods(methods);
  return new Unrouted('not_allowed', 'Method Not Allowed', `${path.slice(0, PATH_LIMIT)} takes ${allow}, not ${method}.`, allow);
}

/** The methods of a path, as headers list them. */
export function allowedMethods(methods: ReadonlyMap<string, unknown>): string {
  const names = [...methods.keys()];
  if (names.includes('GET')) names.push('HEAD');
  return [...names, 'OPTIONS'].join(', ');
}

/** A page of another origin asks for a change. */
export function originRefused(origin: string): Failure {
  const shown = JSON.stringify(origin.slice(0, 200));
  return new Failure(
    'forbidden',
    `Pages of origin ${shown} may not change anything here; start the daemon with this origin among its allowed ones.`,
    {
      code: 'OriginNotAllowed',
    },
  );
}

/** The headers that an answer about a failure carries. */
export function failureHeaders(failure: Failure): string[] {
  const headers = ['Content-Type', 'application/json'];
  if (failure.retryAfterS !== undefined) headers.push('Retry-After', String(Math.ceil(failure.retryAfterS)));
  if (failure.kind === 'unauthorized') headers.push('WWW-Authenticate', 'Bearer');
  if (failure instanceof Unrouted && failure.allow !== undefined) headers.push('Allow', failure.allow);
  return headers;
}

/** In what shape failures are told where no endpoint lies: that of the endpoints beside it where they have one in common, else that of the client. */
export class ErrorShapes {
  /** By the beginning of a path, to the end of one of its elements. Undefined where endpoints differ. */
  readonly #shapes = new Map<string, ErrorShape | undefined>();

  constructor(endpoints: readonly Pick<Endpoint<never>, 'path' | 'errorShape'>[]) {
    for (const { path, errorShape = 'house' } of endpoints) {
      for (const start of pathPrefixes(path))
        this.#shapes.set(start, !this.#shapes.has(start) || this.#shapes.get(start) === errorShape ? errorShape : undefined);
    }
  }

  shapeAt(path: string): ErrorShape {
    const known = pathPrefixes(path.slice(0, PATH_LIMIT)).findLast((start) => this.#shapes.has(start));
    return (known === undefined ? undefined : this.#shapes.get(known)) ?? 'by-client';
  }
}

/** `/a`, `/a/b` and so on, up to the first parameter. */
function pathPrefixes(path: string): string[] {
  const elements = path
    .split('/')
    .slice(1)
    .filter((element) => element !== '');
  const end = elements.findIndex((element) => element.startsWith('{'));
  const fixed = end < 0 ? elements : elements.slice(0, end);
  return fixed.map((_element, index) => `/${fixed.slice(0, index + 1).join('/')}`);
}

const OUT_OF_SPACE = new Set(['ENOSPC', 'EDQUOT']);
/** How official chat clients name our kinds. */
const OPENAI_TYPES: Partial<Record<FailureKind, string>> = {
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  too_many: 'rate_limit_error',
};

/** Codes of JSON-RPC; the last one is for what a server refuses for reasons of its own. */
const RPC_CODES = { parse: -32700, request: -32600, internal: -32603, refused: -32000 } as const;
/** How the types of faults in the text of a body begin. */
const TEXT_FAULT = /^(?:json|utf8)_/;

/** How Anthropic's clients name our kinds; those of 4xx are `invalid_request_error` where nothing is said, all others `api_error`. */
const ANTHROPIC_TYPES: Partial<Record<FailureKind, string>> = {
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  too_large: 'request_too_large',
  too_many: 'rate_limit_error',
  busy: 'overloaded_error',
  timed_out: 'timeout_error',
};
/** Shapes whose clients know no 422: what is wrong with a body is 400 there. */
const PLAIN_400: ReadonlySet<ErrorShape> = new Set(['json-rpc', 'ollama', 'anthropic']);

/** Turns anything thrown into a `Failure`: a full disk is named, everything unknown becomes a generic `internal`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (outOfSpace(error)) return new Failure('disk_full', 'The disk is full: free some space and try again.', { cause: error });
  return new Failure('internal', 'Something went wrong inside the daemon; its log has the cause.', {
    code: 'InternalServerError',
    cause: error,
  });
}

function outOfSpace(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (OUT_OF_SPACE.has((at as NodeJS.ErrnoException).code ?? '')) return true;
  }
  return false;
}

const noSuchModel = (model: string): string => `The model \`${model}\` does not exist`;

/** How clients of other programs are told that a model is not there; ours goes on with what is to be done. */
const MISSING_MODEL: Partial<Record<ErrorShape, (model: string) => string>> = {
  ollama: (model) => `model '${model}' not found`,
  anthropic: (model) => `model: ${model} not found`,
  openai: noSuchModel,
  universal: noSuchModel,
};

function messageFor(failure: Failure, shape: ErrorShape): string {
  // Clients of Anthropic's know by these words that they have to shorten a conversation.
  if (shape === 'anthropic' && failure.code === 'context_length_exceeded') return `prompt is too long: ${failure.message}`;
  const model = failure.fields?.model;
  const words = failure.code === 'ModelNotFound' && typeof model === 'string' ? MISSING_MODEL[shape]?.(model) : undefined;
  return words === undefined ? failure.message : failure.message.replace(`Model "${model}" not found`, () => words);
}

const detailOf = (failure: Failure): string => (failure instanceof Unrouted ? failure.detail : failure.message);

/** The JSON body of a failure. Causes never get into it. */
export function errorBody(failure: Failure, shape: ErrorShape, requestId: string): Record<string, unknown> {
  const message = messageFor(failure, shape);
  if (shape === 'ollama') return { error: message };
  if (shape === 'anthropic') {
    const { details } = failure.fields ?? {};
    return { type: 'error', error: { type: anthropicType(failure), message, ...(details ? { details } : {}) }, request_id: requestId };
  }
  const house: Record<string, unknown> = { ...failure.fields, detail: detailOf(failure), error: failure.code, message: failure.message };
  if (failure.errors) house.errors = failure.errors;
  house.request_id = requestId;
  if (shape === 'house' || shape === 'by-client') return house;
  if (shape === 'json-rpc') return { jsonrpc: '2.0', id: null, error: { code: rpcCode(failure), message: failure.message, data: house } };
  const { detail, error } = openAiParts(failure, shape);
  return { ...house, detail, error };
}

/** The status of a failure. */
export function statusOf(failure: Failure, shape: ErrorShape): number {
  return failure.kind === 'invalid' && PLAIN_400.has(shape) ? 400 : failure.status;
}

function anthropicType({ kind, status }: Failure): string {
  return ANTHROPIC_TYPES[kind] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function rpcCode({ kind, errors }: Failure): number {
  if (kind === 'internal') return RPC_CODES.internal;
  if (kind !== 'invalid') return RPC_CODES.refused;
  return TEXT_FAULT.test(errors?.[0]?.type ?? '') ? RPC_CODES.parse : RPC_CODES.request;
}

function openAiParts(failure: Failure, shape: ErrorShape): { detail: unknown; error: unknown } {
  const usage = failure.fields?.context_usage;
  const isMissing = failure.code === 'ModelNotFound';
  const code = isMissing ? 'model_not_found' : failure.code === failure.kind ? null : failure.code;
  const type = OPENAI_TYPES[failure.kind] ?? (failure.status < 500 ? 'invalid_request_error' : 'server_error');
  const loc = failure.errors?.[0]?.loc.slice(1) ?? [];
  // A number in front is the place of a fault in the text of the body, not a member of it.
  const param = typeof loc[0] === 'string' ? loc.join('.') : null;
  return {
    detail:
      shape === 'universal' && usage !== undefined
        ? { error: failure.code, message: failure.message, context_usage: usage }
        : detailOf(failure),
    error: { message: messageFor(failure, shape), type, param: isMissing ? 'model' : param, code },
  };
}

/** Writes the failures that an operator must know about: those that are ours, with their cause. */
export function logFailure(failure: Failure, request: { id: string; method: string; path: string }): void {
  if (failure.status < 500) return;
  const expected = failure.kind === 'busy' || failure.kind === 'unavailable';
  const { cause } = failure;
  log(expected ? 'warn' : 'error', failure.message, {
    request_id: request.id,
    request: `${request.method} ${request.path}`,
    ...(cause === undefined ? {} : { cause: cause instanceof Error ? cause : String(cause) }),
  });
}
