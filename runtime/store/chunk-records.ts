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
