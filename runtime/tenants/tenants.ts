import { createHash } from 'node:crypto';
import { opendir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { log } from '../base/log.js';
import { Lazy } from '../base/once.js';
import type { PageImages } from '../documents/parsing/page-images.js';
import { Files } from '../files/files.js';
import type { KvCache } from '../kv-cache/kv-cache.js';
import { BUFFER_LIMITS, type BufferLimits } from '../ml/buffers/contract.js';
import { TENANTS_FROM } from '../ml/segment-log.js';
import { STREAM_LIMITS, type StreamLimits } from '../ml/streams/contract.js';
import { StoredResponses } from '../responses/stored-responses.js';
import { type InMemory, openServices, type ServiceParts, type Services } from '../services/services.js';
import type { Batch, Store } from '../store/store.js';
import { NamespaceOwners } from './owners.js';

const MIB = 1024 * 1024;

/** What one of several people who share a daemon may keep for themselves. */
export const TENANT_LIMITS: {
  readonly buffers: BufferLimits;
  readonly streams: StreamLimits;
  readonly files: { readonly maxFiles: number; readonly totalBytes: number };
  readonly responses: { readonly count: number; readonly bytes: number };
  readonly kvCache: { readonly ramBytes: number; readonly diskBytes: number; readonly entries: number };
} = {
  buffers: { ...BUFFER_LIMITS, buffers: 100, bytesEach: 32 * MIB, bytesTotal: 64 * MIB, liveBytes: 16 * MIB },
  streams: { ...STREAM_LIMITS, detectors: 100, loaded: 8, retrainings: 1 },
  files: { maxFiles: 200, totalBytes: 1024 * MIB },
  responses: { count: 1000, bytes: 128 * MIB },
  kvCache: { ramBytes: 256 * MIB, diskBytes: 1024 * MIB, entries: 1000 },
};
/** Namespaces of one user. */
export const MOST_NAMESPACES = 20;

/** What a person has for themselves, whatever others call theirs. */
export interface Tenant {
  readonly files: Files;
  readonly responses: StoredResponses;
  readonly kvCache: () => Promise<KvCache>;
  readonly here: Services;
  readonly core: Services;
  /** What of it is in memory. */
  inMemory(): readonly InMemory[];
}

/** What tenants are opened with. */
export interface TenantsParts extends ServiceParts {
  readonly pageImages: PageImages;
  /** The services that keep nothing, which all share. */
  readonly shared: { readonly here: Services; readonly core: Services };
}

interface Opened extends Tenant {
  close(): Promise<void>;
}

/**
 * Several people on one runtime: whose namespaces are whose, and what each keeps alone (files, KV states, fitted models, buffers and streams), in a folder of their own. What is
 * kept is kept by this machine, also where a core asks other runtimes, which know no people.
 */
export class Tenants {
  readonly owners: NamespaceOwners;
  readonly #parts: TenantsParts;
  readonly #folder: string;
  readonly #opened = new Map<string, Opened>();
  /** What the folders of a user held, and when they were looked at on the clock that only goes forward. */
  readonly #inFolders = new Map<string, { bytes: number; atMs: number }>();

  private constructor(parts: TenantsParts) {
    this.#parts = parts;
    this.#folder = join(parts.dataDir, 'tenants');
    this.owners = new NamespaceOwners(parts.store);
  }

  /** Opens the tenants of a data directory, and removes what uploads an earlier process left. */
  static async open(parts: TenantsParts): Promise<Tenants> {
    const tenants = new Tenants(parts);
    await tenants.#sweep().catch((error: unknown) => log('warn', 'uploads of an earlier process were not removed', { error }));
    return tenants;
  }

  /** Keeps the project files of tenants from hosts of this machine and its private networks, but for these; see `Outbound.restrictPrivateHosts`. */
  restrictPrivateHosts(except: readonly string[]): void {
    this.#parts.outbound.restrictPrivateHosts(except);
  }

  /** What the user of an id has. */
  of(id: string): Tenant {
    const known = this.#opened.get(id);
    if (known) return known;
    const tenant = this.#open(folderOf(id));
    this.#opened.set(id, tenant);
    return tenant;
  }

  /**
   * What a user has on disk: the projects of their namespaces with all that was uploaded, and what they keep alone, the rows of buffers among it. The folders are
   * those of up to `agoMs` ago, for requests that come often and change none.
   */
  async storedBytes(id: string, agoMs = 0): Promise<number> {
    const buffers = await this.of(id).here.buffers.list(new AbortController().signal);
    return (await this.#bytesInFolders(id, agoMs)) + buffers.reduce((sum, { rowBytes }) => sum + rowBytes, 0);
  }

  async #bytesInFolders(id: string, agoMs: number): Promise<number> {
    const nowMs = performance.now();
    const known = this.#inFolders.get(id);
    if (known && nowMs - known.atMs < agoMs) return known.bytes;
    const projects = this.owners.all(id).map((namespace) => join(this.#parts.dataDir, 'projects', namespace));
    const sizes = await Promise.all([...projects, join(this.#folder, folderOf(id))].map(bytesBelow));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#inFolders.set(id, { bytes, atMs: nowMs });
    return bytes;
  }

  /** Ends the work of all. */
  async close(): Promise<void> {
    for (const tenant of this.#opened.values()) await tenant.close();
  }

  #open(name: string): Opened {
    const { shared, pageImages, ...parts } = this.#parts;
    const folder = join(this.#folder, name);
    const store = tenantStore(parts.store, `${TENANTS_FROM}${name}${TENANTS_FROM}`);
    const own = openServices({ ...parts, runtimeUrls: [], dataDir: folder, store, limits: TENANT_LIMITS });
    const { anomaly, buffers, streams, classifiers } = own.here;
    const kept = { anomaly, buffers, streams, classifiers };
    const files = new Files({ folder: join(folder, 'files'), pageImages, limits: TENANT_LIMITS.files });
    const kvCache = new Lazy(
      async () => new (await import('../kv-cache/kv-cache.js')).KvCache({ folder: join(folder, 'kv'), limits: TENANT_LIMITS.kvCache }),
    );
    return {
      files,
      responses: new StoredResponses(store, TENANT_LIMITS.responses),
      kvCache: () => kvCache.get(),
      here: { ...shared.here, ...kept },
      core: { ...shared.core, ...kept },
      inMemory: own.inMemory,
      close: async () => {
        await files.close();
        await (await kvCache.settled())?.close();
        await own.close();
      },
    };
  }

  /** Uploads live for minutes: those of an earlier process are nobody's. */
  async #sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    for (const name of names) await rm(join(this.#folder, name, 'files'), { recursive: true, force: true });
  }
}

function folderOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

/** The bytes of all files below a folder, as far as they can be read; 0 for one that is not there. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await opendir(folder).catch(() => undefined);
  if (!entries) return 0;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

/** Tables whose keys are names that a client chooses. */
const NAMED = ['buffers', 'detectors', 'detectorModels', 'responses', 'responseSizes'] as const;

type Named = (typeof NAMED)[number];

const isNamed = (table: string): table is Named => (NAMED as readonly string[]).includes(table);

/** What of a table is asked for, by names. */
interface Asked {
  readonly start?: string;
  readonly end?: string;
  readonly limit: number;
}

/**
 * The store as the buffers, streams and responses of one tenant use it: the same names of two tenants are two things. Their keys begin with `mark`, which no name
 * of a client does and which all of those come before.
 */
export function tenantStore(store: Store, mark: string): Store {
  const named = <Name extends Named>(name: Name): Store[Name] => {
    const table = store[name];
    return {
      get: (key: string) => table.get(mark + key),
      page: ({ start = '', end = '\uffff', limit }: Asked) =>
        (table.page({ start: mark + start, end: mark + end, limit }) as { key: string; value: never }[]).map(({ key, value }) => ({
          key: key.slice(mark.length),
          value,
        })),
      keys: ({ start = '', end = '\uffff', limit }: Asked) =>
        (table.keys({ start: mark + start, end: mark + end, limit }) as string[]).map((key) => key.slice(mark.length)),
    } as unknown as Store[Name];
  };
  const marked = (batch: Batch): Batch =>
    Object.assign(Object.create(batch) as Batch, {
      put: (table: never, key: string, value: never) => batch.put(table, (isNamed(table) ? mark + key : key) as never, value),
      remove: (table: never, key: string) => batch.remove(table, (isNamed(table) ? mark + key : key) as never),
    });
  const write: Store['write'] = (fill, chain) => store.write((batch) => fill(marked(batch)), chain);
  // A store's tables are read-only, so they are defined anew rather than assigned.
  return Object.create(store, {
    ...Object.fromEntries(NAMED.map((name) => [name, { value: named(name) }])),
    write: { value: write },
  }) as Store;
}
