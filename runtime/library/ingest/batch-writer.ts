import { breathe } from '../../base/loop.js';
import type { Passage } from '../../documents/contract.js';
import type { PassageFile } from '../../documents/parsing/passage-file.js';
import type { Chunk, EmbeddedChunk } from '../../rag/contract.js';
import type { Embedder } from '../../rag/embedders/contract.js';
import type { VectorStore } from '../../rag/stores/contract.js';
import type { IngestContext } from '../datasets/contract.js';
import { type ChunkOrigin, chunkOf } from './chunk-identity.js';
import { KeptVectors, VectorKeeper } from './kept-vectors.js';
import type { Stages } from './stages.js';

/** Chunks that are embedded and stored at a time. */
const BATCH_CHUNKS = 64;
/** Batches on their way to the disk while the next one is embedded. With the one in work, they are what a crash costs at most. */
const BATCHES_UNDER_WAY = 4;
/** What is embedded is stored, whatever is aborted: a batch is short. */
const UNDISTURBED = new AbortController().signal;

/** Where the passages of a file go, and by what. */
export interface BatchWriterParts {
  readonly passages: PassageFile;
  readonly origin: ChunkOrigin;
  readonly store: VectorStore;
  readonly embedder: Embedder;
  readonly stages: Stages;
  /** Names the vectors of all passages. */
  readonly key: string;
  readonly context: IngestContext;
}

/** Puts the passages of one file into a store: while a batch is written, the next is embedded. */
export class BatchWriter {
  readonly #parts: BatchWriterParts;
  readonly #underWay = new Set<Promise<void>>();
  #kept: KeptVectors | undefined;
  #keeper: VectorKeeper | undefined;
  #stored = 0;
  #skipped = 0;
  #embedded = 0;
  #begun = false;
  #trouble: { readonly error: unknown } | undefined;

  constructor(parts: BatchWriterParts) {
    this.#parts = parts;
  }

  /** Ends when every chunk is on disk. Throws what embedder and store throw, and the reason of an abort; what was under way is stored then. */
  async run(): Promise<{ stored: number; skipped: number }> {
    const { passages } = this.#parts;
    try {
      for await (const batch of passages.batches(BATCH_CHUNKS)) await this.#take(batch);
    } finally {
      await Promise.all(this.#underWay);
      await this.#kept?.close();
      await this.#keeper?.end(this.#embedded === passages.summary.passages && this.#trouble === undefined);
    }
    this.#check();
    return { stored: this.#stored, skipped: this.#skipped };
  }

  async #take(passages: readonly Passage[]): Promise<void> {
    const { store, origin, context } = this.#parts;
    const chunks: Chunk[] = [];
    for (const passage of passages) {
      chunks.push(chunkOf(passage, origin));
      await breathe();
    }
    const there = await store.has(chunks.map(({ id }) => id));
    const missing = there.size === 0 ? chunks : chunks.filter(({ id }) => !there.has(id));
    this.#skipped += chunks.length - missing.length;
    if (missing.length === 0) return;
    await this.#begin();
    this.#check();
    context.signal.throwIfAborted();
    const vectors = await this.#vectorsOf(missing);
    // The first goes alone: a server makes the collection with it, and what does not fit its database shows at once.
    const most = this.#stored + this.#skipped === 0 ? 1 : BATCHES_UNDER_WAY;
    while (this.#underWay.size >= most) await Promise.race(this.#underWay);
    this.#check();
    const adding = this.#add(missing.map((chunk, at) => ({ ...chunk, vector: vectors[at]! }))).finally(() => this.#underWay.delete(adding));
    this.#underWay.add(adding);
  }

  /** Once, before the first chunk that is not there. */
  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const { stages, key, origin, passages, context } = this.#parts;
    this.#kept = await KeptVectors.open(stages, origin.file.hash, key, passages.summary.passages);
    if (!this.#kept && this.#skipped === 0) this.#keeper = await VectorKeeper.begin(stages, origin.file.hash, key);
    await context.willStore();
  }

  async #vectorsOf(chunks: readonly Chunk[]): Promise<Float32Array[]> {
    const { embedder, context } = this.#parts;
    if (this.#kept) {
      const [first, last] = [placeOf(chunks[0]!), placeOf(chunks.at(-1)!)];
      const all = await this.#kept.between(first, last);
      return chunks.map((chunk) => all[placeOf(chunk) - first]!);
    }
    const texts = chunks.map(({ text }) => text);
    const vectors = await embedder.embed(texts, 'document', 'bulk', context.signal);
    this.#embedded += vectors.length;
    await this.#keeper?.add(vectors);
    return vectors;
  }

  /** Never rejects: what went wrong is thrown when the next batch comes. */
  async #add(chunks: readonly EmbeddedChunk[]): Promise<void> {
    const { store, passages, context } = this.#parts;
    try {
      const { stored, skipped } = await store.add(chunks, UNDISTURBED);
      this.#stored += stored;
      this.#skipped += skipped;
      context.report({ done: this.#stored + this.#skipped, total: passages.summary.passages, stored: this.#stored });
    } catch (error) {
      this.#trouble ??= { error };
    }
  }

  #check(): void {
    if (this.#trouble) throw this.#trouble.error;
  }
}

/** The place of a chunk among the passages of its file. */
function placeOf({ metadata }: Chunk): number {
  return metadata.chunk_index as number;
}
