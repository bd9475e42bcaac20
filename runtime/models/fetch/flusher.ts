import type { FileHandle } from 'node:fs/promises';

/** Written bytes after which they are brought to the disk. */
const FLUSH_BYTES = 64 * 1024 * 1024;

/** Brings a file to the disk while more of it arrives, one flush at a time: at its end little is left to wait for. */
export class Flusher {
  readonly #file: Pick<FileHandle, 'datasync'>;
  #unflushed = 0;
  #running: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(file: Pick<FileHandle, 'datasync'>) {
    this.#file = file;
  }

  /** Whether a flush failed, that under way included: the system tells it once only, and what it lost looks written until it is read from the disk. */
  async failed(): Promise<boolean> {
    await this.#running;
    return this.#failure !== undefined;
  }

  /** Tells that so many more bytes are in the file. Throws what a flush failed with. */
  written(bytes: number): void {
    if (this.#failure) throw this.#failure.error;
    this.#unflushed += bytes;
    if (this.#running || this.#unflushed < FLUSH_BYTES) return;
    this.#unflushed = 0;
    this.#running = this.#flush();
  }

  /** Waits until everything is on the disk. Throws what any flush failed with. */
  async end(): Promise<void> {
    await this.#running;
    this.#running = this.#flush();
    await this.#running;
    if (this.#failure) throw this.#failure.error;
  }

  async #flush(): Promise<void> {
    try {
      await this.#file.datasync();
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#running = undefined;
    }
  }
}
