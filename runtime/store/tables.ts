import type { StoredQuestion } from '../../schemas/generated/core/questions.js';
import type {
  ChunkRecord,
  CollectionRecord,
  ConversationFile,
  ConversationKey,
  ConversationMessage,
  ConversationOrderKey,
  ConversationRecord,
  DatabaseKey,
  DetectorRecord,
  DocumentRecord,
  EventHead,
  EventKey,
  ItemKey,
  ItemRecord,
  MemoryKey,
  MemoryLineKey,
  MemoryRecordKey,
  MemoryStoreRecord,
  ModelRecord,
  NamedModelRecord,
  RowKey,
  SegmentKey,
  SegmentRecord,
  SessionKey,
  SessionRecord,
  StoredEvent,
  StoredMemory,
  StoredResponse,
  StoredTurn,
  TableRecord,
  TaskKey,
  TaskRecord,
  WasteRecord,
} from './records.js';

/** Key and value of every table. Of format version 1 unless it says otherwise; a change of shape adds a migration. */
export interface Tables {
  /** `version` = format version of the whole store; `repairs` = how often its file was repaired; `scrubbed` says nothing. */
  meta: { key: string; value: number };
  sessions: { key: SessionKey; value: SessionRecord };
  turns: { key: readonly [run: number, place: number]; value: StoredTurn };
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
