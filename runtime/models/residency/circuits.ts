import { Circuit } from '../../hosts/circuit.js';

/** Circuits kept by cache key; quiet ones go first. */
const CIRCUIT_LIMIT = 256;

/** One circuit per model that was loaded or tried, which outlives the loads, so that crashes count together. */
export class Circuits {
  readonly #circuits = new Map<string, Circuit>();

  /** The circuit of a cache key; `name` stands in its messages. */
  of(key: string, name: string): Circuit {
    const known = this.#circuits.get(key);
    if (known) return known;
    if (this.#circuits.size >= CIRCUIT_LIMIT) {
      for (const [other, circuit] of this.#circuits) if (circuit.isQuiet) this.#circuits.delete(other);
    }
    const circuit = new Circuit(`Model ${name}`);
    this.#circuits.set(key, circuit);
    return circuit;
  }
}
