import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { orAborted } from '../../base/loop.js';
import { once } from '../../base/once.js';
import { availableMemory } from '../../hosts/memory.js';

/** Something that takes memory until it is closed. */
interface Resident {
  close(): Promise<void>;
}

/** Limits of the models in memory. */
export interface ResidencyLimits {
  /** Idle time after which a model is unloaded. */
  readonly unloadAfterMs: number;
  /** How often that is looked at. */
  readonly checkEveryMs: number;
  /** Models in memory at once. */
  readonly maxLoaded: number;
}

interface Entry<T> {
  readonly key: string;
  readonly source: string | undefined;
  readonly loading: Promise<T>;
  readonly control: AbortController;
  resident: T | undefined;
  uses: number;
  /** Monotonic milliseconds of the last release or acquisition. */
  lastUsed: number;
  keep: boolean;
  /** Infinite for one that is never unloaded for being idle. */
  idleMs: number;
}

/** How a resident is loaded when nobody has. */
interface LoadRequest<T> {
  readonly key: string;
  /** Where it comes from, such as a file. What the key holds from another place is let go. */
  readonly source?: string | undefined;
  /** Never unloaded for being idle. */
  readonly keep: boolean;
  /** Unloaded when it is idle for so long, where that is less than the limit of all. */
  readonly idleMs?: number | undefined;
  /** How long it stays in memory after this use, whatever the limit of all; 0 = it is unloaded at the end of its use. What was asked last holds. */
  readonly stayMs?: number | undefined;
  /** Aborted when the load is given up. */
  readonly load: (signal: AbortSignal) => Promise<T>;
}

/** One use of a resident; `release` may be called more than once and counts once. */
interface Lease<T> {
  readonly resident: T;
  release(): void;
  /** Lets it go: whoever asks next has it loaded anew, and this one is closed when nobody uses it any more. It is still to be released. */
  discard(): void;
}

/**
 * Keeps what is expensive to load: one load per key whoever asks, counted uses, idle ones unloaded after a time or when room is needed,
 * least recently used first. What is in use is never unloaded. Loads of different keys do not wait for each other.
 */
export class Residency<T extends Resident> {
  readonly #limits: ResidencyLimits;
  readonly #entries = new Map<string, Entry<T>>();
  /** Let go and still in use. */
  readonly #discarded = new Set<Entry<T>>();
  /** Unloads on their way; a new load of the same key waits only for one whose place it takes. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(limits: ResidencyLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#unloadIdle(), limits.checkEveryMs);
    this.#timer.unref();
  }

  /** What is loaded, in the order of loading; does not count as use. */
  loaded(): { key: string; resident: T; uses: number; staysMs: number }[] {
    return [...this.#entries.values()].flatMap(({ key, resident, uses, keep, idleMs, lastUsed }) => {
      const staysMs = keep ? Number.POSITIVE_INFINITY : uses > 0 ? idleMs : Math.max(0, lastUsed + idleMs - performance.now());
      return resident ? [{ key, resident, uses, staysMs }] : [];
    });
  }

  /** Keys that are being loaded. */
  loading(): string[] {
    return [...this.#entries.values()].filter((entry) => !entry.resident).map((entry) => entry.key);
  }

  /** A resident to use, loaded first where needed. Aborting stops the waiting; a load goes on for whoever comes next. */
  async acquire(request: LoadRequest<T>, signal: AbortSignal): Promise<Lease<T>> {
    signal.throwIfAborted();
    if (this.#closed) throw new Failure('unavailable', 'The daemon is shutting down.', { retryAfterS: 5 });
    const entry = this.#entryOf(request);
    entry.keep ||= request.keep;
    if (request.stayMs !== undefined) {
      entry.idleMs = request.stayMs;
      entry.keep = request.keep;
    }
    entry.uses += 1;
    const release = once(() => {
      entry.uses -= 1;
      entry.lastUsed = performance.now();
      if (entry.uses > 0) return;
      if (this.#discarded.has(entry) || (entry.idleMs === 0 && !entry.keep)) void this.#unload(entry);
    });
    try {
      const resident = await orAborted(entry.loading, signal);
      return { resident, release, discard: () => void this.#discard(entry, 'which was refused') };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Unloads the least recently used idle resident and waits until it is gone; false when all are in use. */
  async evictOne(): Promise<boolean> {
    const idle = [...this.#entries.values()].filter((entry) => entry.uses === 0 && entry.resident);
    const oldest = idle.sort((a, b) => Number(a.keep) - Number(b.keep) || a.lastUsed - b.lastUsed)[0];
    if (!oldest) return false;
    log('info', `unloading ${oldest.key} to make room`);
    await this.#unload(oldest);
    return true;
  }

  /** Unloads what is loaded and chosen; what is in use goes at the end of its use. Resolves to how many they are when the idle ones are gone. */
  async unload(isChosen: (resident: T, key: string) => boolean): Promise<number> {
    const chosen = [...this.#entries.values()].filter(({ resident, key }) => resident && isChosen(resident, key));
    for (const entry of chosen) {
      entry.idleMs = 0;
      entry.keep = false;
    }
    await Promise.all(chosen.filter(({ uses }) => uses === 0).map((entry) => this.#unload(entry)));
    return chosen.length;
  }

  /** Unloads everything, in use or not, and refuses what comes after. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const entry of [...this.#entries.values(), ...this.#discarded]) this.#unload(entry).catch(() => {});
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  /** What the key holds; where that comes from elsewhere than is asked for, it is let go, and a load begins as where there is nothing. */
  #entryOf(request: LoadRequest<T>): Entry<T> {
    const entry = this.#entries.get(request.key);
    if (!entry) return this.#begin(request);
    if (entry.source === request.source) return entry;
    return this.#begin({ ...request, keep: request.keep || entry.keep }, this.#discard(entry, `as ${request.source} takes its place`));
  }

  #begin(request: LoadRequest<T>, replaced?: Promise<void>): Entry<T> {
    const control = new AbortController();
    const entry: Entry<T> = {
      key: request.key,
      source: request.source,
      control,
      loading: this.#load(request, control.signal, replaced),
      resident: undefined,
      uses: 0,
      lastUsed: performance.now(),
      keep: request.keep,
      idleMs: Math.min(request.idleMs ?? Number.POSITIVE_INFINITY, this.#limits.unloadAfterMs),
    };
    this.#entries.set(request.key, entry);
    entry.loading.then(
      (resident) => {
        entry.resident = resident;
      },
      () => {
        if (this.#entries.get(request.key) === entry) this.#entries.delete(request.key);
      },
    );
    return entry;
  }

  async #load(request: LoadRequest<T>, signal: AbortSignal, replaced: Promise<void> | undefined): Promise<T> {
    // The entry of this load counts itself, so there is room for one fewer beside it; it is in the map after the first wait.
    await Promise.resolve();
    // An old copy on its way out still has the memory that this one is planned by.
    if (replaced) await replaced;
    while (this.#entries.size > this.#limits.maxLoaded) {
      if (await this.evictOne()) continue;
      throw new Failure('busy', `${this.#limits.maxLoaded} models are in use, the most that may be loaded; try again when one is free.`, {
        retryAfterS: 5,
      });
    }
    signal.throwIfAborted();
    return request.load(signal);
  }

  /** The unload, where nobody uses it. */
  #discard(entry: Entry<T>, why: string): Promise<void> | undefined {
    if (this.#entries.get(entry.key) === entry) {
      log('info', `unloading ${entry.key}, ${why}`);
      this.#entries.delete(entry.key);
      this.#discarded.add(entry);
    }
    return entry.uses === 0 && this.#discarded.has(entry) ? this.#unload(entry) : undefined;
  }

  #unload(entry: Entry<T>): Promise<void> {
    this.#discarded.delete(entry);
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    entry.control.abort(new Failure('unavailable', 'The model was unloaded while it loaded; try again.', { retryAfterS: 1 }));
    const leaving: Promise<void> = entry.loading
      .then((resident) => resident.close())
      .catch(() => {})
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return leaving;
  }

  #unloadIdle(): void {
    const now = performance.now();
    for (const entry of this.#entries.values()) {
      if (entry.keep || entry.uses > 0 || !entry.resident || entry.lastUsed > now - entry.idleMs) continue;
      log('info', `unloading ${entry.key}, idle for ${entry.idleMs / 1000} s`);
      void this.#unload(entry);
    }
  }
}

const UNLOAD_AFTER_S = 300;
const CHECK_EVERY_S = 30;
const MAX_LOADED = 16;

/** Limits by `MODEL_UNLOAD_TIMEOUT` and `CLEANUP_CHECK_INTERVAL` (seconds) and `MAX_LOADED_MODELS`; 300 s, 30 s and 16 without them. */
export function residencyLimits(env: NodeJS.ProcessEnv = process.env): ResidencyLimits {
  return {
    unloadAfterMs: positive(env, 'MODEL_UNLOAD_TIMEOUT', UNLOAD_AFTER_S) * 1000,
    checkEveryMs: positive(env, 'CLEANUP_CHECK_INTERVAL', CHECK_EVERY_S) * 1000,
    maxLoaded: Math.floor(positive(env, 'MAX_LOADED_MODELS', MAX_LOADED)),
  };
}

function positive(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const value = Number(env[name]);
  return env[name] !== undefined && Number.isFinite(value) && value > 0 ? value : otherwise;
}

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
