import { join } from 'node:path';
import type { Database } from '../../../schemas/generated/config/rag.js';
import type { Outbound } from '../../net/outbound.js';
import type { Store } from '../../store/store.js';
import type { VectorStore } from './contract.js';
import { STORE_KINDS, type StoreKind, type StoreOptions, storeOptions } from './options.js';

/** Whose database is opened, and with what. */
export interface StoreScope {
  readonly namespace: string;
  readonly project: string;
  /** Absolute path of the project's directory. */
  readonly directory: string;
  readonly store: Store;
  readonly outbound: Outbound;
}

type OpenStore = (options: StoreOptions, scope: StoreScope) => Promise<VectorStore>;

/** Every store by its name. The code of each is loaded when the first database needs it. */
export const STORES = {
  native: async (options, { store, namespace, project, directory }) => {
    const { NativeStore } = await import('./native/store.js');
    const folder = join(directory, 'lf_data', 'stores', options.database);
    return NativeStore.open(options, { store, key: [namespace, project, options.database], folder });
  },
  chroma: async (options, { outbound }) => {
    const [{ RemoteStore }, { ChromaClient }] = await Promise.all([import('./remote/store.js'), import('./remote/chroma.js')]);
    return new RemoteStore(options, new ChromaClient(outbound, options.server!, options.metric));
  },
  qdrant: async (options, { outbound }) => {
    const [{ RemoteStore }, { QdrantClient }] = await Promise.all([import('./remote/store.js'), import('./remote/qdrant.js')]);
    return new RemoteStore(options, new QdrantClient(outbound, options.server!, options.metric));
  },
} as const satisfies Record<string, OpenStore>;

/**
 * Opens the store of a database as its configuration says: on the server that it names, else our own. One open store per database at a
 * time. Throws `invalid` naming an option that is wrong.
 */
export function openStore(database: Database, scope: StoreScope): Promise<VectorStore> {
  const options = storeOptions(database);
  const kind: StoreKind = STORE_KINDS[database.type];
  return STORES[options.server && kind.server ? kind.server.client : 'native'](options, scope);
}

/**
 * Forgets the databases of a project that was deleted, so that another one of its name starts empty. None of them may be open; the files
 * of their indexes went with the project's directory.
 */
export async function dropStores(store: Store, namespace: string, project: string): Promise<void> {
  const { dropCollections } = await import('./native/collection.js');
  await dropCollections(store, namespace, project);
}
