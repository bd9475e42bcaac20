import type { Transition } from '../../../base/state-machine.js';

/** Whether the records of a collection are as the disk has them, and whether it takes changes. */
export type CollectionState =
  /** The records in memory are those on the disk. */
  | 'open'
  /** Rows of an addition are being written; nobody sees them before its last write. */
  | 'adding'
  /** A write failed, so that the disk may have more than the memory: the records are to be read again. */
  | 'unsure'
  /** An addition that began before the end is still being written. */
  | 'closing'
  /** No chunks are added or removed any more. */
  | 'closed'
  /** As `closed`, and a write failed. */
  | 'closed-unsure';

/** What changes the state of a collection: an addition begins or ends, a write fails, the records were read again, or it is closed. */
export type CollectionEvent = 'add' | 'added' | 'failed' | 'read' | 'close';

/** Every transition of a collection. */
export const COLLECTION_TRANSITIONS: readonly Transition<CollectionState, CollectionEvent>[] = [
  ['open', 'add', 'adding'],
  ['open', 'failed', 'unsure'],
  ['open', 'close', 'closed'],
  ['adding', 'added', 'open'],
  ['adding', 'failed', 'unsure'],
  ['adding', 'close', 'closing'],
  ['unsure', 'read', 'open'],
  ['unsure', 'close', 'closed-unsure'],
  ['closing', 'added', 'closed'],
  ['closing', 'failed', 'closed-unsure'],
  ['closed', 'failed', 'closed-unsure'],
  ['closed-unsure', 'read', 'closed'],
];

/** What the indexes of a collection are fit for. */
export type IndexState =
  /** Nothing has been loaded. */
  | 'unopened'
  /** Their files are being loaded. */
  | 'opening'
  /** The collection has no rows, and there are no indexes. */
  | 'empty'
  /** They hold the rows before their end, and take what comes. */
  | 'following'
  /** Rows that were removed are being taken out of them. */
  | 'removing'
  /** They are of no use: they are to be made anew from the tables. */
  | 'stale'
  /** New ones are being opened, which begin without rows. */
  | 'rebuilding'
  /** Their memory was freed. */
  | 'closed';

/** What changes the state of indexes: work that begins, ends or fails, an order to make them anew, a collection without rows, or the end. */
export type IndexEvent = 'open' | 'opened' | 'remove' | 'removed' | 'failed' | 'rebuild' | 'empty' | 'close';

/** Every transition of indexes. */
export const INDEX_TRANSITIONS: readonly Transition<IndexState, IndexEvent>[] = [
  ['unopened', 'open', 'opening'],
  ['unopened', 'empty', 'empty'],
  ['unopened', 'rebuild', 'stale'],
  ['unopened', 'close', 'closed'],
  ['empty', 'open', 'opening'],
  ['empty', 'close', 'closed'],
  ['opening', 'opened', 'following'],
  ['opening', 'failed', 'unopened'],
  ['opening', 'rebuild', 'stale'],
  ['following', 'remove', 'removing'],
  ['following', 'rebuild', 'stale'],
  ['following', 'empty', 'empty'],
  ['following', 'close', 'closed'],
  ['removing', 'removed', 'following'],
  ['removing', 'failed', 'stale'],
  ['removing', 'rebuild', 'stale'],
  ['stale', 'open', 'rebuilding'],
  ['stale', 'empty', 'empty'],
  ['stale', 'close', 'closed'],
  ['rebuilding', 'opened', 'following'],
  ['rebuilding', 'failed', 'stale'],
];
