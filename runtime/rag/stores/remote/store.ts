import { loadCore } from '../../../../native/loader.js';
import type { StoreType } from '../../../../schemas/generated/config/rag.js';
import type { Health } from '../../../base/health.js';
import { log } from '../../../base/log.js';
import type { Metadata } from '../../../documents/contract.js';
import { stopWordsOf } from '../../../documents/text/stop-words.js';
import { wordsOf } from '../../../documents/text/words.js';
import type { Chunk, EmbeddedChunk, Hit } from '../../contract.js';
import type { StoreAnswer, StoredDocument, StoreQuery, StoreStats, VectorStore } from '../contract.js';
import { type Condition, conditionsOf, documentName, indexedText, passesAll } from '../metadata.js';
import type { StoreOptions } from '../options.js';
import { checkChunks, checkQuery, MAX_HITS, scoreOf } from '../vectors.js';
import { batches, type CollectionClient } from './client.js';

/** Words of a question that a server is asked for. */
const MOST_WORDS = 32;
/** A word is looked for by its beginning, so that its other forms are found: so many characters less, but no fewer than the second. */
const CUT = 3;
const LEAST = 4;

/** How the words of a question begin, in lower case, for a server that knows texts but no stems. */
export function beginningsOf(question: string): string[] {
  const stopWords = stopWordsOf('en');
  const words = wordsOf(question)
    .flatMap(({ text }) => text.toLowerCase().split(/[-_'’]/))
    .filter((word) => word !== '');
  const telling = words.filter((word) => !stopWords.has(word));
  const beginnings = (telling.length > 0 ? telling : words).map((word) => word.slice(0, Math.max(LEAST, word.length - CUT)));
  return [...new Set(beginnings)].slice(0, MOST_WORDS);
}

/** The `k` best of some chunks by BM25 over these chunks alone; those without a word of the question are left out. */
export async function rankedByWords(chunks: readonly Chunk[], question: string, k: number): Promise<Hit[]> {
  if (chunks.length === 0) return [];
  const index = loadCore().openTextIndex({ language: 'english' });
  try {
    await index.add(Uint32Array.from(chunks.keys()), chunks.map(indexedText));
    const { ids, scores } = await index.search(question, k);
    return [...ids].map((id, at) => ({ ...chunks[id]!, score: scores[at]! }));
  } finally {
    await index.close();
  }
}

/** Asked for more by this when a filter, which the server takes in part only, left too few. */
const WIDENING = 4;

/** Chunks that a lexical question is ranked over. A question of common words finds more, and then sees some of them. */
const MOST_CANDIDATES = 1024;
/** Of a lexical question. */
const MOST_CHARACTERS = 1024;
const NOTHING: Ranked = { hits: [], plan: { plan: 'none' } };

interface Ranked {
  readonly hits: readonly Hit[];
  readonly plan: Metadata;
}

/** A store whose chunks lie on a server, which knows vectors and finds words, but does not rank by them. */
export class RemoteStore implements VectorStore {
  readonly type: StoreType;
  readonly #options: StoreOptions;
  readonly #client: CollectionClient;
  #lastUpdated: string | undefined;

  constructor(options: StoreOptions, client: CollectionClient) {
    this.type = options.type;
    this.#options = options;
    this.#client = client;
  }

  /** As `VectorStore` says; what a failed call has stored is removed again, as far as the server can be reached. */
  async add(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<{ stored: number; skipped: number }> {
    await checkChunks(this.#options, await this.#client.dimensions(), chunks);
    signal.throwIfAborted();
    const unique = [...new Map([...chunks].reverse().map((chunk) => [chunk.id, chunk])).values()].reverse();
    const known = await this.has(unique.map(({ id }) => id));
    const fresh = this.#options.deduplicate ? unique.filter(({ id }) => !known.has(id)) : unique;
    if (fresh.length > 0) {
      await this.#client.prepare(fresh[0]!.vector.length);
      await this.#put(fresh, known, signal);
      this.#lastUpdated = new Date().toISOString();
    }
    return { stored: fresh.length, skipped: chunks.length - fresh.length };
  }

  /** As `VectorStore` says. */
  async has(ids: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const batch of batches(ids)) for (const id of await this.#client.existing(batch)) found.add(id);
    return found;
  }

  /** As `VectorStore` says. */
  async removeDocument(documentHash: string): Promise<number> {
    const removed = await this.#client.eraseDocument(documentHash);
    if (removed > 0) this.#lastUpdated = new Date().toISOString();
    return removed;
  }

  /**
   * As `VectorStore` says. The server has no lexical ranking: chunks with words of the question are fetched, a bounded number of them, and
   * ranked here by BM25 over these; the plan says how many they were.
   */
  async query(query: StoreQuery, signal: AbortSignal): Promise<StoreAnswer> {
    checkQuery(this.#options, await this.#client.dimensions(), query);
    const { vector, text, k } = query;
    const conditions = conditionsOf(query.filter ?? {});
    const [dense, lexical] = await Promise.all([
      vector === undefined ? NOTHING : this.#dense(vector, k, conditions, signal),
      text === undefined ? NOTHING : this.#lexical(text, k, conditions, signal),
    ]);
    const filter = { conditions: conditions.length };
    return { dense: dense.hits, lexical: lexical.hits, plan: { dense: dense.plan, lexical: lexical.plan, filter } };
  }

  async #dense(vector: Float32Array, k: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Ranked> {
    for (let limit = k; ; limit = Math.min(MAX_HITS, limit * WIDENING)) {
      const found = await this.#client.nearest(vector, limit, conditions, signal);
      const passed = found.filter(({ chunk }) => passesAll(conditions, chunk.metadata));
      if (passed.length < k && found.length >= limit && limit < MAX_HITS) continue;
      const hits = passed.slice(0, k).map(({ chunk, raw }): Hit => ({ ...chunk, score: scoreOf(this.#options.metric, raw) }));
      return { hits, plan: { plan: 'server', host: this.#client.host, fetched: found.length } };
    }
  }

  async #lexical(text: string, k: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Ranked> {
    const beginnings = beginningsOf(text);
    const plan = { plan: 'bm25 over fetched chunks', host: this.#client.host, words: beginnings };
    if (beginnings.length === 0) return { hits: [], plan: { ...plan, fetched: 0, all: true } };
    const found = await this.#client.matching(beginnings, MOST_CANDIDATES, conditions, signal);
    const passed = found.filter(({ metadata }) => passesAll(conditions, metadata));
    const hits = await rankedByWords(passed, text.slice(0, MOST_CHARACTERS), k);
    return { hits, plan: { ...plan, fetched: found.length, all: found.length < MOST_CANDIDATES } };
  }

  /** As `VectorStore` says; reads the metadata of all chunks. */
  async documentChunks(documentHash: string, from: number, limit: number): Promise<Chunk[]> {
    const found: Chunk[] = [];
    for await (const page of this.#client.list()) found.push(...page.filter((chunk) => chunk.documentHash === documentHash));
    const placeOf = ({ metadata }: Chunk): number => Number(metadata.chunk_index ?? 0);
    return found.sort((a, b) => placeOf(a) - placeOf(b)).slice(from, from + limit);
  }

  /** As `VectorStore` says; reads the metadata of all chunks. */
  async documents(offset: number, limit: number): Promise<readonly StoredDocument[]> {
    const documents = [...(await this.#documents()).values()].map((document) => ({
      document,
      name: documentName(document.metadata).toLowerCase(),
    }));
    documents.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.document.documentHash < b.document.documentHash ? -1 : 1));
    return documents.slice(offset, offset + limit).map(({ document }) => document);
  }

  /** As `VectorStore` says. */
  async *chunks(): AsyncGenerator<readonly EmbeddedChunk[]> {
    const ids: string[] = [];
    for await (const page of this.#client.list()) ids.push(...page.map(({ id }) => id));
    for (const batch of batches(ids.sort())) {
      const chunks = await this.#client.fetch(batch);
      yield chunks.sort((a, b) => (a.id < b.id ? -1 : 1));
    }
  }

  /** As `VectorStore` says; reads the metadata of all chunks. The size of the server's index is not known. */
  async stats(): Promise<StoreStats> {
    const dimensions = (await this.#client.dimensions()) ?? this.#options.dimensions;
    let contentBytes = 0;
    const documents = new Set<string>();
    for await (const page of this.#client.list()) {
      for (const { documentHash, text } of page) {
        documents.add(documentHash);
        contentBytes += Buffer.byteLength(text) + (dimensions ?? 0) * Float32Array.BYTES_PER_ELEMENT;
      }
    }
    const chunks = await this.#client.count();
    const { metric } = this.#options;
    return { chunks, documents: documents.size, dimensions, metric, contentBytes, indexBytes: 0, lastUpdated: this.#lastUpdated };
  }

  /** As `VectorStore` says. */
  async health(): Promise<Health> {
    try {
      await this.#client.ping();
      return { status: 'healthy', message: `${this.#client.host} answers` };
    } catch (error) {
      return { status: 'unhealthy', message: (error as Error).message };
    }
  }

  /** The server sees to its space itself: nothing changes. */
  async compact(): Promise<{ bytesBefore: number; bytesAfter: number }> {
    const { contentBytes } = await this.stats();
    return { bytesBefore: contentBytes, bytesAfter: contentBytes };
  }

  /** The server sees to its indexes itself: nothing changes. */
  async reindex(): Promise<{ chunks: number }> {
    return { chunks: await this.#client.count() };
  }

  /** As `VectorStore` says. */
  async drop(): Promise<void> {
    await this.#client.drop();
  }

  /** Nothing is held. */
  async close(): Promise<void> {}

  async #put(chunks: readonly EmbeddedChunk[], known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const parts = batches(chunks);
    let begun = 0;
    try {
      for (const part of parts) {
        begun += 1;
        await this.#client.put(part, signal);
      }
    } catch (error) {
      const written = parts.slice(0, begun).flatMap((part) => part.map(({ id }) => id).filter((id) => !known.has(id)));
      for (const ids of batches(written)) {
        await this.#client.erase(ids).catch((cause: unknown) => {
          log('warn', `part of a failed addition may be left on ${this.#client.host}`, { cause });
        });
      }
      throw error;
    }
  }

  async #documents(): Promise<Map<string, StoredDocument>> {
    const documents = new Map<string, StoredDocument & { first: string }>();
    for await (const page of this.#client.list()) {
      for (const { id, documentHash, metadata } of page) {
        const known = documents.get(documentHash);
        const first = known === undefined || id < known.first ? { first: id, metadata } : { first: known.first, metadata: known.metadata };
        documents.set(documentHash, { documentHash, chunks: (known?.chunks ?? 0) + 1, ...first });
      }
    }
    return new Map([...documents].map(([hash, { first: _, ...document }]) => [hash, document]));
  }
}
