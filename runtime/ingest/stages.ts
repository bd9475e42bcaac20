import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { log } from '../log.js';

/** How much is kept. */
export const STAGE_LIMITS = {
  /** Results of one project together; the ones used longest ago go first. */
  mostBytes: 512 * 1024 * 1024,
  /** A larger result is not kept. */
  largestBytes: 64 * 1024 * 1024,
} as const;
const CHECKSUM_BYTES = 32;
/** Bytes that are summed before others may run. */
const BYTES_PER_TURN = 1024 * 1024;

/**
 * Results of ingestion stages, by what they were made of, so that unchanged work is not done again. They can all be made anew: what is
 * damaged counts as absent, and a disk that refuses one costs nothing but time.
 */
export class Stages {
  readonly #folder: string;
  readonly #limits: { readonly mostBytes: number; readonly largestBytes: number };
  /** What is kept, as far as known. */
  #sizeBytes: number | undefined;

  /** `directory` is the project's. */
  constructor(directory: string, limits: { readonly mostBytes: number; readonly largestBytes: number } = STAGE_LIMITS) {
    this.#limits = limits;
    this.#folder = join(directory, 'lf_data', 'stages');
  }

  /** The result of a stage, or undefined. */
  async read(stage: string, key: string): Promise<Buffer | undefined> {
    const path = this.#path(stage, key);
    try {
      const bytes = await readFile(path);
      const content = bytes.subarray(CHECKSUM_BYTES);
      if (bytes.length < CHECKSUM_BYTES || !(await checksum([content])).equals(bytes.subarray(0, CHECKSUM_BYTES))) return undefined;
      const now = new Date();
      await utimes(path, now, now);
      return content;
    } catch {
      return undefined;
    }
  }

  /** Keeps the result of a stage, given in pieces. Never rejects. */
  async write(stage: string, key: string, pieces: readonly Uint8Array[]): Promise<void> {
    const sizeBytes = CHECKSUM_BYTES + pieces.reduce((sum, { length }) => sum + length, 0);
    if (sizeBytes > this.#limits.largestBytes) return;
    const path = this.#path(stage, key);
    // Two runs over the same file may come to the same result at the same time.
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      // Not flushed: what a crash leaves of it does not match its checksum.
      await writeFile(draft, [await checksum(pieces), ...pieces], { mode: 0o600 });
      await rename(draft, path);
      this.#sizeBytes = this.#sizeBytes === undefined ? await this.#total() : this.#sizeBytes + sizeBytes;
      if (this.#sizeBytes > this.#limits.mostBytes) this.#sizeBytes = await this.#evict();
    } catch (error) {
      log('warn', 'a stage of ingestion could not be kept', { path, error });
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  async #files(): Promise<{ path: string; size: number; mtimeMs: number }[]> {
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    const files = [];
    for (const path of paths) {
      const { size, mtimeMs } = await stat(path);
      files.push({ path, size, mtimeMs });
    }
    return files;
  }

  async #total(): Promise<number> {
    return (await this.#files()).reduce((sum, { size }) => sum + size, 0);
  }

  async #evict(): Promise<number> {
    const files = (await this.#files()).sort((a, b) => a.mtimeMs - b.mtimeMs);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of files) {
      if (total <= this.#limits.mostBytes) break;
      await rm(path, { force: true });
      total -= size;
    }
    return total;
  }

  #path(stage: string, key: string): string {
    return join(this.#folder, `${stage}-${createHash('sha256').update(key).digest('hex')}`);
  }
}

async function checksum(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const hash = createHash('sha256');
  let waiting = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += BYTES_PER_TURN) {
      const stretch = piece.subarray(from, from + BYTES_PER_TURN);
      hash.update(stretch);
      waiting += stretch.length;
      if (waiting < BYTES_PER_TURN) continue;
      waiting = 0;
      await turn();
    }
  }
  return hash.digest();
}
