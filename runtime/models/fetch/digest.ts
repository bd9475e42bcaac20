import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the hub names a file by: the SHA-256 of its bytes, or git's SHA-1 of a blob with them. */
export type DigestKind = 'sha256' | 'git';

/** A worker's task: to read a file as it grows and tell its digest at the end. */
export interface DigestTask {
  readonly path: string;
  readonly kind: DigestKind;
  readonly sizeBytes: number;
}

/** The kind of digest that a blob's name is. */
export const kindOf = (etag: string): DigestKind => (etag.length === 64 ? 'sha256' : 'git');

/**
 * Computes the digest of a file while it is written, in a worker thread that stays behind the writing, so that the end of a download does
 * not wait for gigabytes to be read again, and the event loop for none of it.
 */
export class Digest {
  readonly #worker: Worker;
  readonly #result: Promise<string>;
  #told = 0;

  constructor(task: DigestTask) {
    this.#worker = new Worker(new URL('./digest-thread.js', import.meta.url), { workerData: task });
    this.#worker.unref();
    this.#result = once(this.#worker, 'message').then(([hex]) => hex as string);
    this.#result.catch(() => undefined);
  }

  /** Tells that the file is whole up to this byte. */
  readable(bytes: number): void {
    if (bytes <= this.#told) return;
    this.#told = bytes;
    this.#worker.postMessage(bytes);
  }

  /** The digest in hex, once all bytes are readable. */
  async hex(): Promise<string> {
    this.#worker.ref();
    return this.#result;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
