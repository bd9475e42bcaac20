import type { NativeAnomalyModel } from '../../../native/contract.js';
import type { RowEncoder } from './encoder.js';
import { MEMORY_BYTES, MODELS_IN_MEMORY } from './limits.js';

/** A detector in memory. */
export interface HeldModel {
  readonly name: string;
  readonly filename: string;
  readonly model: NativeAnomalyModel;
  readonly encoder: RowEncoder | null;
  readonly samples: number;
  readonly contamination: number;
  /** Of its file, which is about what it takes in memory. */
  readonly sizeBytes: number;
}

/** The detectors used last, by the names of their files. */
export class Memory {
  readonly #held = new Map<string, HeldModel>();
  #bytes = 0;

  /** Counts as a use. */
  get(filename: string): HeldModel | undefined {
    const found = this.#held.get(filename);
    if (!found) return undefined;
    this.#held.delete(filename);
    this.#held.set(filename, found);
    return found;
  }

  /** The newest stays, however large it is. */
  put(held: HeldModel): void {
    this.delete(held.filename);
    this.#held.set(held.filename, held);
    this.#bytes += held.sizeBytes;
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= MODELS_IN_MEMORY && this.#bytes <= MEMORY_BYTES) break;
      if (oldest !== held.filename) this.delete(oldest);
    }
  }

  delete(filename: string): void {
    this.#bytes -= this.#held.get(filename)?.sizeBytes ?? 0;
    this.#held.delete(filename);
  }

  all(): readonly HeldModel[] {
    return [...this.#held.values()];
  }
}
