import { hash as hashed } from 'node:crypto';
import { log } from '../../base/log.js';
import { breathe } from '../../base/loop.js';
import type { Passage } from '../../documents/contract.js';
import { CheckedFile, CheckedWriter } from '../../documents/parsing/checked-file.js';
import type { PassageFile } from '../../documents/parsing/passage-file.js';
import type { Chunk, EmbeddedChunk } from '../../rag/contract.js';
import type { Embedder } from '../../rag/embedders/contract.js';
import type { VectorStore } from '../../rag/stores/contract.js';
import type { DatasetFile, IngestContext } from '../datasets/contract.js';
import { type Draft, STAGE_LIMITS, type Stages } from './stages.js';

const COMPONENT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The vectors of all passages of one file from an earlier run, in their order. */
class KeptVectors {
  readonly #file: CheckedFile;
  readonly #vectorBytes: number;

  private constructor(file: CheckedFile, vectorBytes: number) {
    this.#file = file;
    this.#vectorBytes = vectorBytes;
  }

  /** Opens what was kept as the stage `embed` for `count` passages; undefined where there is nothing of use. */
  static async open(stages: Stages, document: string, key: string, count: number): Promise<KeptVectors | undefined> {
    const path = await stages.find('embed', document, key);
    const file = path === undefined ? undefined : await CheckedFile.open(path);
    if (file === undefined) return undefined;
    if (file.sizeBytes > 0 && file.sizeBytes % (count * COMPONENT_BYTES) === 0) return new KeptVectors(file, file.sizeBytes / count);
    await file.close();
    return undefined;
  }

  /** The vectors of the passages `first` to `last`. Throws the system's error. */
  async between(first: number, last: number): Promise<Float32Array[]> {
    const count = last + 1 - first;
    const bytes = await this.#file.read(first * this.#vectorBytes, count * this.#vectorBytes);
    return Array.from({ length: count }, (_, index) => {
      const vector = new Float32Array(this.#vectorBytes / COMPONENT_BYTES);
      const start = index * this.#vectorBytes;
      new Uint8Array(vector.buffer).set(bytes.subarray(start, start + this.#vectorBytes));
      return vector;
    });
  }

  /** Ends reading. */
  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Writes the vectors of one file while they are made. A disk that refuses them costs nothing but time: none of its methods rejects. */
class VectorKeeper {
  readonly #draft: Draft;
  readonly #writer: CheckedWriter;
  #sizeBytes = 0;
  #wanted = true;

  private constructor(draft: Draft, writer: CheckedWriter) {
    this.#draft = draft;
    this.#writer = writer;
  }

  /** Begins; undefined where that cannot be. */
  static async begin(stages: Stages, document: string, key: string): Promise<VectorKeeper | undefined> {
    try {
      const draft = await stages.begin('embed', document, key);
      return new VectorKeeper(draft, await CheckedWriter.create(draft.path));
    } catch (error) {
      log('warn', 'vectors could not be kept', { error });
      return undefined;
    }
  }

  /** Appends the vectors of the next passages. */
  async add(vectors: readonly Float32Array[]): Promise<void> {
    this.#sizeBytes += vectors.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#wanted &&= this.#sizeBytes <= STAGE_LIMITS.largestBytes;
    if (!this.#wanted) return;
    try {
      for (const { buffer, byteOffset, byteLength } of vectors) await this.#writer.write(new Uint8Array(buffer, byteOffset, byteLength));
    } catch (error) {
      this.#wanted = false;
      log('warn', 'vectors could not be kept', { error });
    }
  }

  /** Keeps them when they are those of all passages; else nothing stays. */
  async end(complete: boolean): Promise<void> {
    try {
      if (complete && this.#wanted) {
        await this.#writer.end();
        return await this.#draft.keep();
      }
    } catch (error) {
      log('warn', 'vectors could not be kept', { error });
    }
    await this.#writer.discard();
    await this.#draft.drop();
  }
}

/** Chunks that are embedded and stored at a time. */
const BATCH_CHUNKS = 64;
/** Batches on their way to the disk while the next one is embedded. With the one in work, they are what a crash costs at most. */
const BATCHES_UNDER_WAY = 4;
/** What is embedded is stored, whatever is aborted: a batch is short. */
const UNDISTURBED = new AbortController().signal;

/** Where the passages of a file go, and by what. */
export interface FillingParts {
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
export class Filling {
  readonly #parts: FillingParts;
  readonly #underWay = new Set<Promise<void>>();
  #kept: KeptVectors | undefined;
  #keeper: VectorKeeper | undefined;
  #stored = 0;
  #skipped = 0;
  #embedded = 0;
  #begun = false;
  #trouble: { readonly error: unknown } | undefined;

  constructor(parts: FillingParts) {
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

/** What is the same for all chunks of one run over a file. */
export interface ChunkOrigin {
  readonly file: DatasetFile;
  readonly dataset: string;
  readonly time: Date;
}

/** SHA-256 in hex. */
export function sha256(text: string): string {
  return hashed('sha256', text);
}

/** The chunk of a passage, with its identity: the same file cut in the same way has the same ids. Parsing has said all else that is known of it. */
export function chunkOf(passage: Passage, origin: ChunkOrigin): Chunk {
  const { file, time } = origin;
  const { text, index } = passage;
  const hash = sha256(text.trim());
  const id = `doc_${file.hash.slice(0, 12)}_chunk_${index}_${hash.slice(0, 8)}`;
  const iso = time.toISOString();
  const place: Record<string, unknown> = {};
  if (passage.page !== undefined) place.page = passage.page;
  if (passage.headings.length > 0) place.headings = passage.headings;
  const identity = {
    id,
    chunk_id: id,
    chunk_hash: hash,
    content_hash: hash,
    document_hash: file.hash,
    file_hash: file.hash,
    source_hash: sha256(file.name),
    dataset: origin.dataset,
    ...(file.version === undefined ? {} : { file_version: file.version }),
    start_position: passage.start,
    end_position: passage.end,
    processing_timestamp: iso,
    ingestion_timestamp: iso,
    processing_date: iso.slice(0, 10),
    processing_time: iso.slice(11, 19),
  };
  // A spread of so many members takes ten times as long.
  return { id, documentHash: file.hash, text, metadata: Object.assign({}, passage.metadata, place, identity) };
}
