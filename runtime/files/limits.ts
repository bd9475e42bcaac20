import { Failure } from '../../schemas/errors.js';

const MEBIBYTE = 1024 * 1024;
const UPLOAD_MIB = 100;

/** Bounds of the files that clients leave for a while. */
export interface FileLimits {
  /** From an upload to its removal. */
  readonly keptMs: number;
  readonly sweepMs: number;
  readonly maxFiles: number;
  /** Of all files and rendered pages. */
  readonly totalBytes: number;
  /** Pages of one PDF that are rendered. */
  readonly pages: number;
  /** Of the images of one file, as one answer carries them. */
  readonly imageBytes: number;
}

/** Bounds where none are given. */
export const FILE_LIMITS: FileLimits = {
  keptMs: 300_000,
  sweepMs: 60_000,
  maxFiles: 1000,
  totalBytes: 4096 * MEBIBYTE,
  pages: 500,
  imageBytes: 128 * MEBIBYTE,
};

/** Largest upload in bytes: `MAX_UPLOAD_SIZE` where it is a positive number of bytes, else 100 MiB. */
export function uploadLimitBytes(env: NodeJS.ProcessEnv = process.env): number {
  const given = Number(env.MAX_UPLOAD_SIZE);
  return Number.isSafeInteger(given) && given > 0 ? given : UPLOAD_MIB * MEBIBYTE;
}

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
