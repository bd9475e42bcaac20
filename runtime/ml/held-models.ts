/** Fitted models in memory, and those that are being read from disk. The one that was not used for longest gives way, and is read again when it is wanted. */
export class HeldModels<Model> {
  readonly #most: { readonly count: number; readonly size: number };
  readonly #sizeOf: (model: Model) => number;
  /** Least recently used first. */
  readonly #held = new Map<string, Model>();
  readonly #reading = new Map<string, Promise<Model | undefined>>();
  #size = 0;

  /** `most` bounds the models and the sum of their sizes, in the unit of `sizeOf`. */
  constructor(most: { readonly count: number; readonly size: number }, sizeOf: (model: Model) => number) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  /** Counts as a use. */
  get(key: string): Model | undefined {
    const model = this.#held.get(key);
    if (model === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, model);
    return model;
  }

  /** The newest stays, however large it is. */
  put(key: string, model: Model): void {
    this.delete(key);
    this.#held.set(key, model);
    this.#size += this.#sizeOf(model);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= this.#most.count && this.#size <= this.#most.size) break;
      if (oldest !== key) this.delete(oldest);
    }
  }

  /** Reads a model once for all who ask for it meanwhile; `read` puts it here. */
  reading(key: string, read: () => Promise<Model | undefined>): Promise<Model | undefined> {
    const under = this.#reading.get(key);
    if (under) return under;
    const reading = read().finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  delete(key: string): void {
    const model = this.#held.get(key);
    if (model !== undefined) this.#size -= this.#sizeOf(model);
    this.#held.delete(key);
  }

  all(): readonly Model[] {
    return [...this.#held.values()];
  }
}
