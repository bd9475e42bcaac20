import type { FileHandle } from 'node:fs/promises';
import { MessageChannel } from 'node:worker_threads';

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

/** Leads nowhere: what is transferred to it is freed at once. */
const nowhere = new MessageChannel().port1;
nowhere.close();

/**
 * Frees the memory of pieces that were read from a socket and that nobody needs any more; they are empty then. Left to the collector, which marks the
 * whole heap for each 25 MB of such memory, 2 GB cost 90 markings and a second of processor time, and more in a larger heap. A piece that shares its
 * memory with others is left alone.
 */
export function release(pieces: readonly Uint8Array[]): void {
  const whole = pieces.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength ? [buffer] : [],
  );
  if (whole.length > 0) nowhere.postMessage(null, [...new Set(whole)]);
}
