import { breathe } from '../../runtime/base/loop.js';
import type { SchemaName } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { check, checkInTurns } from '../../schemas/validate.js';
import { parseJsonInTurns } from './json-pieces.js';
import type { Exchange } from './transport.js';

/** Largest body where an endpoint does not say otherwise. */
export const DEFAULT_BODY_BYTES = 2 * 1024 * 1024;
/** Largest body of a chat, whose messages may carry images and audio. */
export const CHAT_BODY_BYTES = 16 * 1024 * 1024;
/** Bodies of fewer bytes are validated at once: it takes at most a few milliseconds, however wrong they are. */
const CHECKED_AT_ONCE_BYTES = 16 * 1024;

const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

/**
 * Reads and checks a JSON body; `undefined` when the client went away meanwhile. Starts reading before its first `await`; `take` as in `readBody`.
 * Only JSON content types pass: a web page can send any other without asking first (threat T9).
 */
export async function readJson(
  exchange: Exchange,
  schema: SchemaName,
  limitBytes: number,
  take: (bytes: number) => void,
): Promise<{ value: unknown } | undefined> {
  const type = exchange.header('content-type');
  const reading = exchange.readBody(limitBytes, take);
  const bytes = await reading;
  if (bytes === undefined) return undefined;
  if (bytes.length > 0 && !JSON_TYPE.test(type.trim())) {
    const got = type === '' ? 'None was given' : `Got ${JSON.stringify(type.slice(0, 100))}`;
    throw new Failure('unsupported_type', `The body must be JSON. ${got}: add the header "Content-Type: application/json".`);
  }
  const value = bytes.length === 0 ? undefined : await parseJsonInTurns(bytes);
  return { value: bytes.length < CHECKED_AT_ONCE_BYTES ? check(schema, value) : await checkInTurns(schema, value, breathe) };
}

/** Query text as an object; a name that comes several times holds a list. */
export function parseQuery(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === '__proto__') continue;
    const before = query[name];
    if (before === undefined || !Object.hasOwn(query, name)) query[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else query[name] = [before, value];
  }
  return query;
}
