import type { FileHandle } from 'node:fs/promises';

/** Written bytes after which they are brought to the disk. */
const FLUSH_BYTES = 64 * 1024 * 1024;

/** Brings a file to the disk while more of it arrives, one flush at a time: at its end little is left to wait for. */
export class Flusher {
  readonly #file: FileHandle;
  #unflushed = 0;
  #running: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Tells that so many more bytes are in the file. */
  written(bytes: number): void {
    this.#unflushed += bytes;
    if (this.#running || this.#unflushed < FLUSH_BYTES) return;
    this.#unflushed = 0;
    this.#running = this.#file
      .datasync()
      .catch((error: unknown) => {
        // The system tells a lost write once only.
        this.#failure = { error };
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Waits until everything is on the disk. Throws what any flush failed with. */
  async end(): Promise<void> {
    await this.#running;
    if (this.#failure) throw this.#failure.error;
    await this.#file.datasync();
  }

  /** Waits for a flush under way: the file may be closed then. */
  async idle(): Promise<void> {
    await this.#running;
  }
}
