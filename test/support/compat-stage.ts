import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { openRuntime, type Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from './daemon.js';
import type { HubServer } from './hub-server.js';
import { decidedPuppetPath } from './models/cache.js';
import { writeTinyEncoders } from './models/tiny-encoders.js';
import type { Stage } from './scenario.js';

/** A runtime for tests of other programs' APIs: the data directory has the models `puppet` and `tiny/embedder`, and the hub is a server of ours. */
export interface CompatStage extends Stage<Runtime> {
  readonly dataDir: string;
}

/** Opens a whole runtime in this process; models come from `hub`, and from nowhere without one. */
export function compatStage(hub?: HubServer): CompatStage {
  const dataDir = emptyDataDir();
  const own = join(dataDir, 'models');
  mkdirSync(own, { recursive: true });
  copyFileSync(decidedPuppetPath(), join(own, 'puppet.gguf'));
  writeTinyEncoders(own);
  process.env.HF_ENDPOINT = hub?.url ?? 'http://127.0.0.1:9';
  process.env.HF_HUB_CACHE = join(dataDir, 'hub');
  const close = async (runtime: Runtime): Promise<void> => {
    await runtime.close();
    await hub?.close();
  };
  return { dataDir, endpoints: universalEndpoints, context: () => openedRuntime(dataDir), close };
}

/** A runtime over a data directory, with nothing but this machine. */
export function openedRuntime(dataDir: string): Promise<Runtime> {
  return openRuntime({
    version: '0.0.0',
    dataDir,
    runtimeUrls: [],
    runtimePort: 1,
    datasetQuotaBytes: 1024 ** 3,
    startRunner: () => Promise.reject(new Error('no runner is started in tests')),
  });
}
