import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { log } from '../base/log.js';
import { Lazy } from '../base/once.js';
import type { PageImages } from '../documents/parsing/page-images.js';
import { Files } from '../files/files.js';
import type { KvCache } from '../kv-cache/kv-cache.js';
import { TENANTS_FROM } from '../ml/tables/segment-log.js';
import { StoredResponses } from '../responses/stored-responses.js';
import { type InMemory, openServices, type ServiceParts, type Services } from '../services/services.js';
import { TENANT_LIMITS } from './limits.js';
import { NamespaceOwners } from './owners.js';
import { bytesBelow } from './stored-bytes.js';
import { tenantStore } from './tenant-store.js';

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

  /** What a user has on disk: the projects of their namespaces with all that was uploaded, and what they keep alone. */
  async storedBytes(id: string): Promise<number> {
    const projects = this.owners.all(id).map((namespace) => join(this.#parts.dataDir, 'projects', namespace));
    const all = await Promise.all([...projects, join(this.#folder, folderOf(id))].map(bytesBelow));
    return all.reduce((sum, bytes) => sum + bytes, 0);
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
