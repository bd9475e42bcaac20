import { statfs } from 'node:fs/promises';
import { FIRST_MODEL } from '../../models/built-in.js';
import { withoutAddressSecrets } from '../../schemas/secrets.js';
import type { Health } from '../base/health.js';
import type { Models } from '../models/residency/models.js';
import { LOW_DISK_BYTES } from '../store/disk-space.js';
import type { Store } from '../store/store.js';
import type { Tasks } from '../tasks/tasks.js';
import type { Services } from './services.js';

/** One component that `/health` looks at. */
export interface HealthCheck {
  readonly name: string;
  run(): (Health & { details?: Record<string, unknown> }) | Promise<Health & { details?: Record<string, unknown> }>;
}

/** What the health of a daemon depends on. */
export interface HealthParts extends Pick<Services, 'speech'> {
  readonly version: string;
  readonly dataDir: string;
  readonly runtimeUrls: readonly string[];
  readonly store: Store;
  readonly tasks: Tasks;
  readonly models: Models;
}

async function storageHealth(store: Store, dataDir: string): Promise<Health> {
  const health = store.health();
  if (health.status !== 'healthy') return health;
  const { bavail, bsize } = await statfs(dataDir);
  const freeMb = Math.round((bavail * bsize) / 1024 ** 2);
  if (bavail * bsize < LOW_DISK_BYTES) return { status: 'degraded', message: `only ${freeMb} MB are free on the volume of ${dataDir}` };
  return { status: 'healthy', message: `${health.message}, ${freeMb} MB free` };
}

/** Ingestion works where its queue can be written; its databases are looked at one by one, under `rag/health`. */
function ragHealth(store: Store, tasks: Tasks): Health {
  const { status, message } = store.health();
  if (status !== 'healthy') return { status, message };
  return { status: 'healthy', message: `documents can be ingested; tasks under way: ${tasks.openCount}` };
}

/** The components that `/health` looks at, in its order. */
export function healthChecks({ version, dataDir, runtimeUrls, store, tasks, models, speech }: HealthParts): HealthCheck[] {
  const builtin = `built in: ${FIRST_MODEL.name} (${FIRST_MODEL.description})`;
  return [
    { name: 'server', run: () => ({ status: 'healthy', message: `quern ${version} answers` }) },
    { name: 'storage', run: () => storageHealth(store, dataDir) },
    { name: 'rag-service', run: () => ragHealth(store, tasks) },
    { name: 'speech', run: async () => ({ status: 'healthy', message: await speech.speaker() }) },
    { name: 'built-in-model', run: () => ({ status: 'healthy', message: builtin }) },
    {
      name: 'universal-runtime',
      run: () =>
        runtimeUrls.length > 0
          ? { status: 'healthy', message: `remote: ${runtimeUrls.map((url) => withoutAddressSecrets(url)).join(', ')}` }
          : models.health(),
    },
  ];
}
