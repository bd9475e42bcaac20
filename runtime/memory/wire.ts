import { Failure } from '../../schemas/errors.js';
import type { AddRequest, Memory, QueryQuery } from '../../schemas/generated/core/memory.js';
import { isObject } from '../base/json.js';
import { quote } from '../base/names.js';
import { timeOf } from '../base/times.js';
import type { GraphEdge, MemoryRecord, MemoryType, NewMemory, ReadFilter } from './contract.js';
import { nodeOf } from './facts.js';
import type { Recalled } from './recall/recall.js';

/** Numbers from here on are milliseconds since 1970, below seconds. */
const FIRST_MILLISECONDS = 1e11;
const TYPES: readonly MemoryType[] = ['text', 'telemetry', 'chat', 'audio', 'node', 'edge', 'fact'];

/** A record as clients see it. */
export function shownMemory(record: MemoryRecord, distanceM?: number): Memory {
  const { id, type, data, text, metadata = {}, timeMs, addedMs, place, who, tags = [], series, valid, supersededBy, confidence } = record;
  return {
    uuid: id,
    data_type: type,
    data,
    text,
    metadata: { ...metadata },
    timestamp: isoTime(timeMs),
    added_at: isoTime(addedMs),
    latitude: place?.lat ?? null,
    longitude: place?.lon ?? null,
    user_id: who?.user ?? null,
    session_id: who?.session ?? null,
    tags: [...tags],
    series: series ?? null,
    valid_from: valid ? isoTime(valid.fromMs) : null,
    valid_to: valid?.toMs === undefined ? null : isoTime(valid.toMs),
    superseded_by: supersededBy ?? null,
    confidence: confidence ?? null,
    source: (record.provenance as Memory['source']) ?? null,
    hash: record.hash ?? null,
    stored_in: [...record.kinds],
    ...(distanceM === undefined ? {} : { distance_m: distanceM }),
  };
}

/** A memory that was recalled, as clients see it. */
export function shownRecall({ record, score, parts, facts }: Recalled): Memory {
  const { graphDistance, distanceM, ...rest } = parts;
  return {
    ...shownMemory(record, distanceM ?? undefined),
    score,
    parts: { ...rest, graph_distance: graphDistance },
    facts: facts.map(({ id, fromMs, toMs, supersededBy, ...fact }) => ({
      ...fact,
      uuid: id,
      valid_from: isoTime(fromMs),
      valid_to: toMs === null ? null : isoTime(toMs),
      superseded_by: supersededBy,
    })),
  };
}

/** A moment as clients see it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** What a client gives to remember. Throws `invalid` for times that are none, places of one coordinate, and nodes and edges without names. */
export function givenMemory(given: AddRequest): NewMemory {
  const { data, data_type: type = 'text', latitude, longitude } = given;
  const user = given.user_id ?? undefined;
  const session = given.session_id ?? undefined;
  const from = momentOf('valid_from', given.valid_from);
  const to = momentOf('valid_to', given.valid_to);
  const timeMs = momentOf('timestamp', given.timestamp);
  if ((latitude ?? null) === null ? (longitude ?? null) !== null : (longitude ?? null) === null)
    throw invalidMember(
      latitude === undefined || latitude === null ? 'latitude' : 'longitude',
      'a place has both latitude and longitude',
      null,
    );
  return withoutUndefined<NewMemory>({
    id: given.uuid?.toLowerCase(),
    type,
    data,
    text: given.text ?? undefined,
    metadata: given.metadata ?? undefined,
    timeMs,
    place: typeof latitude === 'number' && typeof longitude === 'number' ? { lat: latitude, lon: longitude } : undefined,
    who: user === undefined && session === undefined ? undefined : withoutUndefined({ user, session }),
    tags: given.tags,
    series: given.series ?? undefined,
    node: type === 'node' ? { name: nodeName(data) } : undefined,
    edge: type === 'edge' ? edgeOf(data) : type === 'fact' ? factEdgeOf(data, user) : undefined,
    valid: from === undefined && to === undefined ? undefined : withoutUndefined({ fromMs: from ?? timeMs ?? Date.now(), toMs: to }),
    supersededBy: given.superseded_by ?? undefined,
    confidence: given.confidence ?? undefined,
    provenance: given.source ?? undefined,
    hash: given.hash ?? undefined,
  });
}

/** Conditions as the query of an address has them, where a list is a text, or as a body has them. */
export type GivenQuestion = Omit<Partial<QueryQuery>, 'tags' | 'data_types' | 'entities'> & {
  readonly [List in 'tags' | 'data_types' | 'entities']?: string | readonly string[] | undefined;
};

/** Conditions of a query. Throws `invalid` for times that are none and types that there are not. */
export function givenFilter(query: GivenQuestion): ReadFilter {
  const { start_time: start, end_time: end, as_of: asOf, user_id: user, session_id: session, tags, data_types: types, limit } = query;
  return withoutUndefined<ReadFilter>({
    fromMs: start === undefined ? undefined : timeOf(['query', 'start_time'], start),
    toMs: end === undefined ? undefined : timeOf(['query', 'end_time'], end),
    asOfMs: asOf === undefined ? undefined : timeOf(['query', 'as_of'], asOf),
    types: types === undefined ? undefined : listOf(types).map(typeOf),
    tags: tags === undefined ? undefined : listOf(tags),
    user,
    session,
    limit,
  });
}

/** The place of a query, if it has one. Throws `bad_request` for half a place. */
export function givenPlace({ latitude: lat, longitude: lon }: GivenQuestion): { lat: number; lon: number } | undefined {
  if (lat !== undefined && lon !== undefined) return { lat, lon };
  if (lat === undefined && lon === undefined) return undefined;
  throw new Failure('bad_request', 'A place needs both latitude and longitude; give both or neither.', { code: 'HalfPlace' });
}

function typeOf(name: string): MemoryType {
  if ((TYPES as readonly string[]).includes(name)) return name as MemoryType;
  throw invalidMember('data_types', `must be of ${TYPES.join(', ')}`, name, 'query');
}

/** A list as it is, or a text of entries with commas between; a comma of an entry has a backslash before it. */
export function listOf(given: string | readonly string[]): readonly string[] {
  if (typeof given !== 'string') return given;
  const entries = given.match(/(?:\\,|[^,])+/g) ?? [];
  return entries.map((one) => one.replaceAll('\\,', ',').trim()).filter((one) => one !== '');
}

function momentOf(member: string, given: string | number | null | undefined): number | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'string') return timeOf(['body', member], given);
  return Math.round(Math.abs(given) < FIRST_MILLISECONDS ? given * 1_000 : given);
}

/** A text of an object by the first name that has one. */
function textAt(data: unknown, ...members: string[]): string | undefined {
  if (data === null || typeof data !== 'object') return undefined;
  for (const member of members) {
    const value = (data as Record<string, unknown>)[member];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function nodeName(data: unknown): string {
  const name = typeof data === 'string' ? data : textAt(data, 'name', 'id', 'label');
  if (name === undefined) throw invalidMember('data', "of a node is its name, or has a 'name'", data);
  return name;
}

/** An edge has both ends. */
function edgeOf(data: unknown): GraphEdge {
  const edge = linkOf('edge', data);
  if (!edge) throw invalidMember('data', "of an edge has 'from' and 'to', the names of nodes", data);
  return edge;
}

/** A fact is an edge where it has both ends; what a user says of himself hangs on the node of that user, as where it is taken from what he said. */
function factEdgeOf(data: unknown, user: string | undefined): GraphEdge | undefined {
  const edge = linkOf('fact', data);
  return edge && { ...edge, from: nodeOf(edge.from, user), to: nodeOf(edge.to, user) };
}

function linkOf(type: 'edge' | 'fact', data: unknown): GraphEdge | undefined {
  checkTexts(type, data);
  const from = textAt(data, 'from', 'source', 'subject');
  const to = textAt(data, 'to', 'target', 'object');
  if (from === undefined || to === undefined) return undefined;
  const { weight = 1 } = data as { weight?: unknown };
  if (typeof weight !== 'number') throw invalidMember('data', "of an edge has a number as its 'weight'", weight);
  return { from, to, relation: textAt(data, 'relation', 'predicate', 'type') ?? 'related_to', weight };
}

/** What names the ends and the relation of an edge or a fact must be a text, where it is there. */
function checkTexts(type: 'edge' | 'fact', data: unknown): void {
  if (!isObject(data)) return;
  const of = type === 'edge' ? 'of an edge' : 'of a fact';
  for (const member of ['from', 'to', 'subject', 'object', 'relation', 'predicate'])
    if (typeof (data[member] ?? '') !== 'string') throw invalidMember('data', `${of} has a text as its '${member}'`, data[member]);
}

function invalidMember(member: string, msg: string, given: unknown, where: 'body' | 'query' = 'body'): Failure {
  const input = quote(given);
  return new Failure('invalid', `${where}.${member}: ${msg}, got ${input}.`, {
    errors: [{ type: 'memory_value', loc: [where, member], msg, input }],
  });
}

/** An object without the members that are undefined. */
function withoutUndefined<Shape extends object>(members: { [Name in keyof Shape]: Shape[Name] | undefined }): Shape {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Shape;
}
