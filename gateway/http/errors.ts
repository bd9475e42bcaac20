import { log } from '../../runtime/base/log.js';
import type { ErrorShape } from '../../schemas/endpoint.js';
import { Failure, type FailureKind } from '../../schemas/errors.js';

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

/** The JSON body of a failure. Causes never get into it. */
export function errorBody(failure: Failure, shape: ErrorShape, requestId: string): Record<string, unknown> {
  const house: Record<string, unknown> = { ...failure.fields, detail: failure.message, error: failure.code, message: failure.message };
  if (failure.errors) house.errors = failure.errors;
  house.request_id = requestId;
  if (shape === 'house' || shape === 'by-client') return house;
  if (shape === 'json-rpc') return { jsonrpc: '2.0', id: null, error: { code: rpcCode(failure), message: failure.message, data: house } };
  const { detail, error } = openAiParts(failure, shape);
  return { ...house, detail, error };
}

/** The status of a failure: JSON-RPC over HTTP has 400 for messages that are none. */
export function statusOf(failure: Failure, shape: ErrorShape): number {
  return shape === 'json-rpc' && failure.kind === 'invalid' ? 400 : failure.status;
}

function rpcCode({ kind, errors }: Failure): number {
  if (kind === 'internal') return RPC_CODES.internal;
  if (kind !== 'invalid') return RPC_CODES.refused;
  return TEXT_FAULT.test(errors?.[0]?.type ?? '') ? RPC_CODES.parse : RPC_CODES.request;
}

function openAiParts(failure: Failure, shape: ErrorShape): { detail: unknown; error: unknown } {
  const usage = failure.fields?.context_usage;
  const code = failure.code === failure.kind ? null : failure.code;
  const type = OPENAI_TYPES[failure.kind] ?? (failure.status < 500 ? 'invalid_request_error' : 'server_error');
  const loc = failure.errors?.[0]?.loc.slice(1) ?? [];
  // A number in front is the place of a fault in the text of the body, not a member of it.
  const param = typeof loc[0] === 'string' ? loc.join('.') : null;
  return {
    detail:
      shape === 'universal' && usage !== undefined
        ? { error: failure.code, message: failure.message, context_usage: usage }
        : failure.message,
    error: { message: failure.message, type, param, code },
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
