import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../schemas/errors.js';

/** The file grows by this much more than is needed, so that growing is rare. */
const STEP_BYTES = 2 ** 20;
/** Of a large file it grows by this share, up to a limit. */
const STEP_SHARE = 1 / 16;
const MOST_STEP_BYTES = 2 ** 25;
/** Below this the disk counts as nearly full: `/health` says so, and no copies are made. */
export const LOW_DISK_BYTES = 2 ** 28;
/** Space that must stay free: copy-on-write file systems need some even to overwrite. */
const MIN_FREE_BYTES = 2 ** 20;
/** Zeros are written in pieces of this size. */
const PIECE = Buffer.alloc(2 ** 18);
/** Pages that any transaction may rewrite: the paths to its records in every table, and the free list. */
const PAGES_PER_COMMIT = 64;
/** Pages that one change may rewrite besides those that its value fills. */
const PAGES_PER_CHANGE = 3;

/** How far the file is in use. */
export interface Usage {
  lastPageNumber: number;
  pageSize: number;
}

/** The most bytes that a transaction with these values can add to a file with pages of `pageSize` bytes. */
function spaceNeeded(valueSizes: readonly number[], pageSize: number): number {
  let pages = PAGES_PER_COMMIT;
  for (const size of valueSizes) pages += PAGES_PER_CHANGE + Math.ceil(size / pageSize);
  return pages * pageSize;
}

/**
 * Keeps the data file longer than what is used of it, by writing zeros past its end before a transaction needs the space. A disk that is
 * full then refuses here; inside a transaction, LMDB's own report of a refused write overruns a buffer and can end the process.
 */
export class SpaceReserve {
  readonly #file: string;
  readonly #usage: () => Usage;
  #spareBytes = 0;
  /** Of the file, at least: it is never shortened while it is open. */
  #sizeBytes = 0;

  /** `usage` looks up what the newest transaction uses of `file`. */
  constructor(file: string, usage: () => Usage) {
    this.#file = file;
    this.#usage = usage;
  }

  /**
   * Makes sure that a transaction with values of these sizes fits. Call it only while no transaction is under way. Throws
   * `disk_full`, or the system's error; the file is then as long as before.
   */
  async reserve(valueSizes: readonly number[]): Promise<void> {
    const usage = this.#usage();
    const needed = spaceNeeded(valueSizes, usage.pageSize);
    await this.#checkFree();
    const usedBytes = (usage.lastPageNumber + 1) * usage.pageSize;
    // What was set aside for earlier transactions is far more than they took.
    if (this.#spareBytes < needed) this.#spareBytes = this.#sizeBytes - usedBytes;
    if (this.#spareBytes < needed) await this.#grow(usedBytes, needed);
    this.#spareBytes -= needed;
  }

  /** Whether a value of this size fits without growing the file. May be called at any time. Throws `disk_full`, or the system's error. */
  async fits(valueSize: number): Promise<boolean> {
    await this.#checkFree();
    return this.#spareBytes >= spaceNeeded([valueSize], this.#usage().pageSize);
  }

  async #checkFree(): Promise<void> {
    const { bavail, bsize } = await statfs(dirname(this.#file));
    if (bavail * bsize < MIN_FREE_BYTES) throw diskFull(`${bavail * bsize} bytes are free`);
  }

  async #grow(usedBytes: number, needed: number): Promise<void> {
    const file = await open(this.#file, 'r+');
    try {
      const { size } = await file.stat();
      const step = Math.max(STEP_BYTES, Math.min(MOST_STEP_BYTES, Math.floor(size * STEP_SHARE)));
      const end = Math.max(size, usedBytes + needed + step);
      try {
        for (let at = size; at < end; ) {
          const { bytesWritten } = await file.write(PIECE, 0, Math.min(PIECE.length, end - at), at);
          at += bytesWritten;
        }
      } catch (error) {
        await file.truncate(size);
        throw error;
      }
      this.#sizeBytes = end;
      this.#spareBytes = end - usedBytes;
    } finally {
      await file.close();
    }
  }
}

/** The failure of a write for which there is no room. */
export function diskFull(cause: unknown): Failure {
  return new Failure('disk_full', 'The disk that holds the data directory is full; nothing was stored. Free some space and try again.', {
    cause,
  });
}
