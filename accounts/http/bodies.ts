import { Failure } from '../../schemas/errors.js';

/** Most bytes of a body; no form of this library needs more. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * The bytes of a request's body, as they came. `Failure('too_large')` beyond `most` bytes, without reading on; `raw` is taken instead
 * where a mount has read the body already.
 */
export async function bytesOf(request: Request, raw: Uint8Array | undefined, most = MAX_BODY_BYTES): Promise<Uint8Array> {
  const tooLarge = (): Failure => new Failure('too_large', `a body may have ${most} bytes here`);
  if (raw) {
    if (raw.byteLength > most) throw tooLarge();
    return raw;
  }
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge();
  if (!request.body) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body) {
    bytes += piece.byteLength;
    if (bytes > most) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** How deep values of a body may lie in each other; no form of this library is deeper than a list of texts. */
const DEEPEST = 8;

/**
 * A body as an object; an empty one is `{}`. `Failure('bad_request')` for what is no JSON object, is nested deeper than 8 or holds the
 * character NUL, which not every database can keep; `unsupported_type` for another media type.
 */
export function objectOf(bytes: Uint8Array, contentType: string | null): Record<string, unknown> {
  if (bytes.byteLength === 0) return {};
  const type = (contentType ?? '').replace(/;.*/, '').trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded')
    return checkStorable(Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString('utf8'))));
  if (type !== 'application/json') throw new Failure('unsupported_type', `send JSON with content-type application/json, not "${type}"`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new Failure('bad_request', 'the body is no JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Failure('bad_request', 'the body must be a JSON object');
  return checkStorable(value as Record<string, unknown>);
}

/** The value, once nothing in it is nested too deep or holds NUL. */
function checkStorable<T>(value: T, depth = 0): T {
  if (typeof value === 'string' && value.includes('\0')) throw new Failure('bad_request', 'a text may not hold the character NUL');
  if (value === null || typeof value !== 'object') return value;
  if (depth === DEEPEST) throw new Failure('bad_request', `the body is nested deeper than ${DEEPEST} values`);
  for (const [name, member] of Object.entries(value)) {
    checkStorable(name, depth + 1);
    checkStorable(member, depth + 1);
  }
  return value;
}
