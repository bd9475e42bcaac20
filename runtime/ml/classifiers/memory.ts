import type { NativeClassifier } from '../../../native/contract.js';
import { CLASSIFIERS_IN_MEMORY, NUMBERS_IN_MEMORY } from './limits.js';

/** What is known of a classifier besides its numbers. */
export interface ClassifierCard {
  /** As it was asked for, or the usual one. */
  readonly embedder: string;
  readonly dimensions: number;
  /** Of `probeOf`. */
  readonly probe: string;
  /** Of a classifier on TF-IDF vectors: what `vocabularyOf` learned from its examples. */
  readonly vocabulary?: string | undefined;
  /** Sorted. */
  readonly labels: readonly string[];
  readonly samples: number;
  readonly description?: string | undefined;
}

/** A classifier in memory. */
export interface HeldClassifier {
  readonly name: string;
  readonly model: NativeClassifier;
  readonly card: ClassifierCard;
}

const sizeOf = ({ model }: HeldClassifier): number => (model.dimensions + 1) * model.classes;

/** The classifiers used last, by name. */
export class Memory {
  readonly #held = new Map<string, HeldClassifier>();
  #numbers = 0;

  /** Counts as a use. */
  get(name: string): HeldClassifier | undefined {
    const found = this.#held.get(name);
    if (!found) return undefined;
    this.#held.delete(name);
    this.#held.set(name, found);
    return found;
  }

  /** The newest stays, however large it is. */
  put(held: HeldClassifier): void {
    this.delete(held.name);
    this.#held.set(held.name, held);
    this.#numbers += sizeOf(held);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= CLASSIFIERS_IN_MEMORY && this.#numbers <= NUMBERS_IN_MEMORY) break;
      if (oldest !== held.name) this.delete(oldest);
    }
  }

  delete(name: string): void {
    const held = this.#held.get(name);
    if (held) this.#numbers -= sizeOf(held);
    this.#held.delete(name);
  }
}
