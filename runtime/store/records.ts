import type { Message as ChatMessage } from '../../schemas/generated/common.js';
import type { Message, Settings } from '../../schemas/generated/core/conversations.js';
import type { EventItem, EventRecord } from '../../schemas/generated/core/events.js';
import type { Options } from '../../schemas/generated/universal/ollama.js';

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
export interface StoredTurn {
  messages: ChatMessage[];
  /** Milliseconds since 1970. */
  atMs: number;
}

/** Address of a retrieval database. */
export type DatabaseKey = readonly [namespace: string, project: string, database: string];

/** A place of a chunk: the number of its collection, and its row, which no other chunk of the collection ever gets. */
export type RowKey = readonly [collection: number, row: number];

/** Rows `first` to `first + count - 1`. */
export type RowRange = readonly [first: number, count: number];

/** The collection that a database has now; a collection that starts anew gets another number. */
export interface CollectionRecord {
  collection: number;
  /** Grows with every change. */
  generation: number;
  /** Rows given out so far, below 2^32. */
  nextRow: number;
  /** Of the vectors; undefined until the first. */
  dimensions?: number;
  /** Milliseconds since 1970. */
  updatedMs: number;
  /** The newest index files: the generation in their names, and the rows that they know. */
  snapshot?: { generation: number; rows: number };
}

/** A document with the rows of its chunks. A row exists when a document has it; whatever else lies in the tables is waste. */
export interface DocumentRecord {
  /** As the user calls it. */
  name: string;
  rows: RowRange[];
  /** Of the texts and the vectors. */
  bytes: number;
}

/** A chunk without its vector. */
export interface ChunkRecord {
  id: string;
  documentHash: string;
  text: string;
  metadata: Record<string, unknown>;
}

/** Rows that wait to be removed from the tables. `whole`: all of the collection, its documents too. */
export interface WasteRecord {
  count: number;
  whole?: boolean;
}

/** A model that a client made of another one: a name with settings. */
export interface NamedModelRecord {
  /** The model of this machine that it is made of, never another of these. */
  readonly from: string;
  readonly system?: string;
  /** Jinja text, a file or a known name, as `chat_template` takes it. */
  readonly template?: string;
  /** As it was given, where that was in another language. */
  readonly givenTemplate?: string;
  /** Paths or names of its LoRA adapters, at most 8. */
  readonly adapters?: readonly string[];
  /** By Ollama's names. */
  readonly parameters: Options;
  /** Come before those of each chat. */
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly license: readonly string[];
  /** Milliseconds since 1970 of its creation or last change. */
  readonly atMs: number;
}

/** An answer of the responses API, with what it was asked. */
export interface StoredResponse {
  /** As it was sent. */
  readonly response: Readonly<Record<string, unknown>>;
  /** Items of this turn alone, each with an id. */
  readonly input: readonly Readonly<Record<string, unknown>>[];
  readonly output: readonly Readonly<Record<string, unknown>>[];
  /** The response that it went on from. */
  readonly previous?: string;
  /** Of each item of `output`, in which pieces it was streamed; what older versions stored lacks it. */
  readonly pieces?: readonly ItemPieces[];
}

/** In which pieces an item of a response was written, so that its events can be made again. */
export interface ItemPieces {
  /** Of each piece, in UTF-16 units. */
  readonly lengths: readonly number[];
  /** How many logprobs came with each piece; absent without any. */
  readonly logprobCounts?: readonly number[];
}

/** Address of an event in the order of its project: `atMs` = milliseconds since 1970 when it began. */
export type EventKey = readonly [namespace: string, project: string, atMs: number, id: string];

/** What lists show of an event, so that they need not read it. */
export interface EventHead {
  readonly item: EventItem;
  /** What its records take on disk, about. */
  readonly bytes: number;
}

/** An event as it is stored; `events`, which repeats `sub_events`, is left out. */
export type StoredEvent = Omit<EventRecord, 'events'>;

/** Address of a memory store. */
export type MemoryKey = readonly [namespace: string, project: string, store: string];

/** What is kept about a memory store beside its records. */
export interface MemoryStoreRecord {
  /** Its own number: its records lie under it, and a store that starts anew gets another. */
  owner: number;
  /** The number that its next record gets, from 1. */
  nextSeq: number;
  /** When its newest record came, in milliseconds since 1970. */
  newestMs: number;
  /** What its indexes were made by; another value means that they are made anew. */
  shape: string;
  /** How many records there are, how many each kind keeps, and so on, by name. */
  counts: Record<string, number>;
}

/** Address of a record: the number of its store, and its own. */
export type MemoryRecordKey = readonly [owner: number, seq: number];

/** A record of a memory store without its number; `runtime/memory/contract.ts` says what its members mean. */
export interface StoredMemory {
  id: string;
  type: string;
  data: unknown;
  text: string;
  timeMs: number;
  addedMs: number;
  kinds: readonly string[];
}

/** A line of an index of a memory store: its number, the index's name, what orders the lines, and the record's number. */
export type MemoryLineKey = readonly [owner: number, index: string, ...key: (string | number)[]];

/** Address of a task: it exists only in the project that started it. */
export type TaskKey = readonly [namespace: string, project: string, id: string];

/** Address of an item: the id of its task, and its place among the items from 0. */
export type ItemKey = readonly [taskId: string, index: number];

/** What a cancellation removed again. */
export interface Cleanup {
  reverted: number;
  failed: number;
  errors: { file_hash: string; error: string }[];
}

/** One task as the store keeps it; its items have their own records. Times are milliseconds since 1970. */
export interface TaskRecord {
  kind: string;
  /** Of several items, each with its own outcome; else the task is its one item. */
  group: boolean;
  /** `preparing` until all items are stored: a task that is found so at a start was never acknowledged, and is removed. */
  phase: 'preparing' | 'open' | 'finished';
  /** Number of items. */
  total: number;
  /** What all items share; goes to each run. */
  shared: Record<string, unknown>;
  /** The result of a task without items. */
  result?: Record<string, unknown>;
  createdMs: number;
  startedMs?: number;
  finishedMs?: number;
  /** Set once, by the first cancellation. */
  cancelled?: { atMs: number; pending: number; running: number; cleanup?: Cleanup };
}

/** What one item came to; `info` is shown to clients as it is. */
export interface ItemOutcome {
  status: 'success' | 'skipped' | 'failed';
  stored: number;
  skipped: number;
  info: Record<string, unknown>;
}

/** One item of a task. An item that failed is the dead letter: it keeps its input and the reason, and nothing tries it again. */
export interface ItemRecord {
  /** What the item is about, such as a file hash. */
  key: string;
  /** As the user calls it. */
  name: string;
  input: Record<string, unknown>;
  /** What is pending in a cancelled task never runs. */
  state: 'pending' | 'running' | 'done' | 'failed';
  /** Runs that ended with an error that may pass. */
  attempts: number;
  /** Runs that never ended, because the process did; counted since the last progress. */
  interruptions: number;
  /** Not to be run before this moment. */
  notBeforeMs?: number;
  /** The run has changed something that a cancellation must take back. */
  touched?: boolean;
  /** Of an item that is done. */
  outcome?: ItemOutcome;
  /** Why the last run failed. */
  error?: string;
}

/** Address of a conversation; `owner` is the id of the user whose it is, empty where there are no accounts. */
export type ConversationKey = readonly [namespace: string, project: string, owner: string, id: string];

/** Its place in the list: 0 or 1 for archived and for pinned, then when it changed, in milliseconds since 1970. */
export type ConversationOrderKey = readonly [
  namespace: string,
  project: string,
  owner: string,
  archived: number,
  pinned: number,
  updatedMs: number,
  id: string,
];

/** What is kept about a conversation beside its messages. */
export interface ConversationRecord {
  /** Empty until somebody or the first question gives one. */
  title: string;
  createdMs: number;
  updatedMs: number;
  pinned: boolean;
  archived: boolean;
  settings: Settings;
  preview: string;
  current: string | null;
  /** Messages that are there. */
  messages: number;
  /** The number of the next message, in the order in which they come. */
  nextSeq: number;
  /** Of messages and attachments, about. */
  bytes: number;
  /** What clients named their last turns, each with the id of the answer. */
  turns: (readonly [clientId: string, answer: string])[];
}

/** A message as it is stored. */
export interface ConversationMessage {
  message: Message;
  /** The calls of servers' tools and their results that came before the answer, as the model is given them again. */
  between?: ChatMessage[];
}

/** A file beside a message. */
export interface ConversationFile {
  name: string;
  mediaType: string;
  bytes: Uint8Array;
}

/** A data buffer. */
export interface TableRecord {
  /** Its own number: its segments lie under it, and a table that starts anew gets another. */
  owner: number;
  /** The newest so many rows are kept. */
  windowSize: number;
  /** Milliseconds since 1970. */
  createdMs: number;
}

/** Address of a segment: the table's number, and the number of its first row, counted from the first that was ever appended. */
export type SegmentKey = readonly [owner: number, row: number];

/** Some columns' values: name, kind, validity bits, numbers as little-endian float64, text offsets as little-endian int32, UTF-8. */
export type StoredColumn = [
  name: string,
  kind: string,
  valid: Uint8Array | null,
  numbers: Uint8Array | null,
  offsets: Uint8Array | null,
  bytes: Uint8Array | null,
];

/** Rows that were appended together, or of several such segments. */
export interface SegmentRecord {
  rows: number;
  columns: StoredColumn[];
}

/** What a streaming detector was made with. */
export interface DetectorSettings {
  backend: string;
  minSamples: number;
  retrainInterval: number;
  windowSize: number;
  contamination: number;
  normalization: 'standardization' | 'zscore' | 'raw';
  /** Null: the share of `contamination` in what was learned. */
  threshold: number | null;
  rollingWindows: number[];
  lags: number[];
  /** How fields become numbers. */
  schema: Record<string, string> | null;
}

/** A streaming detector, without its rows and its model. */
export interface DetectorRecord {
  /** Its segments lie under this number. */
  owner: number;
  settings: DetectorSettings;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** Samples since it was made or reset. */
  total: number;
  /** Samples that the model has not learned from. */
  sinceTraining: number;
  /** Scored samples above the threshold. */
  anomalies: number;
  /** Values of keys that the model does not know. */
  ignored: number;
  /** Trainings that failed. */
  failures: number;
  /** Trainings that succeeded; 0 = still collecting. */
  version: number;
  /** Keys that the model knows; empty while collecting. */
  columns: string[];
  /** Rows that the model learned from, by bin of their scores. */
  expected: number[];
  /** Samples scored since then, by the same bins. */
  recent: number[];
  /** The threshold in use; null while it is not known. */
  threshold: number | null;
}

/** A trained model with what its scores are compared to. */
export interface ModelRecord {
  /** Their values are a sample's numbers, in this order. */
  columns: string[];
  /** Had a value in every row that was learned from. */
  required: string[];
  /** Of the raw scores of the rows that were learned from; the deviation is of the population. */
  mean: number;
  deviation: number;
  /** The raw score that the share of `contamination` of those rows is above. */
  cut: number;
  /** Upper bounds of all bins of raw scores but the last. */
  edges: number[];
  /** Numbers, texts, and arrays by their type (`f64` or `i32`) and little-endian bytes. */
  state: Record<string, number | string | [type: 'f64' | 'i32', bytes: Uint8Array]>;
}
