import { log } from '../../base/log.js';
import { CheckedFile, CheckedWriter } from '../../documents/parsing/checked-file.js';
import { type Draft, STAGE_LIMITS, type Stages } from './stages.js';

const COMPONENT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The vectors of all passages of one file from an earlier run, in their order. */
export class KeptVectors {
  readonly #file: CheckedFile;
  readonly #vectorBytes: number;

  private constructor(file: CheckedFile, vectorBytes: number) {
    this.#file = file;
    this.#vectorBytes = vectorBytes;
  }

  /** Opens what was kept as the stage `embed` for `count` passages; undefined where there is nothing of use. */
  static async open(stages: Stages, document: string, key: string, count: number): Promise<KeptVectors | undefined> {
    const path = await stages.find('embed', document, key);
    const file = path === undefined ? undefined : await CheckedFile.open(path);
    if (file === undefined) return undefined;
    if (file.sizeBytes > 0 && file.sizeBytes % (count * COMPONENT_BYTES) === 0) return new KeptVectors(file, file.sizeBytes / count);
    await file.close();
    return undefined;
  }

  /** The vectors of the passages `first` to `last`. Throws the system's error. */
  async between(first: number, last: number): Promise<Float32Array[]> {
    const count = last + 1 - first;
    const bytes = await this.#file.read(first * this.#vectorBytes, count * this.#vectorBytes);
    return Array.from({ length: count }, (_, index) => {
      const vector = new Float32Array(this.#vectorBytes / COMPONENT_BYTES);
      const start = index * this.#vectorBytes;
      new Uint8Array(vector.buffer).set(bytes.subarray(start, start + this.#vectorBytes));
      return vector;
    });
  }

  /** Ends reading. */
  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Writes the vectors of one file while they are made. A disk that refuses them costs nothing but time: none of its methods rejects. */
export class VectorKeeper {
  readonly #draft: Draft;
  readonly #writer: CheckedWriter;
  #sizeBytes = 0;
  #wanted = true;

  private constructor(draft: Draft, writer: CheckedWriter) {
    this.#draft = draft;
    this.#writer = writer;
  }

  /** Begins; undefined where that cannot be. */
  static async begin(stages: Stages, document: string, key: string): Promise<VectorKeeper | undefined> {
    try {
      const draft = await stages.begin('embed', document, key);
      return new VectorKeeper(draft, await CheckedWriter.create(draft.path));
    } catch (error) {
      log('warn', 'vectors could not be kept', { error });
      return undefined;
    }
  }

  /** Appends the vectors of the next passages. */
  async add(vectors: readonly Float32Array[]): Promise<void> {
    this.#sizeBytes += vectors.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#wanted &&= this.#sizeBytes <= STAGE_LIMITS.largestBytes;
    if (!this.#wanted) return;
    try {
      for (const { buffer, byteOffset, byteLength } of vectors) await this.#writer.write(new Uint8Array(buffer, byteOffset, byteLength));
    } catch (error) {
      this.#wanted = false;
      log('warn', 'vectors could not be kept', { error });
    }
  }

  /** Keeps them when they are those of all passages; else nothing stays. */
  async end(complete: boolean): Promise<void> {
    try {
      if (complete && this.#wanted) {
        await this.#writer.end();
        return await this.#draft.keep();
      }
    } catch (error) {
      log('warn', 'vectors could not be kept', { error });
    }
    await this.#writer.discard();
    await this.#draft.drop();
  }
}
