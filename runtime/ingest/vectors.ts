import type { Stages } from './stages.js';

const COMPONENT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The vectors of one file from an earlier run. */
export class KeptVectors {
  readonly #bytes: Buffer;
  readonly #vectorBytes: number;

  private constructor(bytes: Buffer, count: number) {
    this.#bytes = bytes;
    this.#vectorBytes = bytes.length / count;
  }

  /** Reads `count` vectors that were kept as the stage `embed`; undefined where there are none. */
  static async read(stages: Stages, key: string, count: number): Promise<KeptVectors | undefined> {
    const bytes = await stages.read('embed', key);
    if (!bytes || bytes.length === 0 || bytes.length % (count * COMPONENT_BYTES) !== 0) return undefined;
    return new KeptVectors(bytes, count);
  }

  /** `count` of them, copied. */
  from(first: number, count: number): Float32Array[] {
    return Array.from({ length: count }, (_, index) => {
      const vector = new Float32Array(this.#vectorBytes / COMPONENT_BYTES);
      const start = (first + index) * this.#vectorBytes;
      new Uint8Array(vector.buffer).set(this.#bytes.subarray(start, start + this.#vectorBytes));
      return vector;
    });
  }
}

/** The bytes of a vector as they are kept, its own memory. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
