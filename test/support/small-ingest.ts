import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileOutcome, Ingest, IngestContext, IngestRequest } from '../../runtime/library/datasets/contract.js';
import type { Chunk } from '../../runtime/rag/contract.js';
import { Failure } from '../../schemas/errors.js';

/**
 * A small ingestion that really works: one chunk per line of a text file, each a file below `root/{database}/{hash}`; every chunk added is a
 * line of `root/added`. Files that start with `%broken` cannot be read; while `isDown`, the embedder does not answer.
 */
export class SmallIngest implements Ingest {
  isDown = false;
  /** Databases that cannot be changed. */
  readonly locked = new Set<string>();
  /** Time for each chunk. */
  chunkMs = 0;
  readonly requests: IngestRequest[] = [];
  /** Documents of which nothing may be kept; it keeps nothing besides chunks. */
  readonly forgotten: string[] = [];
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async ingest(request: IngestRequest, { signal, willStore, report }: IngestContext): Promise<FileOutcome> {
    this.requests.push(request);
    const { database, file } = request;
    const text = await readFile(file.path, 'utf8');
    if (text === '') return this.#outcome('failed', 'the file is empty', 0, 0);
    if (text.startsWith('%broken')) return this.#outcome('failed', 'the file is damaged', 0, 0);
    if (this.isDown) throw new Failure('unavailable', 'The embedder does not answer.');
    const lines = text.split('\n').filter((line) => line !== '');
    const folder = join(this.#root, database, file.hash);
    await mkdir(folder, { recursive: true });
    let [stored, skipped] = [0, 0];
    for (const [index] of lines.entries()) {
      signal.throwIfAborted();
      if (this.chunkMs > 0) await sleep(this.chunkMs, undefined, { signal });
      const path = join(folder, String(index));
      if (existsSync(path)) skipped += 1;
      else {
        if (stored === 0) await willStore();
        // The order of a store: what is acknowledged is on disk, once.
        await appendFile(path, 'x');
        await appendFile(join(this.#root, 'added'), `${database} ${file.hash} ${index}\n`);
        stored += 1;
      }
      report({ done: index + 1, total: lines.length, stored });
    }
    return stored === 0 ? this.#outcome('skipped', 'duplicate', 0, skipped) : this.#outcome('success', null, stored, skipped);
  }

  async documentChunks({ documentHash }: { documentHash: string }): Promise<Chunk[]> {
    const numbers = [...Array(await this.chunks('main_db', documentHash)).keys()];
    return numbers.map((number) => ({ id: `${documentHash}-${number}`, documentHash, text: `line ${number}`, metadata: {} }));
  }

  async removeDocument({ database, documentHash }: { database: string; documentHash: string }): Promise<number> {
    if (this.locked.has(database)) throw new Error('the database is locked by somebody');
    const folder = join(this.#root, database, documentHash);
    const chunks = await this.chunks(database, documentHash);
    await rm(folder, { recursive: true, force: true });
    return chunks;
  }

  async forgetDocuments({ documentHashes }: { documentHashes: readonly string[] }): Promise<void> {
    this.forgotten.push(...documentHashes);
  }

  /** Chunks that a database has of a document. */
  async chunks(database: string, hash: string): Promise<number> {
    return (await readdir(join(this.#root, database, hash)).catch(() => [])).length;
  }

  #outcome(status: FileOutcome['status'], reason: string | null, storedCount: number, skippedCount: number): FileOutcome {
    return {
      status,
      reason,
      parser: 'TextParser',
      extractors: ['HeadingExtractor'],
      chunks: storedCount + skippedCount,
      chunkSize: 1000,
      embedder: 'LexicalEmbedder',
      storedCount,
      skippedCount,
      documentCount: 1,
      documentIds: [],
      warnings: [],
    };
  }
}
