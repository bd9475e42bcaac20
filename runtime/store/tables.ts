import type { Message } from '../../schemas/generated/common.js';
import type { StoredQuestion } from '../../schemas/generated/core/questions.js';
import type { DetectorRecord, ModelRecord, SegmentKey, SegmentRecord, TableRecord } from './column-records.js';
import type {
  ChunkRecord,
  CollectionRecord,
  ConversationFile,
  ConversationKey,
  ConversationMessage,
  ConversationOrderKey,
  ConversationRecord,
  DatabaseKey,
  DocumentRecord,
  EventHead,
  EventKey,
  ItemKey,
  ItemRecord,
  MemoryKey,
  MemoryLineKey,
  MemoryRecordKey,
  MemoryStoreRecord,
  NamedModelRecord,
  RowKey,
  StoredEvent,
  StoredMemory,
  StoredResponse,
  TaskKey,
  TaskRecord,
  WasteRecord,
} from './records.js';

/** A session's address; an id means nothing outside its project. */
export type SessionKey = readonly [namespace: string, project: string, id: string];

/** What is kept about a session besides its turns. */
export interface SessionRecord {
  /** The session's own number: its turns lie under it, and a session that starts anew gets another. */
  run: number;
  /** Number of turns appended so far; the next one gets this as its place. */
  turns: number;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** Milliseconds since 1970 of the last turn. */
  lastActiveMs: number;
  /** What its client began it with, where that is remembered. */
  begunWith?: Record<string, unknown>;
}

/** One whole turn: what the client sent and what the model answered, in order. Never changed once written. */
export interface TurnRecord {
  messages: Message[];
  /** Milliseconds since 1970. */
  atMs: number;
}

/** Key and value of every table. Of format version 1 unless it says otherwise; a change of shape adds a migration. */
export interface Tables {
  /** `version` = format version of the whole store; `repairs` = how often its file was repaired; `scrubbed` says nothing. */
  meta: { key: string; value: number };
  sessions: { key: SessionKey; value: SessionRecord };
  turns: { key: readonly [run: number, place: number]; value: TurnRecord };
  /** Session numbers whose turns wait to be removed; the value is when that was decided, in milliseconds since 1970. */
  trash: { key: number; value: number };
  /** Since format 2. Read in whole at a start, which the cap on finished tasks keeps short. */
  tasks: { key: TaskKey; value: TaskRecord };
  /** Since format 2. The items of a task lie together, in their order. */
  taskItems: { key: ItemKey; value: ItemRecord };
  /** Since format 2, like the other tables of retrieval. */
  collections: { key: DatabaseKey; value: CollectionRecord };
  /** By file hash below the collection. */
  documents: { key: readonly [collection: number, documentHash: string]; value: DocumentRecord };
  chunks: { key: RowKey; value: ChunkRecord };
  /** Components as little-endian float32. */
  vectors: { key: RowKey; value: Uint8Array };
  /** The row of each chunk id; one that no document has means that the id is free. */
  chunkIds: { key: readonly [collection: number, id: string]; value: number };
  /** By the first row. */
  waste: { key: RowKey; value: WasteRecord };
  /** Whose namespaces are, where several people share a daemon: user ids by namespace. */
  namespaceOwners: { key: string; value: { owner: string; sinceMs: number } };
  /** Data buffers by name. */
  buffers: { key: string; value: TableRecord };
  /** Rows of data buffers and of streaming detectors, in the order in which they came. */
  segments: { key: SegmentKey; value: SegmentRecord };
  /** Streaming detectors by name. */
  detectors: { key: string; value: DetectorRecord };
  /** What each of them has learned. */
  detectorModels: { key: string; value: ModelRecord };
  /** What lists show of each event of the projects' logs. */
  eventHeads: { key: EventKey; value: EventHead };
  events: { key: readonly [namespace: string, project: string, id: string]; value: StoredEvent };
  /** Configurations that events refer to, without their secrets, by the hash of that. */
  eventConfigs: { key: readonly [namespace: string, project: string, hash: string]; value: Record<string, unknown> };
  /** What chat turns wait for, and since when, in milliseconds since 1970. */
  pausedTurns: {
    key: readonly [namespace: string, project: string, id: string];
    value: { atMs: number; sessionId: string | null; waiting: readonly object[]; decided: Readonly<Record<string, string>> };
  };
  /** What each of them goes on with. */
  pausedStates: { key: readonly [namespace: string, project: string, id: string]; value: object };
  memoryStores: { key: MemoryKey; value: MemoryStoreRecord };
  /** In the order in which they came to their store. */
  memories: { key: MemoryRecordKey; value: StoredMemory };
  /** Made of the records, in one transaction with them. */
  memoryLines: { key: MemoryLineKey; value: unknown };
  /** Small values beside the records of a store, by name. */
  memoryNotes: { key: readonly [owner: number, name: string]; value: unknown };
  /** Numbers of memory stores whose records wait to be removed; the value is when that was decided, in milliseconds since 1970. */
  memoryTrash: { key: number; value: number };
  /** Models that clients made of others, by name. */
  namedModels: { key: string; value: NamedModelRecord };
  /** By id, whose order is that of time. */
  responses: { key: string; value: StoredResponse };
  /** The bytes of each of them, about. */
  responseSizes: { key: string; value: number };
  conversations: { key: ConversationKey; value: ConversationRecord };
  /** The conversations in the order of their list. */
  conversationOrder: { key: ConversationOrderKey; value: true };
  /** By the number of the message, which its id ends with. */
  conversationMessages: { key: readonly [conversation: string, seq: number]; value: ConversationMessage };
  /** By the id of the attachment. */
  conversationFiles: { key: readonly [conversation: string, id: string]; value: ConversationFile };
  /** Conversations whose messages and files wait to be removed; the value is when that was decided, in milliseconds since 1970. */
  conversationTrash: { key: string; value: number };
  /** Test questions, by ids whose order is that of time. */
  questions: { key: readonly [namespace: string, project: string, id: string]; value: StoredQuestion };
}

/** A table's name. */
export type TableName = keyof Tables;

/** Every table, for opening and walking them. */
export const TABLE_NAMES = [
  'meta',
  'sessions',
  'turns',
  'trash',
  'tasks',
  'taskItems',
  'collections',
  'documents',
  'chunks',
  'vectors',
  'chunkIds',
  'waste',
  'namespaceOwners',
  'buffers',
  'segments',
  'detectors',
  'detectorModels',
  'eventHeads',
  'events',
  'eventConfigs',
  'pausedTurns',
  'pausedStates',
  'memoryStores',
  'memories',
  'memoryLines',
  'memoryNotes',
  'memoryTrash',
  'namedModels',
  'responses',
  'responseSizes',
  'conversations',
  'conversationOrder',
  'conversationMessages',
  'conversationFiles',
  'conversationTrash',
  'questions',
] as const satisfies readonly TableName[];
