import { availableMemory } from '../../hosts/memory.js';

/** Weights may fill this much of the free memory before idle models make room. */
const ROOM_SHARE = 0.8;

/** The memory that loads may count on, whatever kind of model they load. */
export class Room {
  readonly #evictOne: () => Promise<boolean>;
  readonly #available: () => number;
  /** Memory promised to loads that are under way, so that two at once do not both count on it. */
  #promisedBytes = 0;

  /** `evictOne` unloads one idle model, false when there is none; `available` is the free memory of the machine in bytes. */
  constructor(evictOne: () => Promise<boolean>, available: () => number = availableMemory) {
    this.#evictOne = evictOne;
    this.#available = available;
  }

  /** Free memory that no load was promised. */
  get freeBytes(): number {
    return Math.max(0, this.#available() - this.#promisedBytes);
  }

  /** Unloads idle models while so many bytes of weights do not fit beside them; what fits nowhere is tried all the same. */
  async make(sizeBytes: number): Promise<void> {
    while (!this.#fits(sizeBytes) && (await this.#evictOne())) {
      // Each round frees one model.
    }
  }

  /** Does a load that will take so many bytes, which other loads do not count on meanwhile; makes the room for it where that is not done. */
  async promise<T>(sizeBytes: number, load: () => Promise<T>): Promise<T> {
    if (!this.#fits(sizeBytes)) await this.make(sizeBytes);
    this.#promisedBytes += sizeBytes;
    try {
      return await load();
    } finally {
      this.#promisedBytes -= sizeBytes;
    }
  }

  #fits(sizeBytes: number): boolean {
    return sizeBytes <= this.freeBytes * ROOM_SHARE;
  }
}
