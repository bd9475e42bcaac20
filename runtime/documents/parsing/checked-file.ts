import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { breathe } from '../../base/loop.js';

/** A checked file begins with the SHA-256 of what follows. */
const CHECKSUM_BYTES = 32;
/** Bytes that are written, or read, at a time. */
export const PIECE_BYTES = 128 * 1024;

/** Writes a checked file from its beginning to its end. */
export class CheckedWriter {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #pieces: Uint8Array[] = [];
  #waiting = 0;
  #position = CHECKSUM_BYTES;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Begins a new file. Throws the system's error. */
  static async create(path: string): Promise<CheckedWriter> {
    return new CheckedWriter(await open(path, 'wx', 0o600));
  }

  /** Appends bytes, which must not change any more. Throws the system's error. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    if (this.#waiting >= PIECE_BYTES) await this.#flush();
  }

  /** Writes the rest and the checksum, which makes the file valid. It is not synced: what a crash leaves of it does not match. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#file.write(this.#hash.digest(), 0, CHECKSUM_BYTES, 0);
    await this.#file.close();
  }

  /** Closes a file that is not to be used. Never rejects. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    if (this.#waiting === 0) return;
    const bytes = Buffer.concat(this.#pieces, this.#waiting);
    this.#pieces = [];
    this.#waiting = 0;
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const piece = bytes.subarray(from, from + PIECE_BYTES);
      this.#hash.update(piece);
      for (let at = 0; at < piece.length; ) {
        const { bytesWritten } = await this.#file.write(piece, at, piece.length - at, this.#position);
        at += bytesWritten;
        this.#position += bytesWritten;
      }
    }
  }
}

/** A checked file that is open for reading; where it lies does not matter any more. */
export class CheckedFile {
  readonly #file: FileHandle;
  /** Of the content, without the checksum. */
  readonly sizeBytes: number;

  private constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** Opens a file; undefined where it is not there or not whole. `trusted`: it was written a moment ago, and is not read to be checked. */
  static async open(path: string, trusted = false): Promise<CheckedFile | undefined> {
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const opened = new CheckedFile(file, (await file.stat()).size - CHECKSUM_BYTES);
      if (opened.sizeBytes >= 0 && (trusted || (await opened.#isSound()))) return opened;
    } catch {
      // A file that cannot be read is as good as none.
    }
    await file.close();
    return undefined;
  }

  /** Bytes of the content from `from` on: as many as asked for, fewer at the end. Throws the system's error. */
  async read(from: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.sizeBytes - from));
    const bytes = Buffer.allocUnsafe(wanted);
    let at = 0;
    while (at < wanted) {
      const { bytesRead } = await this.#file.read(bytes, at, wanted - at, CHECKSUM_BYTES + from + at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  }

  /** Ends reading. */
  close(): Promise<void> {
    return this.#file.close();
  }

  async #isSound(): Promise<boolean> {
    const sum = Buffer.alloc(CHECKSUM_BYTES);
    await this.#file.read(sum, 0, CHECKSUM_BYTES, 0);
    const hash = createHash('sha256');
    for (let from = 0; from < this.sizeBytes; from += PIECE_BYTES) {
      hash.update(await this.read(from, PIECE_BYTES));
      await breathe();
    }
    return hash.digest().equals(sum);
  }
}
