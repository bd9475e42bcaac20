import { Failure } from '../../schemas/errors.js';
import type { MemoryConfig } from '../../schemas/generated/config/memory.js';
import { log } from '../base/log.js';
import { quote } from '../base/names.js';
import type { Store } from '../store/store.js';
import type { Memories } from './contract.js';
import { OpenStore } from './store.js';

const PRUNE_EVERY_MS = 60_000;
/** Stores looked at in one page. */
const PAGE = 256;
/** Records or lines removed at once. */
const SWEPT_AT_ONCE = 1_024;

/** Where projects come from; `Projects` is one. */
interface MemoryProjects {
  load(namespace: string, name: string): { readonly config: { readonly memory?: MemoryConfig } };
}

/** What memories are opened with. */
interface MemoriesParts {
  readonly store: Store;
  readonly projects: MemoryProjects;
  /** Milliseconds since 1970; the system's clock where it is absent. */
  readonly nowMs?: () => number;
  /** Told of each store that is opened. */
  readonly onOpen?: (store: OpenStore) => void;
}

interface Opened {
  /** The configuration that it was opened with, as JSON text. */
  readonly settings: string;
  readonly store: Promise<OpenStore>;
}

/** The memory stores of all projects: each is opened at its first use, and anew when its configuration has changed. */
export class OpenMemories implements Memories {
  readonly #parts: MemoriesParts;
  readonly #nowMs: () => number;
  readonly #opened = new Map<string, Opened>();
  readonly #timer: NodeJS.Timeout;
  #nextOwner: number;
  #tidying: Promise<void> | undefined;
  #closed = false;

  constructor(parts: MemoriesParts) {
    this.#parts = parts;
    this.#nowMs = parts.nowMs ?? Date.now;
    this.#nextOwner = highestOwner(parts.store) + 1;
    this.#timer = setInterval(() => this.#tidySoon(), PRUNE_EVERY_MS);
    this.#timer.unref();
    this.#tidySoon();
  }

  async of(namespace: string, project: string, storeName?: string): Promise<OpenStore> {
    const memory = this.#parts.projects.load(namespace, project).config.memory;
    const stores = memory?.stores ?? [];
    if (stores.length === 0) {
      const message = `Project ${namespace}/${project} has no memory: add a store to memory.stores of its configuration.`;
      throw new Failure('not_found', message, { code: 'MemoryNotConfigured' });
    }
    const name = storeName ?? memory?.default_store ?? stores[0]!.name;
    const config = stores.find((one) => one.name === name);
    if (config) return this.#open(namespace, project, config);
    const wanted = storeName === undefined ? `default_store ${quote(name)} is not there` : `there is no memory store ${quote(name)}`;
    throw new Failure('not_found', `Project ${namespace}/${project}: ${wanted} (available: ${stores.map((one) => one.name).join(', ')}).`, {
      code: 'MemoryStoreNotFound',
    });
  }

  async dropped(namespace: string, project: string): Promise<OpenStore[]> {
    const names = (this.#parts.projects.load(namespace, project).config.memory?.stores ?? []).map(({ name }) => name);
    const keys = this.#parts.store.memoryStores.keys(storesOf(namespace, project));
    return Promise.all(keys.filter(([, , name]) => !names.includes(name)).map(([, , name]) => this.#open(namespace, project, { name })));
  }

  /** Removes what stores do not keep any more, and what emptied ones left; done every minute. */
  tidy(): Promise<void> {
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
    return this.#tidying;
  }

  /** Removes everything that a project remembers, when it is gone. */
  async erase(namespace: string, project: string): Promise<void> {
    for (const [id, { store }] of this.#opened) {
      if (!id.startsWith(`${namespace}/${project}/`)) continue;
      this.#opened.delete(id);
      await (await store.catch(() => undefined))?.close();
    }
    const { store } = this.#parts;
    const found = store.memoryStores.page(storesOf(namespace, project));
    await store.write((batch) => {
      for (const { key, value } of found) {
        batch.remove('memoryStores', key);
        batch.put('memoryTrash', value.owner, this.#nowMs());
      }
    });
    this.#tidySoon();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#tidying?.catch(() => undefined);
    for (const { store } of this.#opened.values()) await (await store.catch(() => undefined))?.close();
    this.#opened.clear();
  }

  async #open(namespace: string, project: string, config: NonNullable<MemoryConfig['stores']>[number]): Promise<OpenStore> {
    const id = `${namespace}/${project}/${config.name}`;
    const settings = JSON.stringify(config);
    const known = this.#opened.get(id);
    if (known?.settings === settings) return known.store;
    const store = this.#openAfter(known, () => {
      const { store } = this.#parts;
      const newOwner = (): number => this.#nextOwner++;
      const scrub = (): Promise<void> => this.#scrub();
      return new OpenStore({ store, key: [namespace, project, config.name], config, nowMs: this.#nowMs, newOwner, scrub });
    });
    this.#opened.set(id, { settings, store });
    store.catch(() => {
      if (this.#opened.get(id)?.store === store) this.#opened.delete(id);
    });
    return store;
  }

  async #openAfter(former: Opened | undefined, open: () => OpenStore): Promise<OpenStore> {
    await (await former?.store.catch(() => undefined))?.close();
    if (this.#closed) throw new Failure('unavailable', 'The memory stores are closed: the daemon is stopping.');
    const opened = open();
    await opened.ready();
    this.#parts.onOpen?.(opened);
    return opened;
  }

  #tidySoon(): void {
    this.tidy().catch((error: unknown) => log('warn', 'memory could not be tidied up', { error }));
  }

  async #tidy(): Promise<void> {
    if (this.#trash().length > 0) await this.#scrub();
    const { memoryStores } = this.#parts.store;
    for (let start: readonly string[] | undefined; !this.#closed; ) {
      const keys = memoryStores.keys({ ...(start ? { start } : {}), limit: PAGE });
      for (const [namespace, project, name] of keys) {
        if (this.#closed) return;
        // What projects that cannot be read keep stays.
        const store = await this.of(namespace, project, name).catch(() => undefined);
        await store?.prune();
      }
      if (keys.length < PAGE) return;
      start = [...keys.at(-1)!, ''];
    }
  }

  /** Numbers of stores that were cleared and whose bytes are on the disk still. */
  #trash(): number[] {
    return this.#parts.store.memoryTrash.keys({ limit: PAGE });
  }

  /** Removes what cleared stores left, and then the bytes of all that was removed; only then the trash is empty. */
  async #scrub(): Promise<void> {
    const { store } = this.#parts;
    const owners = this.#trash();
    for (const owner of owners) {
      for (const table of ['memories', 'memoryLines', 'memoryNotes'] as const) {
        for (;;) {
          const keys = store[table].keys({ start: [owner], end: [owner + 1], limit: SWEPT_AT_ONCE });
          if (keys.length === 0) break;
          if (this.#closed) return;
          await store.write((batch) => {
            for (const key of keys) batch.remove(table, key);
          });
        }
      }
    }
    await store.scrub();
    await store.write((batch) => {
      for (const owner of owners) batch.remove('memoryTrash', owner);
    });
  }
}

/** The keys of all stores that a project has on the disk. */
function storesOf(namespace: string, project: string) {
  return { start: [namespace, project], end: [namespace, project, '\uffff'], limit: 4 * PAGE } as const;
}

/** The highest number that a store has or had. */
function highestOwner(store: Store): number {
  const last = { reverse: true, limit: 1 };
  const ofRecords = [store.memories, store.memoryLines, store.memoryNotes].map((table) => table.keys(last)[0]?.[0] ?? 0);
  let highest = Math.max(0, store.memoryTrash.keys(last)[0] ?? 0, ...ofRecords);
  for (let start: readonly string[] | undefined; ; ) {
    const page = store.memoryStores.page({ ...(start ? { start } : {}), limit: PAGE });
    for (const { value } of page) highest = Math.max(highest, value.owner);
    if (page.length < PAGE) return highest;
    start = [...page.at(-1)!.key, ''];
  }
}
