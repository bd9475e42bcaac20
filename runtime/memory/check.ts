import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { quote } from '../base/names.js';
import type { MemoryRecord, NewMemory, Provenance } from './contract.js';

/** Bytes of a whole record as JSON. */
const MOST_RECORD_BYTES = 262_144;
/** Characters of a text that is made of data, and of one that is given. */
const MOST_MADE_CHARACTERS = 4_096;
const MOST_TEXT_CHARACTERS = 65_536;
/** Records may lie so far in the future: appointments do, and broken clocks lie farther. */
const MOST_AHEAD_MS = 100 * 365.25 * 86_400_000;
/** The beginning of the year 1. */
const EARLIEST_MS = -62_135_596_800_000;
const MOST_TAGS = 32;
/** Records that one record may name as what it was made of. */
const MOST_SOURCES = 256;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Control characters, and halves of surrogate pairs. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** Whether a text has the form of a record's id. */
export function isMemoryId(id: string): boolean {
  return UUID.test(id);
}

function refusedMember(member: string, rule: string, given: unknown): Failure {
  const msg = `${member} ${rule}`;
  return new Failure('invalid', `A memory's ${msg}, got ${quote(given)}.`, {
    errors: [{ type: 'memory_value', loc: [member], msg, input: typeof given === 'number' ? String(given) : quote(given) }],
  });
}

function checkNumber(member: string, value: number | undefined, least: number, most: number): void {
  if (value !== undefined && !(typeof value === 'number' && value >= least && value <= most))
    throw refusedMember(member, `must be a number from ${least} to ${most}`, value);
}

/** Numbers beyond those that a computer has, such as 1e400, are read as infinite, and JSON cannot tell them. Linear. */
function checkFinite(member: string, given: unknown): void {
  const left = [given];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'number' && !Number.isFinite(value)) throw refusedMember(member, 'must have numbers up to 1.8e308', value);
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) left.push(one);
  }
}

/** Texts that become keys: control characters would end them, and halves of surrogate pairs cannot be told apart on the disk. */
function checkName(member: string, value: string | undefined, most: number): void {
  if (value === undefined) return;
  if (typeof value === 'string' && value.length > 0 && value.length <= most && !UNFIT.test(value)) return;
  throw refusedMember(member, `must be a text of 1 to ${most} characters, none of them a control character`, value);
}

/** Checks a moment in milliseconds since 1970; throws `invalid`. */
export function checkTime(member: string, ms: number | undefined, nowMs: number): void {
  if (ms === undefined || (ms >= EARLIEST_MS && ms <= nowMs + MOST_AHEAD_MS)) return;
  const shown = Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ms;
  throw refusedMember(member, 'must be a moment from the year 1 to a hundred years from now', shown);
}

/** Checks a record as it is given, and fills in what is absent. Throws `invalid` and `too_large` (RecordTooLarge). */
export function checkedMemory(given: NewMemory, nowMs: number): Omit<MemoryRecord, 'seq' | 'addedMs' | 'kinds'> {
  const { id = randomUUID(), type, data, place, who, tags, series, node, edge, confidence, hash, provenance, supersededBy } = given;
  if (!isMemoryId(id)) throw refusedMember('id', 'must be a UUID in lower case', id);
  if (data === undefined) throw refusedMember('data', 'must be a JSON value', undefined);
  checkFinite('data', data);
  checkFinite('metadata', given.metadata);
  const timeMs = given.timeMs === undefined ? nowMs : Math.round(given.timeMs);
  checkTime('timestamp', timeMs, nowMs);
  checkNumber('latitude', place?.lat, -90, 90);
  checkNumber('longitude', place?.lon, -180, 180);
  checkNumber('confidence', confidence, 0, 1);
  checkName('user_id', who?.user, 256);
  checkName('session_id', who?.session, 256);
  checkName('series', series, 128);
  checkName('hash', hash, 64);
  if (supersededBy !== undefined && !isMemoryId(supersededBy))
    throw refusedMember('superseded_by', 'must be the UUID of a memory in lower case', supersededBy);
  if ((tags?.length ?? 0) > MOST_TAGS) throw refusedMember('tags', `may have ${MOST_TAGS} entries at most`, tags!.length);
  for (const tag of tags ?? []) checkName('tags', tag, 64);
  checkGraph(given);
  checkProvenance(provenance);
  const isGraph = node !== undefined || edge !== undefined || type === 'fact';
  const valid = isGraph ? validityOf(given, timeMs, nowMs) : undefined;
  const text = textOf(given);
  const record = { ...given, id, text, timeMs, ...(valid ? { valid } : {}) };
  const bytes = Buffer.byteLength(JSON.stringify(record));
  if (bytes > MOST_RECORD_BYTES) {
    throw new Failure(
      'too_large',
      `A memory of ${bytes} bytes is too large: ${MOST_RECORD_BYTES} is the most. Split it, or keep a file elsewhere and its address here.`,
      {
        code: 'RecordTooLarge',
      },
    );
  }
  return record;
}

function checkGraph({ type, node, edge }: NewMemory): void {
  if (type === 'node' && !node) throw refusedMember('data', "of a node must have a 'name'", node);
  if (type === 'edge' && !edge) throw refusedMember('data', "of an edge must have 'from' and 'to'", edge);
  if ((node && type !== 'node') || (edge && type !== 'edge' && type !== 'fact')) throw refusedMember('type', 'must fit what it has', type);
  checkName('name', node?.name, 256);
  checkName('from', edge?.from, 256);
  checkName('to', edge?.to, 256);
  checkName('relation', edge?.relation, 128);
  checkNumber('weight', edge?.weight, 0, 1e12);
}

function checkProvenance({ message, document, event, records = [] }: Provenance = {}): void {
  checkName('message', message, 256);
  checkName('document', document, 256);
  checkName('event', event, 256);
  if (records.length > MOST_SOURCES) throw refusedMember('records', `may name ${MOST_SOURCES} records at most`, records.length);
  const wrong = records.find((one) => !isMemoryId(one));
  if (wrong !== undefined) throw refusedMember('records', 'must name records by their ids', wrong);
}

function validityOf({ valid }: NewMemory, timeMs: number, nowMs: number) {
  if (valid === undefined) return { fromMs: timeMs };
  const { fromMs, toMs } = valid;
  checkTime('valid_from', fromMs, nowMs);
  checkTime('valid_to', toMs, nowMs);
  if (toMs !== undefined && toMs < fromMs) throw refusedMember('valid_to', 'must not be before valid_from', new Date(toMs).toISOString());
  return toMs === undefined ? { fromMs } : { fromMs, toMs };
}

/** What searches read of a record that says nothing about it: a text itself, the text of an object, or its JSON. */
function textOf({ data, text, node, edge }: NewMemory): string {
  if (text !== undefined) {
    if (text.length > MOST_TEXT_CHARACTERS) throw refusedMember('text', `may have ${MOST_TEXT_CHARACTERS} characters at most`, text.length);
    return text;
  }
  const made = madeText(data) ?? (node ? node.name : edge ? `${edge.from} ${edge.relation} ${edge.to}` : JSON.stringify(data));
  return made.slice(0, MOST_MADE_CHARACTERS);
}

function madeText(data: unknown): string | undefined {
  if (typeof data === 'string') return data;
  if (data === null || typeof data !== 'object') return undefined;
  for (const member of ['text', 'content', 'transcript', 'message', 'description']) {
    const value = (data as Record<string, unknown>)[member];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
