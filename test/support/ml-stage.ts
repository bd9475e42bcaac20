import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore } from '../../runtime/store/store.js';
import { emptyDataDir } from './daemon.js';
import { openSomeServices } from './services.js';

/** All of classical ML, as the endpoints see it, in a data directory of its own unless one is given, which stays. */
export async function openMl(given?: string): Promise<{ runtime: Runtime; close(): Promise<void> }> {
  const dataDir = given ?? emptyDataDir();
  const parts = { dataDir, outbound: new Outbound(), runtimeUrls: [] };
  const store = await openStore(dataDir);
  const models = new Models({ dataDir, places: { hub: join(dataDir, 'no-hub') } });
  const services = openSomeServices({ ...parts, models, store });
  const runtime = { version: '0.0.0', models, ...services } as unknown as Runtime;
  const close = async (): Promise<void> => {
    await services.close();
    await models.close();
    await store.close();
    await parts.outbound.close();
    if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  return { runtime, close };
}
