import type { FileHandle } from 'node:fs/promises';
import { release } from './release.js';

/** Pieces are gathered into writes of this size: one system call for many of what a socket gives. */
const WRITE_BYTES = 1024 * 1024;

/** Writes a stretch of a file in order, one write at a time, while the next bytes are being gathered. */
export class PartWriter {
  readonly #file: FileHandle;
  readonly #onWritten: (bytes: number) => void;
  #at: number;
  #pieces: Uint8Array[] = [];
  #gathered = 0;
  #writing: Promise<void> = Promise.resolve();

  /** Writes from `at` on; `onWritten` hears of every stretch that is in the file. */
  constructor(file: FileHandle, at: number, onWritten: (bytes: number) => void) {
    this.#file = file;
    this.#at = at;
    this.#onWritten = onWritten;
  }

  /** Takes a piece, which is the writer's from now on; waits only while more than one write is outstanding. Throws what an earlier write failed with. */
  async add(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#gathered += piece.byteLength;
    if (this.#gathered >= WRITE_BYTES) await this.#flush();
  }

  /** Waits until everything taken is in the file. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
  }

  async #flush(): Promise<void> {
    await this.#writing;
    if (this.#gathered === 0) return;
    const [pieces, at, bytes] = [this.#pieces, this.#at, this.#gathered];
    this.#pieces = [];
    this.#gathered = 0;
    this.#at += bytes;
    this.#writing = this.#write(pieces, at, bytes);
    this.#writing.catch(() => undefined);
  }

  async #write(pieces: Uint8Array[], at: number, bytes: number): Promise<void> {
    let { bytesWritten } = await this.#file.writev(pieces, at);
    // A disk that fills up takes a part; the next write says why.
    const rest = bytesWritten < bytes ? Buffer.concat(pieces) : null;
    while (rest && bytesWritten < bytes)
      bytesWritten += (await this.#file.write(rest, bytesWritten, bytes - bytesWritten, at + bytesWritten)).bytesWritten;
    release(pieces);
    this.#onWritten(bytes);
  }
}
