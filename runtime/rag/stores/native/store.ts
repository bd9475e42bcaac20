import type { StoreType } from '../../../../schemas/generated/config/rag.js';
import type { Health } from '../../../base/health.js';
import { breathe, turn } from '../../../base/loop.js';
import type { DatabaseKey, DocumentRecord } from '../../../store/records.js';
import type { Store } from '../../../store/store.js';
import type { Chunk, EmbeddedChunk } from '../../contract.js';
import type { StoreAnswer, StoredDocument, StoreQuery, StoreStats, VectorStore } from '../contract.js';
import type { StoreOptions } from '../options.js';
import { checkChunks, checkQuery } from '../vectors.js';
import { Collection } from './collection.js';
import { FilterColumns } from './filter-columns.js';
import { Indexes } from './indexes.js';
import { ROWS_PER_TURN, sortInPieces } from './pacing.js';
import { IndexFiles } from './pair.js';
import { rowCount } from './rows.js';
import { search } from './search.js';

/** Where a database of our own lies. */
export interface NativePlace {
  readonly store: Store;
  readonly key: DatabaseKey;
  /** For the index files. */
  readonly folder: string;
}

/** Our own store: chunks and vectors in LMDB, with native indexes beside them. */
export class NativeStore implements VectorStore {
  readonly type: StoreType;
  readonly #options: StoreOptions;
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #files: IndexFiles;
  #indexes: Indexes;
  #columns: FilterColumns;
  #sorted: { generation: number; documents: readonly (readonly [hash: string, document: DocumentRecord])[] } | undefined;

  private constructor(options: StoreOptions, { store, folder }: NativePlace, collection: Collection) {
    this.type = options.type;
    this.#options = options;
    this.#store = store;
    this.#collection = collection;
    this.#files = new IndexFiles(folder);
    this.#indexes = new Indexes(store, collection, this.#files, options.metric);
    this.#columns = new FilterColumns(store, collection);
  }

  /** Reads the documents of a database, and loads or makes its indexes in the background. */
  static async open(options: StoreOptions, place: NativePlace): Promise<NativeStore> {
    return new NativeStore(options, place, await Collection.open(place.store, place.key));
  }

  /** As `VectorStore` says. */
  async add(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<{ stored: number; skipped: number }> {
    await checkChunks(this.#options, this.#collection.record.dimensions, chunks);
    const outcome = await this.#collection.add(chunks, !this.#options.deduplicate, signal);
    this.#indexes.follow();
    return outcome;
  }

  /** As `VectorStore` says. */
  async has(ids: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const id of ids) {
      if (this.#collection.rowOf(id) !== undefined) found.add(id);
      await breathe();
    }
    return found;
  }

  /** As `VectorStore` says. */
  async removeDocument(documentHash: string): Promise<number> {
    const removed = await this.#collection.remove(documentHash);
    this.#indexes.follow();
    return removed;
  }

  /** As `VectorStore` says. Until an index has caught up, vectors are compared one by one, and lexical questions wait for it. */
  async query(query: StoreQuery, signal: AbortSignal): Promise<StoreAnswer> {
    checkQuery(this.#options, this.#collection.record.dimensions, query);
    const { metric } = this.#options;
    const searched = { store: this.#store, collection: this.#collection, indexes: this.#indexes, columns: this.#columns, metric };
    return search(searched, query, signal);
  }

  /** As `VectorStore` says. */
  async documents(offset: number, limit: number): Promise<readonly StoredDocument[]> {
    const { generation } = this.#collection.record;
    if (this.#sorted?.generation !== generation) {
      const named = [...this.#collection.documents].map((entry) => ({ entry, name: entry[1].name.toLowerCase() }));
      const inOrder = await sortInPieces(named, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.entry[0] < b.entry[0] ? -1 : 1));
      this.#sorted = { generation, documents: inOrder.map(({ entry }) => entry) };
    }
    const page = this.#sorted.documents.slice(offset, offset + limit);
    const documents: StoredDocument[] = [];
    for (const [index, [documentHash, { rows }]] of page.entries()) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turn();
      const metadata = this.#collection.chunk(rows[0]![0])?.metadata ?? {};
      documents.push({ documentHash, chunks: rowCount(rows), metadata });
    }
    return documents;
  }

  /** As `VectorStore` says. */
  async documentChunks(documentHash: string, from: number, limit: number): Promise<Chunk[]> {
    const chunks: Chunk[] = [];
    let number = 0;
    for (const [first, count] of this.#collection.documents.get(documentHash)?.rows ?? []) {
      for (let at = Math.max(0, from - number); at < count && chunks.length < limit; at += 1) {
        const chunk = this.#collection.chunk(first + at);
        if (chunk) chunks.push(chunk);
        await breathe();
      }
      number += count;
    }
    return chunks;
  }

  /** As `VectorStore` says. */
  async chunkCounts(documentHashes: readonly string[]): Promise<number[]> {
    return documentHashes.map((hash) => rowCount(this.#collection.documents.get(hash)?.rows ?? []));
  }

  /** As `VectorStore` says. What is added or removed meanwhile may or may not come. */
  async *chunks(): AsyncGenerator<readonly EmbeddedChunk[]> {
    const { collection } = this.#collection.record;
    for (let start: readonly (string | number)[] = [collection]; ; ) {
      const page = this.#store.chunkIds.page({ start, end: [collection + 1], limit: ROWS_PER_TURN });
      const batch = page.flatMap(({ value: row }) => {
        const chunk = this.#collection.alive.has(row) ? this.#collection.chunk(row) : undefined;
        const vector = this.#collection.vector(row);
        return chunk && vector ? [{ ...chunk, vector }] : [];
      });
      if (batch.length > 0) yield batch;
      if (page.length < ROWS_PER_TURN) return;
      start = [collection, `${page.at(-1)!.key[1]}\u0000`];
      await turn();
    }
  }

  /** As `VectorStore` says. */
  async stats(): Promise<StoreStats> {
    const { alive, documents, contentBytes, record } = this.#collection;
    return {
      chunks: alive.size,
      documents: documents.size,
      dimensions: record.dimensions ?? this.#options.dimensions,
      metric: this.#options.metric,
      contentBytes,
      indexBytes: this.#indexes.pair?.bytes ?? 0,
      lastUpdated: record.updatedMs === 0 ? undefined : new Date(record.updatedMs).toISOString(),
    };
  }

  /** As `VectorStore` says. */
  async health(): Promise<Health> {
    const health = this.#store.health();
    if (health.status !== 'healthy') return health;
    const { trouble, end } = this.#indexes;
    const behind = this.#collection.settled - end;
    if (trouble !== undefined) return { status: 'degraded', message: `the indexes do not follow: ${trouble}` };
    if (behind > 0) return { status: 'degraded', message: `${behind} rows are being indexed; answers are exact meanwhile` };
    return { status: 'healthy', message: `${this.#collection.alive.size} chunks are indexed` };
  }

  /** As `VectorStore` says. Counts texts, vectors, and the indexes in memory and on disk. */
  async compact(): Promise<{ bytesBefore: number; bytesAfter: number }> {
    const bytesBefore = await this.#bytes();
    await this.#collection.swept();
    await this.#indexes.rebuild();
    return { bytesBefore, bytesAfter: await this.#bytes() };
  }

  /** As `VectorStore` says. */
  async reindex(): Promise<{ chunks: number }> {
    await this.#indexes.rebuild();
    return { chunks: this.#collection.alive.size };
  }

  /** As `VectorStore` says. */
  async drop(): Promise<void> {
    await this.#indexes.close({ save: false });
    try {
      await this.#collection.drop();
      await this.#files.remove();
    } finally {
      this.#indexes = new Indexes(this.#store, this.#collection, this.#files, this.#options.metric);
      this.#columns = new FilterColumns(this.#store, this.#collection);
      this.#sorted = undefined;
    }
  }

  /** As `VectorStore` says. */
  async close(): Promise<void> {
    await this.#collection.close();
    await this.#indexes.close();
  }

  async #bytes(): Promise<number> {
    return this.#collection.contentBytes + (this.#indexes.pair?.bytes ?? 0) + (await this.#files.size());
  }
}
