import { Failure } from '../../schemas/errors.js';
import type { FileLimits } from './limits.js';

/** A part of the room, from before its bytes are on disk until they are gone. */
export interface Share {
  /** Says what it really takes. */
  resize(bytes: number): void;
  /** Gives it back; calls after the first do nothing. */
  release(): void;
}

/** The room that files and rendered pages have together. */
export class FilesRoom {
  readonly #limits: Pick<FileLimits, 'maxFiles' | 'totalBytes'>;
  #files = 0;
  #bytes = 0;

  constructor(limits: Pick<FileLimits, 'maxFiles' | 'totalBytes'>) {
    this.#limits = limits;
  }

  /** Takes room for a file, or for more `bytes` of one that has its place. Throws `busy`, to be tried again after `retryAfterS`. */
  take(what: 'file' | 'pages', bytes: number, retryAfterS: number): Share {
    const { maxFiles, totalBytes } = this.#limits;
    const files = what === 'file' ? 1 : 0;
    if (this.#files + files > maxFiles || this.#bytes + bytes > totalBytes)
      throw new Failure(
        'busy',
        `${this.#files} files take ${this.#bytes} bytes with their pages, and ${bytes} more are needed; ${maxFiles} files and ${totalBytes} bytes may be kept. Delete some, or try again later.`,
        { code: 'FilesFull', retryAfterS },
      );
    this.#files += files;
    this.#bytes += bytes;
    return this.#share(files, bytes);
  }

  #share(files: number, bytes: number): Share {
    let held = { files, bytes };
    const hold = (next: typeof held): void => {
      this.#files += next.files - held.files;
      this.#bytes += next.bytes - held.bytes;
      held = next;
    };
    return { resize: (to) => hold({ files, bytes: to }), release: () => hold({ files: 0, bytes: 0 }) };
  }
}
