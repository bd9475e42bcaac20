import { once } from 'node:events';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { MessageChannel, Worker } from 'node:worker_threads';

/** Bytes of one part; each is fetched over a connection of its own. */
const PART_BYTES = 32 * 1024 * 1024;

/** A stretch of a file, and how much of its beginning is on disk. */
export interface Part {
  readonly index: number;
  readonly from: number;
  readonly sizeBytes: number;
  doneBytes: number;
}

function partsOf(sizeBytes: number, partBytes: number): Part[] {
  return Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_unused, index) => ({
    index,
    from: index * partBytes,
    sizeBytes: Math.min(partBytes, sizeBytes - index * partBytes),
    doneBytes: 0,
  }));
}

/**
 * How far the parts of an unfinished file have come, kept beside it so that a later process goes on there: a line that says the sizes, then
 * `part bytes` lines of which the last of each part counts. It may say too much after a power failure; the check of the whole finds that.
 */
export class Journal {
  /** Lines are written one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly parts: readonly Part[],
    private readonly handle: FileHandle,
    private readonly path: string,
  ) {}

  /** Goes on with the journal at `path` where it is about a file of this size, else begins anew. */
  static async open(path: string, sizeBytes: number): Promise<Journal> {
    const header = `${sizeBytes} ${PART_BYTES}`;
    const parts = partsOf(sizeBytes, PART_BYTES);
    const [first, ...lines] = (await readFile(path, 'utf8').catch(() => '')).split('\n');
    const isKnown = first === header;
    for (const line of isKnown ? lines : []) {
      const [index, bytes] = line.split(' ').map(Number) as [number, number];
      const part = parts[index];
      if (part && Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= part.sizeBytes) part.doneBytes = bytes;
    }
    const handle = await open(path, isKnown ? 'a' : 'w');
    // A line that was cut in the middle tells too little at most, and is ended here.
    await handle.write(isKnown ? '\n' : `${header}\n`);
    return new Journal(parts, handle, path);
  }

  /** Bytes on disk, all parts together. */
  get doneBytes(): number {
    return this.parts.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
  }

  /** Bytes on disk from the beginning on, without a gap. */
  get unbrokenBytes(): number {
    let sum = 0;
    for (const { doneBytes, sizeBytes } of this.parts) {
      sum += doneBytes;
      if (doneBytes < sizeBytes) break;
    }
    return sum;
  }

  /** Writes down how far a part has come; a disk that refuses costs only what a later process could have gone on with. */
  async note(part: Part): Promise<void> {
    const line = lineOf(part);
    this.#last = this.#last.then(() => this.handle.write(line)).catch(() => undefined);
    await this.#last;
  }

  /** Everything begins again. */
  async reset(): Promise<void> {
    for (const part of this.parts) part.doneBytes = 0;
    for (const part of this.parts) await this.note(part);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.handle.close();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }
}

const lineOf = ({ index, doneBytes }: Part): string => `${index} ${doneBytes}\n`;

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

/** What the hub names a file by: the SHA-256 of its bytes, or git's SHA-1 of a blob with them. */
type DigestKind = 'sha256' | 'git';

/** A worker's task: to read a file as it grows and tell its digest at the end. */
export interface DigestTask {
  readonly path: string;
  readonly kind: DigestKind;
  readonly sizeBytes: number;
}

/** The kind of digest that a blob's name is. */
export const digestKind = (etag: string): DigestKind => (etag.length === 64 ? 'sha256' : 'git');

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
