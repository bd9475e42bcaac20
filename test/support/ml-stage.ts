import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openAnomaly } from '../../runtime/services/anomaly.js';
import { openClassifiers } from '../../runtime/services/classifiers.js';
import { openColumns } from '../../runtime/services/columns.js';
import { openEncoders } from '../../runtime/services/encoders.js';
import { openStore } from '../../runtime/store/store.js';
import { emptyDataDir } from './daemon.js';

/** All of classical ML, as the endpoints see it, in a data directory of its own unless one is given, which stays. */
export async function openMl(given?: string): Promise<{ runtime: Runtime; close(): Promise<void> }> {
  const dataDir = given ?? emptyDataDir();
  const parts = { dataDir, outbound: new Outbound(), runtimeUrls: [] };
  const store = await openStore(dataDir);
  const models = new Models({ dataDir, places: { hub: join(dataDir, 'no-hub') } });
  const { encoders } = openEncoders({ ...parts, models, runtimePort: 11540 });
  const opened = [openAnomaly(parts), openColumns({ ...parts, store }), openClassifiers({ ...parts, encoders })] as const;
  const runtime = Object.assign({ version: '0.0.0', models, encoders }, ...opened) as Runtime;
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
    await models.close();
    await store.close();
    await parts.outbound.close();
    if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  return { runtime, close };
}
