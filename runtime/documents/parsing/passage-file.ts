import type { ExtractorType, ParserType } from '../../../schemas/generated/config/rag.js';
import { breathe } from '../../base/loop.js';
import type { Metadata, Passage } from '../contract.js';
import { CheckedFile, type CheckedWriter, PIECE_BYTES } from './checked-file.js';

const LINE_END = 0x0a;
/** The file ends with the place where its last line begins, as a 64-bit number. */
const PLACE_BYTES = 8;

/** What is known of a document besides its passages. */
export interface Summary {
  readonly parser: ParserType;
  /** Number of passages. */
  readonly passages: number;
  readonly warnings: readonly string[];
  /** Those that ran. */
  readonly extractors: readonly ExtractorType[];
  /** The parser's options in effect, `chunk_size`, `chunk_overlap` and `chunk_strategy` among them. */
  readonly options: Metadata;
}

/** Writes a passage file: one line of JSON per passage, then the summary, which is asked for when the last passage is written. */
export async function writePassages(writer: CheckedWriter, passages: Iterable<Passage>, summary: () => Summary): Promise<Summary> {
  let sizeBytes = 0;
  for (const passage of passages) {
    const line = Buffer.from(`${JSON.stringify(passage)}\n`);
    sizeBytes += line.length;
    await writer.write(line);
  }
  const last = summary();
  const place = Buffer.alloc(PLACE_BYTES);
  place.writeBigUInt64LE(BigInt(sizeBytes));
  await writer.write(Buffer.from(`${JSON.stringify(last)}\n`));
  await writer.write(place);
  await writer.end();
  return last;
}

/** A passage file that is open: what parsing made of one document, however large, is read a stretch at a time. */
export class PassageFile {
  readonly #file: CheckedFile;
  readonly #endBytes: number;

  private constructor(
    file: CheckedFile,
    endBytes: number,
    readonly summary: Summary,
  ) {
    this.#file = file;
    this.#endBytes = endBytes;
  }

  /** Opens a file; undefined where it is not there or not whole. `trusted` as for `CheckedFile`. */
  static async open(path: string, trusted = false): Promise<PassageFile | undefined> {
    const file = await CheckedFile.open(path, trusted);
    if (file === undefined) return undefined;
    try {
      const place = file.sizeBytes - PLACE_BYTES;
      const end = Number((await file.read(place, PLACE_BYTES)).readBigUInt64LE());
      return new PassageFile(file, end, JSON.parse((await file.read(end, place - end)).toString()) as Summary);
    } catch {
      await file.close();
      return undefined;
    }
  }

  /** The passages in order, `count` at a time, fewer at the end. */
  async *batches(count: number): AsyncGenerator<Passage[], void, undefined> {
    let batch: Passage[] = [];
    for await (const line of this.#lines()) {
      batch.push(JSON.parse(line) as Passage);
      if (batch.length < count) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** Ends reading. */
  close(): Promise<void> {
    return this.#file.close();
  }

  async *#lines(): AsyncGenerator<string, void, undefined> {
    let begun: Buffer[] = [];
    for (let from = 0; from < this.#endBytes; from += PIECE_BYTES) {
      const bytes = await this.#file.read(from, Math.min(PIECE_BYTES, this.#endBytes - from));
      let start = 0;
      for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
        const rest = bytes.subarray(start, end);
        const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
        begun = [];
        start = end + 1;
        await breathe();
        yield line.toString();
      }
      if (start < bytes.length) begun.push(bytes.subarray(start));
    }
  }
}
