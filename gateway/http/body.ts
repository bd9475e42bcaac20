import { breathe } from '../../runtime/base/loop.js';
import type { SchemaName } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { check, checkInTurns } from '../../schemas/validate.js';
import { parseJsonInTurns } from './json-pieces.js';
import type { Exchange } from './transport.js';

const MIB = 1024 * 1024;
/** Bodies up to this size do not count: chats, and all that comes often. */
const LARGE_BYTES = 16 * MIB;
/** What all large bodies may take together; as texts and what they stand for it is three times that. */
const ROOM_BYTES = 256 * MIB;

/** What one body takes of the room. */
interface BodyShare {
  /** The body has, or is to have, so many bytes. Throws `busy` where others have taken what there is; one body alone always has room. */
  readonly take: (bytes: number) => void;
  /** Gives it back. */
  leave(): void;
}

/** Bounds what the largest JSON bodies of a port take of the memory, until their handlers return. */
export class BodyRoom {
  #taken = 0;

  share(): BodyShare {
    let own = 0;
    const set = (bytes: number): void => {
      this.#taken += bytes - own;
      own = bytes;
    };
    return {
      take: (bytes) => {
        if (bytes <= LARGE_BYTES) return;
        const others = this.#taken - own;
        if (others > 0 && others + bytes > ROOM_BYTES) {
          const taken = Math.round(others / MIB);
          throw new Failure('busy', `The bodies of other requests take ${taken} MiB already. Try again later.`, { retryAfterS: 1 });
        }
        set(bytes);
      },
      leave: () => set(0),
    };
  }
}

/** Largest body where an endpoint does not say otherwise. */
export const DEFAULT_BODY_BYTES = 2 * 1024 * 1024;
/** Largest body of a chat, whose messages may carry images and audio. */
export const CHAT_BODY_BYTES = 16 * 1024 * 1024;
/** Bodies of fewer bytes are validated at once: it takes at most a few milliseconds, however wrong they are. */
const CHECKED_AT_ONCE_BYTES = 16 * 1024;

const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

/** How a JSON body is read. */
interface BodyRules {
  readonly limitBytes: number;
  /** As in `readBody`. */
  readonly take: (bytes: number) => void;
  /** As `Endpoint.anyContentType`. */
  readonly anyType?: boolean | undefined;
}

/**
 * Reads and checks a JSON body; `undefined` when the client went away meanwhile. Starts reading before its first `await`.
 * Only JSON content types pass: a web page can send any other without asking first (threat T9). Browsers name their page in `Origin` or `Sec-Fetch-Site`.
 */
export async function readJson(
  exchange: Exchange,
  schema: SchemaName,
  rules: BodyRules,
): Promise<{ value: unknown; bytes: number } | undefined> {
  const type = exchange.header('content-type');
  const coding = exchange.header('content-encoding').trim();
  const isChecked = rules.anyType !== true || exchange.hasHeader('origin') || exchange.hasHeader('sec-fetch-site');
  const reading = exchange.readBody(rules.limitBytes, rules.take);
  const bytes = await reading;
  if (bytes === undefined) return undefined;
  if (bytes.length > 0 && isChecked && !JSON_TYPE.test(type.trim())) {
    const got = type === '' ? 'None was given' : `Got ${JSON.stringify(type.slice(0, 100))}`;
    throw new Failure('unsupported_type', `The body must be JSON. ${got}: add the header "Content-Type: application/json".`);
  }
  if (bytes.length > 0 && coding !== '' && coding !== 'identity')
    throw new Failure(
      'unsupported_type',
      `The body has the Content-Encoding ${JSON.stringify(coding.slice(0, 100))}, and bodies are not unpacked here: send it as it is, without that header.`,
    );
  const value = bytes.length === 0 ? undefined : await parseJsonInTurns(bytes);
  const checked = bytes.length < CHECKED_AT_ONCE_BYTES ? check(schema, value) : await checkInTurns(schema, value, breathe);
  return { value: checked, bytes: bytes.length };
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
