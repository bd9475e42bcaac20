import { type FileHandle, open, readFile, rm } from 'node:fs/promises';

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
