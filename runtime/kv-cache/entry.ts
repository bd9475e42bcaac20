import { createHash } from 'node:crypto';
import type { Message, Tool } from '../../schemas/generated/common.js';
import type { SequenceStates } from '../engines/contracts/language.js';

/** A part of a conversation that is compared as a whole. */
export interface Segment {
  readonly type: 'system' | 'tools' | 'turn';
  /** First 16 hex digits of the SHA-256 of its text. */
  readonly hash: string;
}

/** How two lists of segments compare. */
export interface SegmentMatch {
  readonly status: 'hit' | 'partial_hit' | 'miss';
  /** Leading segments that are equal. */
  readonly matched: number;
  readonly reason: string;
  /** The kind of the first segment that differs, `truncated` where the conversation ends before; null at a hit. */
  readonly invalidatedAt: string | null;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** JSON with sorted names and without empty members, so that equal things are equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const members = Object.entries(member).filter(([, one]) => one !== null && one !== undefined);
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The text of a message, its parts joined by line breaks; pictures and sounds are none. */
export function flat(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

const byTypeAndName = (a: Tool, b: Tool): number => {
  const [first, second] = [a, b].map((tool) => `${tool.type}\0${tool.function.name}`) as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
};

/** Messages in turns: each user message with what follows it. What comes before the first user message is a turn of its own. */
function turnsOf(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message]);
    else turns.at(-1)!.push(message);
  }
  return turns;
}

/** The segments of a conversation: its system texts, its tools in any order, then one per turn; empty ones are left out. */
export function segmentsOf(messages: readonly Message[], tools: readonly Tool[] = []): Segment[] {
  const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer';
  const system = messages.filter(isSystem).map((message) => flat(message.content));
  const segments: Segment[] = [];
  if (system.length > 0) segments.push({ type: 'system', hash: hashOf(system.join('\n')) });
  if (tools.length > 0) segments.push({ type: 'tools', hash: hashOf(canonical([...tools].sort(byTypeAndName))) });
  const turns = turnsOf(messages.filter((message) => !isSystem(message)));
  for (const turn of turns) segments.push({ type: 'turn', hash: hashOf(canonical(turn)) });
  return segments;
}

/** One hash for a whole conversation. */
export function contentHash(segments: readonly Segment[]): string {
  return hashOf(JSON.stringify(segments.map((segment) => segment.hash)));
}

/** Compares what was cached with what comes in: equal segments count from the front until the first that differs. */
export function matchSegments(cached: readonly Segment[], incoming: readonly Segment[]): SegmentMatch {
  let matched = 0;
  while (matched < cached.length && same(cached[matched]!, incoming[matched])) matched += 1;
  if (matched === cached.length) return { status: 'hit', matched, reason: 'full_match', invalidatedAt: null };
  const invalidatedAt = matched < incoming.length ? cached[matched]!.type : 'truncated';
  if (matched === 0) return { status: 'miss', matched, reason: 'no_match', invalidatedAt };
  const reason = invalidatedAt === 'truncated' ? invalidatedAt : `${invalidatedAt}_changed`;
  return { status: 'partial_hit', matched, reason, invalidatedAt };
}

function same(a: Segment, b: Segment | undefined): boolean {
  return b !== undefined && a.type === b.type && a.hash === b.hash;
}

/** A conversation whose KV state is kept. */
export interface KvRecord {
  /** 24 hex digits. */
  readonly key: string;
  /** As the client named it. */
  readonly model: string;
  readonly segments: readonly Segment[];
  readonly contentHash: string;
  readonly tokens: number;
  /** Of the state; 0 without one. */
  readonly bytes: number;
  /** `SequenceStates.tag` of the model that it is a state of; null without one. */
  readonly tag: string | null;
  pinned: boolean;
  /** Seconds since the last use; null = the default. */
  ttlS: number | null;
  readonly createdMs: number;
  lastUsedMs: number;
  hits: number;
}

/** A record with where its state is. */
export interface KvEntry extends KvRecord {
  /** The model whose host may hold a copy in memory. */
  holder?: SequenceStates;
}

/** Whether a file of the index can be a record. */
export function isRecord(value: unknown): value is KvRecord {
  const one = value as Partial<KvRecord> | null;
  return (
    typeof one === 'object' &&
    one !== null &&
    /^[0-9a-f]{24}$/.test(String(one.key)) &&
    typeof one.model === 'string' &&
    Array.isArray(one.segments) &&
    [one.tokens, one.bytes, one.createdMs, one.lastUsedMs, one.hits].every(Number.isFinite)
  );
}
