import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { breathe } from '../../base/loop.js';
import { pickable, textrank } from '../../documents/extractors/sentence-rankings.js';
import type { Entity } from '../../engines/contracts/encoder.js';
import type { MemoryRecord, MemoryStore, NewMemory, Who } from '../contract.js';
import { mentionsIn } from '../extraction/entities.js';
import { statementsIn } from '../extraction/relations.js';
import { NODE_UNITS, type Statement } from '../extraction/statement.js';
import { cleanName, FactBook, type FactChanges, type Finding, type Likeness, provenanceOf } from '../facts.js';

/** What of a text becomes a node; figures and dates stay in the text. */
const NODE_TYPES: ReadonlySet<string> = new Set(['PERSON', 'ORG', 'GPE', 'LOC', 'FAC', 'PRODUCT', 'EVENT', 'LAW', 'NAME', 'EMAIL', 'URL']);
/** Sentences from which on a session is summed up, and those of its summary. */
const SUMMED_SENTENCES = 8;
const SUMMARY_SENTENCES = 3;
/** Records that a summary names as what it was made of. */
const SOURCES = 256;
/** Least and most code units of a sentence that sums up. */
const SENTENCE_UNITS = [20, 400] as const;

/** Statements that a chat model takes from records; each with the record whose words say it. */
export type ReadByModel = (
  records: readonly MemoryRecord[],
  signal: AbortSignal,
) => Promise<{ statement: Statement; source: MemoryRecord }[]>;

/** What a batch is read with. */
export interface BatchMeans {
  readonly store: MemoryStore;
  readonly likeness: Likeness;
  /** Finds names beside the rules. */
  readonly byEncoder?: ReadByEncoder | undefined;
  /** Where the project wants relations from its chat model. */
  readonly byModel: ReadByModel | undefined;
  readonly signal: AbortSignal;
  /** Names the work, so that it can be taken back. */
  readonly run: string;
}

/** What a batch comes to; nothing is stored yet. */
export interface BatchOutcome extends FactChanges {
  readonly facts: number;
  readonly nodes: number;
}

/** Whether records of this kind say something in words. */
export function isSaid({ type, text }: MemoryRecord): boolean {
  return (type === 'text' || type === 'chat' || type === 'audio') && text.trim() !== '';
}

/** Whether a record is an answer of the assistant: what it says is no news about anybody. */
function isAnswer({ metadata }: MemoryRecord): boolean {
  return metadata?.role === 'assistant' || metadata?.role === 'system' || metadata?.role === 'tool';
}

/** Takes names and facts from records, in their order. Linear in their texts. */
export async function readBatch(records: readonly MemoryRecord[], means: BatchMeans): Promise<BatchOutcome> {
  const { graph } = means.store.config;
  const said = records.filter((record) => isSaid(record) && !isAnswer(record));
  const book = new FactBook(means.store, means.likeness, means.run);
  const nodes = new Map<string, NewMemory>();
  let facts = 0;
  if (means.store.graph && graph?.entity_extraction !== false) {
    const namedIn = await means.byEncoder?.(said, means.signal);
    for (const source of said) {
      await breathe();
      means.signal.throwIfAborted();
      for (const finding of findingsIn(source)) if (await book.take(finding)) facts += 1;
      for (const node of await nodesIn(source, namedIn?.(source), means))
        nodes.set(JSON.stringify([node.node!.name, node.who?.user, node.who?.session]), node);
    }
    for (const { statement, source } of (await means.byModel?.(said, means.signal)) ?? []) {
      if (await book.take({ statement, source, by: 'model' })) facts += 1;
    }
  }
  const summaries = means.store.graph && means.store.config.consolidation?.extract_summaries ? summariesOf(said, means.run) : [];
  const { add, end } = book.changes;
  const fresh = [...nodes.values()];
  return { add: [...add, ...fresh, ...summaries], end, facts, nodes: fresh.length + summaries.length };
}

function* findingsIn(source: MemoryRecord): Generator<Finding> {
  const isSpeaker = source.provenance?.document === undefined;
  for (const statement of statementsIn({ text: source.text, atMs: source.timeMs, isSpeaker })) yield { statement, source, by: 'rules' };
}

async function nodesIn(source: MemoryRecord, named: readonly Entity[] | undefined, { store, run }: BatchMeans): Promise<NewMemory[]> {
  const nodes: NewMemory[] = [];
  for (const { name: written, type, by } of mentionsIn(source.text, named)) {
    if (!NODE_TYPES.has(type) || written.length > NODE_UNITS) continue;
    // A name that an encoder finds may go over the end of a line.
    const name = by === 'encoder' ? cleanName(written) : written;
    if (name === '' || (await hasNode(store, name, source))) continue;
    nodes.push({
      type: 'node',
      node: { name },
      data: { name, kind: type, found_by: by },
      text: name,
      timeMs: source.timeMs,
      ...(source.who ? { who: source.who } : {}),
      provenance: provenanceOf(source),
      metadata: { run },
    });
  }
  return nodes;
}

/** Whether a name has a node that comes from the same user and session; that of another goes when that one is forgotten. */
async function hasNode(store: MemoryStore, name: string, { who }: MemoryRecord): Promise<boolean> {
  const node = await store.graph!.node(name, who ?? {});
  return node !== undefined && node.who?.user === who?.user && node.who?.session === who?.session;
}

/** Records by user and session. What nobody says in the session of one user alone belongs to that user. */
function sessionsOf(said: readonly MemoryRecord[]): { who: Who; records: MemoryRecord[] }[] {
  const users = new Map<string, Set<string>>();
  for (const { who } of said)
    if (who?.session !== undefined && who.user !== undefined) users.set(who.session, (users.get(who.session) ?? new Set()).add(who.user));
  const sessions = new Map<string, { who: Who; records: MemoryRecord[] }>();
  for (const record of said) {
    const { session, user: speaker } = record.who ?? {};
    const [first, ...others] = users.get(session ?? '') ?? [];
    const user = speaker ?? (others.length === 0 ? first : undefined);
    const key = JSON.stringify([user ?? null, session ?? null]);
    const who = { ...(user === undefined ? {} : { user }), ...(session === undefined ? {} : { session }) };
    const known = sessions.get(key) ?? { who, records: [] };
    known.records.push(record);
    sessions.set(key, known);
  }
  return [...sessions.values()];
}

/** The sentences that say most of what a session was about, as a node of the graph, so that they outlive working memory. */
function summariesOf(said: readonly MemoryRecord[], run: string): NewMemory[] {
  return sessionsOf(said).flatMap(({ who, records }) => {
    const { sentences } = pickable(records.map(({ text }) => text).join('\n\n'), ...SENTENCE_UNITS);
    if (sentences.length < SUMMED_SENTENCES) return [];
    const scores = textrank(sentences, SUMMARY_SENTENCES);
    const best = [...sentences.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, SUMMARY_SENTENCES);
    const text = best
      .sort((a, b) => a - b)
      .map((at) => sentences[at]!.text)
      .join(' ');
    const [first, last] = [records[0]!, records.at(-1)!];
    const name = `Summary of ${new Date(first.timeMs).toISOString().slice(0, 16).replace('T', ' ')} (${first.id.slice(0, 8)})`;
    return {
      type: 'node',
      node: { name },
      data: { name, kind: 'SUMMARY', from_ms: first.timeMs, to_ms: last.timeMs },
      text,
      timeMs: last.timeMs,
      ...(Object.keys(who).length > 0 ? { who } : {}),
      provenance: { records: records.slice(0, SOURCES).map(({ id }) => id) },
      metadata: { run },
    };
  });
}

/** Code units of a record that the encoder reads; rules read on. */
const READ_UNITS = 8 * 1024;

/** Records that it reads at once. */
const RECORDS = 16;

/** Failures of one run after which it is asked no more. */
const FAILURES = 3;

/** An encoder that finds the names of texts. */
export interface NameFinder {
  /** What it is called in messages. */
  readonly model: string;
  /** Whether the project names it; one that nobody named may be absent. */
  readonly isChosen: boolean;
  /** The named things of each text. Throws `not_found` (code `ModelNotFound`) where the model is not here; downloads nothing. */
  find(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly Entity[])[]>;
}

/** What an encoder finds in records; nothing where it fails. */
export type ReadByEncoder = (records: readonly MemoryRecord[], signal: AbortSignal) => Promise<(record: MemoryRecord) => readonly Entity[]>;

/** Lets an encoder read the records of one run, each of them once. Where it is not here or fails, rules find names alone; the log tells of that once. */
export function readByEncoder({ model, isChosen, find }: NameFinder): ReadByEncoder {
  const found = new WeakMap<MemoryRecord, readonly Entity[]>();
  let failures = 0;
  return async (records, signal) => {
    const unread = records.filter((record) => !found.has(record));
    for (let from = 0; from < unread.length && failures < FAILURES; from += RECORDS) {
      const part = unread.slice(from, from + RECORDS);
      try {
        const texts = part.map(({ text }) => text.slice(0, READ_UNITS));
        for (const [at, entities] of (await find(texts, signal)).entries()) if (part[at]) found.set(part[at], entities);
      } catch (cause) {
        signal.throwIfAborted();
        const isMissing = cause instanceof Failure && cause.code === 'ModelNotFound';
        if (failures === 0 && (isChosen || !isMissing))
          log('warn', 'an encoder found no names in some memories; rules did', { model, cause });
        failures = isMissing ? FAILURES : failures + 1;
      }
    }
    return (record) => found.get(record) ?? [];
  };
}
