import assert from 'node:assert/strict';
import { type MachineContext, machineEndpoints } from '../../gateway/core/machine.js';
import type { ModelFetch } from '../../runtime/models/fetch/model-fetch.js';
import { Models } from '../../runtime/models/residency/models.js';
import { emptyDataDir } from '../support/daemon.js';
import { scenarios } from '../support/scenario.js';
import { until } from '../support/until.js';

const dataDir = emptyDataDir();
const models = new Models({ dataDir });
const never = new AbortController().signal;

/** Has a model of this name in memory that runs in this very process. */
async function load(key: string, name: string, type: string): Promise<() => void> {
  const devices = { requested: 'auto', available: ['Vulkan0'], used: ['Vulkan0'], why: 'it fits' };
  const engine = { pid: process.pid, status: { devices, notes: [], options: {} }, close: async () => {} };
  const { release } = await models.hold({ key, type, name, sizeBytes: 0, load: async () => engine as never }, never);
  return release;
}

let release = (): void => {};
scenarios<MachineContext>(
  'models in memory',
  {
    endpoints: machineEndpoints,
    context: async () => {
      release = await load('encoder:org/one:q8', 'org/one', 'encoder_embedding');
      (await load('language:org/two', 'org/two', 'language'))();
      (await load('language:org/two:long', 'org/two', 'language'))();
      const named = { baseOf: (name: string) => (name === 'made' ? 'org/two' : name) };
      const onUse = [{ model: 'org/coming', id: 'task', bytes: 5, totalBytes: 20, bytesPerSecond: 5, restS: 3 } as unknown as ModelFetch];
      const fetches = { running: () => ({ onUse, followed: ['org/pulled'] }) };
      return { dataDir, models, named, fetches, hub: { cache: dataDir } };
    },
    close: () => models.close(),
  },
  [
    {
      name: 'says what each is, where it runs and what it takes',
      path: '/v1/models/loaded',
      json: ({ models: [one, two], fetching }) => {
        const unknown = { bytes: null, total_bytes: null, bytes_per_second: null, eta_seconds: null };
        assert.deepEqual(fetching, [
          { model: 'org/coming', task_id: 'task', bytes: 5, total_bytes: 20, bytes_per_second: 5, eta_seconds: 3 },
          { model: 'org/pulled', task_id: null, ...unknown },
        ]);
        const { memory_bytes, ...rest } = one;
        assert.deepEqual(rest, {
          ...{ name: 'org/one', type: 'encoder_embedding', key: 'encoder:org/one:q8' },
          ...{ devices: ['Vulkan0'], why: 'it fits', uses: 1, stays_s: 300 },
        });
        if (process.platform === 'linux') assert.ok(memory_bytes > 1e7, String(memory_bytes));
        assert.equal(two.uses, 0);
      },
    },
    {
      name: 'unloads all that have a name, also one that was made of them',
      method: 'POST',
      path: '/v1/models/unload',
      body: { model: 'made' },
      json: (body) => {
        assert.deepEqual(body, { model: 'made', unloaded: 2 });
        assert.deepEqual(
          models.loaded().map(({ name }) => name),
          ['org/one'],
        );
      },
    },
    {
      name: 'lets one that is in use go at the end of its use, named by its key',
      method: 'POST',
      path: '/v1/models/unload',
      body: { model: 'encoder:org/one:q8' },
      json: async (body) => {
        assert.equal(body.unloaded, 1);
        assert.equal(models.loaded().length, 1);
        release();
        await until(() => models.loaded().length === 0);
      },
    },
  ],
);
