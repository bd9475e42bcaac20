import { Failure } from '../../schemas/errors.js';
import type { Database } from '../../schemas/generated/config/rag.js';
import { log } from '../base/log.js';
import { orLate } from '../base/loop.js';
import type { Outbound } from '../net/outbound.js';
import type { Store } from '../store/store.js';
import type { VectorStore } from './stores/contract.js';
import { openStore } from './stores/index.js';
import { dropCollection, dropCollections } from './stores/native/collection.js';
import { BackgroundWork } from './stores/native/pacing.js';
import { sweepRows } from './stores/native/rows.js';
import { isOnServer } from './stores/options.js';

/** How a store is used. */
interface StoreUse {
  /** Calls that have not ended. */
  running: number;
  /** Moment (monotonic, in milliseconds) of the latest beginning or end. */
  lastMs: number;
}

/** A store that notes in `use` whenever one of its methods runs. */
function countingUse(store: VectorStore, use: StoreUse): VectorStore {
  const begin = (): void => {
    use.running += 1;
    use.lastMs = performance.now();
  };
  const end = (): void => {
    use.running -= 1;
    use.lastMs = performance.now();
  };
  const iterated = async function* (items: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    begin();
    try {
      yield* items;
    } finally {
      end();
    }
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, values);
        // The items of a list come when they are asked for.
        if (!(result instanceof Promise)) return iterated(result as AsyncIterable<unknown>);
        begin();
        return result.finally(end);
      };
    },
  });
}

/** Longest time that removing what a database holds waits for its server; the caller wants the entry gone, and may be at a keyboard. */
const DROP_LIMIT_MS = 15_000;
/** No collection has this number. */
const NO_COLLECTION = -1;
/** A store that nobody has used for so long is closed: its indexes take memory, and files of them are loaded at the next use. */
const IDLE_MS = 30 * 60_000;

/** The project that a database belongs to. */
interface StorePlace {
  readonly namespace: string;
  readonly project: string;
  /** Absolute path of the project's folder. */
  readonly directory: string;
}

interface Opened {
  readonly place: StorePlace;
  readonly name: string;
  /** The configuration that it was opened with, as JSON text. */
  readonly settings: string;
  readonly store: Promise<VectorStore>;
  readonly use: StoreUse;
}

/**
 * The stores of all databases that were used: each is opened once, and anew when its configuration has changed. What was dropped leaves
 * the disk in the background, also what a crash has left.
 */
export class OpenedStores {
  readonly #parts: { readonly store: Store; readonly outbound: Outbound };
  readonly #opened = new Map<string, Opened>();
  /** Stores that are being closed because nobody used them. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Takes dropped chunks off the disk. */
  readonly #sweeper: BackgroundWork;

  constructor({ idleMs = IDLE_MS, ...parts }: { store: Store; outbound: Outbound; idleMs?: number }) {
    this.#parts = parts;
    this.#idleMs = idleMs;
    this.#timer = setInterval(() => this.#closeIdle(), idleMs / 4);
    this.#timer.unref();
    this.#sweeper = new BackgroundWork(
      () => sweepRows(parts.store, NO_COLLECTION),
      (error) => log('warn', 'dropped chunks could not be taken off the disk yet; the next drop tries again', { error }),
    );
    this.#sweeper.start();
  }

  /** How many are open, for tests and status. */
  get size(): number {
    return this.#opened.size + this.#leaving.size;
  }

  /** The store of a database. Throws what opening it throws; the next call tries again. */
  of(place: StorePlace, database: Database): Promise<VectorStore> {
    const key = keyOf(place, database.name);
    const settings = JSON.stringify([database.type, database.config ?? {}, place.directory]);
    const known = this.#opened.get(key);
    if (known?.settings === settings) {
      known.use.lastMs = performance.now();
      return known.store;
    }
    const use: StoreUse = { running: 0, lastMs: performance.now() };
    const store = this.#open(place, database, known).then((opened) => countingUse(opened, use));
    this.#opened.set(key, { place, name: database.name, settings, store, use });
    store.catch(() => {
      if (this.#opened.get(key)?.store === store) this.#opened.delete(key);
    });
    return store;
  }

  /**
   * Removes what a database holds. Nothing to remove counts as removed. A configuration that cannot be opened does not keep what lies on this
   * machine; where it names a server, it throws why that could not be asked, after `DROP_LIMIT_MS` at the latest.
   */
  async drop(place: StorePlace, database: Database): Promise<void> {
    const { namespace, project } = place;
    try {
      const store = await this.of(place, database);
      await withinLimit(store.drop());
      await store.close();
    } catch (error) {
      await dropCollection(this.#parts.store, [namespace, project, database.name]);
      if (isOnServer(database) || !(error instanceof Failure)) throw error;
    }
    this.#opened.delete(keyOf(place, database.name));
    this.#sweeper.start();
  }

  /**
   * Removes what the databases of a project hold, used or not, when the project is gone. What lies on other servers stays: other projects
   * may use it.
   */
  async erase(namespace: string, project: string): Promise<void> {
    const { collections } = this.#parts.store;
    await Promise.all(this.#leaving.values());
    for (const [key, { place, name, store }] of this.#opened) {
      if (place.namespace !== namespace || place.project !== project) continue;
      this.#opened.delete(key);
      const opened = await store.catch(() => undefined);
      if (collections.get([namespace, project, name])) await opened?.drop();
      await opened?.close();
    }
    await dropCollections(this.#parts.store, namespace, project);
    this.#sweeper.start();
  }

  /** Closes all. */
  async close(): Promise<void> {
    const swept = this.#sweeper.stop();
    clearInterval(this.#timer);
    await Promise.all(this.#leaving.values());
    const all = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.all(all.map(async ({ store }) => (await store.catch(() => undefined))?.close()));
    await swept;
  }

  async #open(place: StorePlace, database: Database, former: Opened | undefined): Promise<VectorStore> {
    await this.#leaving.get(keyOf(place, database.name));
    const old = await former?.store.catch(() => undefined);
    await old?.close().catch((error: unknown) => log('warn', 'a store did not close', { database: database.name, error }));
    return openStore(database, { ...place, ...this.#parts });
  }

  #closeIdle(): void {
    const since = performance.now() - this.#idleMs;
    for (const [key, { name, store, use }] of this.#opened) {
      if (use.running > 0 || use.lastMs > since) continue;
      this.#opened.delete(key);
      const left = store
        .then((opened) => opened.close())
        .catch((error: unknown) => log('warn', 'a store did not close', { database: name, error }))
        .finally(() => this.#leaving.delete(key));
      this.#leaving.set(key, left);
    }
  }
}

/** Waits for a drop so long; a server that answers later drops all the same. */
function withinLimit(drop: Promise<void>): Promise<void> {
  return orLate(drop, DROP_LIMIT_MS, () => {
    throw new Failure('unavailable', `the store did not answer within ${DROP_LIMIT_MS / 1000} s.`);
  });
}

function keyOf({ namespace, project }: StorePlace, database: string): string {
  return `${namespace}/${project}/${database}`;
}
