import type { NativeScheduler } from '../../../../native/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import type { AdapterUse } from '../../contracts/language.js';

/** Adapters in memory at a time, and their bytes beyond which those that nobody uses go. */
const LOADED_LIMIT = 16;
const LOADED_BYTES = 1024 ** 3;

interface LoadedAdapter {
  readonly id: Promise<number>;
  readonly sizeBytes: number;
  uses: number;
}

/** Adapters that stay loaded until they are released. */
export interface HeldAdapters {
  readonly ids: Int32Array;
  readonly scales: Float32Array;
  /** Calls after the first do nothing. */
  release(): void;
}

const noRelease = (): void => {};

/** Of a text without adapters. */
export const NO_ADAPTERS: HeldAdapters = { ids: new Int32Array(0), scales: new Float32Array(0), release: noRelease };

/** The LoRA adapters of a model in its host process: each is loaded once for all who use it, and unloaded when others need its place, least recently used first. */
export class HostAdapters {
  readonly #engine: Pick<NativeScheduler, 'loadAdapter' | 'dropAdapter'>;
  /** By file and stamp, least recently used first. */
  readonly #loaded = new Map<string, LoadedAdapter>();

  constructor(engine: Pick<NativeScheduler, 'loadAdapter' | 'dropAdapter'>) {
    this.#engine = engine;
  }

  /** Adapters in memory, and the bytes of their files. */
  get stats(): { adapters: number; adapterBytes: number } {
    return { adapters: this.#loaded.size, adapterBytes: this.#bytes };
  }

  /** Loads what is not loaded. Throws `busy` where those in use leave no place, and `invalid` for what the engine cannot load. */
  async hold(uses: readonly AdapterUse[]): Promise<HeldAdapters> {
    if (uses.length === 0) return NO_ADAPTERS;
    const held: LoadedAdapter[] = [];
    let release = (): void => {
      release = noRelease;
      for (const one of held) one.uses -= 1;
      this.#shrink(LOADED_LIMIT);
    };
    try {
      for (const use of uses) held.push(this.#take(use));
      const ids = Int32Array.from(await Promise.all(held.map(({ id }) => id)));
      return { ids, scales: Float32Array.from(uses, ({ scale }) => scale), release: () => release() };
    } catch (error) {
      release();
      throw error;
    }
  }

  #take({ file, stamp, sizeBytes }: AdapterUse): LoadedAdapter {
    const key = `${file}\0${stamp}`;
    const known = this.#loaded.get(key);
    if (!known) this.#shrink(LOADED_LIMIT - 1);
    if (!known && this.#loaded.size >= LOADED_LIMIT)
      throw new Failure(
        'busy',
        `${LOADED_LIMIT} LoRA adapters of this model are in use, the most at a time; try again when an answer has ended.`,
      );
    const one: LoadedAdapter = known ?? { id: this.#engine.loadAdapter(file), sizeBytes, uses: 0 };
    one.uses += 1;
    this.#loaded.delete(key);
    this.#loaded.set(key, one);
    // Who waits for it is told; the next who asks tries again.
    if (!known)
      one.id.catch(() => {
        if (this.#loaded.get(key) === one) this.#loaded.delete(key);
      });
    return one;
  }

  get #bytes(): number {
    return [...this.#loaded.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Unloads what nobody uses, the longest unused first, while there is more than that. */
  #shrink(count: number): void {
    for (const [key, { id, uses }] of this.#loaded) {
      if (this.#loaded.size <= count && this.#bytes <= LOADED_BYTES) return;
      if (uses > 0) continue;
      this.#loaded.delete(key);
      id.then((loaded) => this.#engine.dropAdapter(loaded)).catch(noRelease);
    }
  }
}
