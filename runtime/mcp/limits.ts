import { Failure } from '../../schemas/errors.js';

/** Bytes of one message of a server: it is parsed in one go, while everybody waits. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** Bytes that a server may send between two answers before it counts as a flood, and how many more each second allows. */
const NOISE_BYTES = 32 * 1024 * 1024;
const NOISE_BYTES_PER_SECOND = 256 * 1024;

/** Counts what a server sends that answers nothing: what it says of itself is welcome, a flood is not. */
export class Noise {
  #left = NOISE_BYTES;
  #atMs = performance.now();

  /** Counts bytes. Throws `too_many` when a server sends more than anybody could want to read. */
  add(bytes: number): void {
    const nowMs = performance.now();
    this.#left = Math.min(NOISE_BYTES, this.#left + ((nowMs - this.#atMs) / 1000) * NOISE_BYTES_PER_SECOND) - bytes;
    this.#atMs = nowMs;
    if (this.#left < 0) throw new Failure('too_many', `sent more than ${NOISE_BYTES / 1024 / 1024} MiB without answering a request`);
  }

  /** Begins anew, when a request was sent or answered. */
  forget(): void {
    this.#left = NOISE_BYTES;
  }
}

/** What is said of a message that is too long to be read. */
export function tooLong(bytes: number): Failure {
  return new Failure('too_large', `sent a message of ${bytes} bytes or more; at most ${MAX_MESSAGE_BYTES} are read`);
}

/** A failure whose message goes on from `what`, so that it continues a sentence about a server; other errors stay. */
export function aboutServer(what: string, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  return new Failure(error.kind, `${what}: ${error.message}`, { code: error.code, cause: error });
}
