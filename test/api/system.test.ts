import assert from 'node:assert/strict';
import { coreEndpoints } from '../../gateway/core/index.js';
import { DATASET_BYTES } from '../../runtime/library/datasets/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openRuntime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { emptyDataDir } from '../support/daemon.js';
import { type Scenario, scenarios } from '../support/scenario.js';

const volume =
  (path: unknown) => (value: { path: unknown; total_bytes: number; used_bytes: number; free_bytes: number; percent_free: number }) => {
    if (path) assert.equal(value.path, path);
    assert.ok(value.total_bytes > 0 && value.used_bytes >= 0 && value.free_bytes >= 0);
    assert.ok(value.percent_free >= 0 && value.percent_free <= 100);
  };

const dataDir = emptyDataDir();

/** Health and system answers on a real runtime. */
const TABLE: Scenario[] = [
  { name: 'says hello', path: '/', json: (body) => assert.deepEqual(body, { message: 'Hello, World!' }) },
  { name: 'is alive', path: '/health/liveness', json: (body) => assert.deepEqual(body, { status: 'alive' }) },
  { name: 'answers with and without a trailing slash', path: '/health/liveness/', json: (body) => assert.equal(body.status, 'alive') },
  {
    name: 'reports every component',
    path: '/health',
    json: (body) => {
      assert.equal(body.status, 'healthy');
      assert.deepEqual(
        body.components.map(({ name }: { name: string }) => name),
        ['server', 'storage', 'rag-service', 'speech', 'built-in-model', 'universal-runtime'],
      );
      for (const component of body.components)
        assert.ok(component.message.length > 0 && Number.isInteger(component.latency_ms), JSON.stringify(component));
      assert.equal(body.services.storage, 'healthy');
      assert.match(body.components[1].message, /, \d+ MB free$/);
      assert.match(body.summary, /server=healthy, storage=healthy/);
      assert.ok(Math.abs(body.timestamp - Date.now() / 1000) < 60);
      const [{ message, ...seed }] = body.seeds;
      const runtime = { provider: 'universal', model: 'quern-tiny' };
      assert.deepEqual(seed, { name: 'project_seed', namespace: 'llamafarm', status: 'healthy', latency_ms: 0, runtime });
      assert.match(message, /^the help has \d+ pages; they are read at the first question$/);
    },
  },
  {
    name: 'tells version, data directory and platform',
    path: '/info',
    json: (body) => {
      assert.equal(body.version, '9.9.9');
      assert.equal(body.data_directory, dataDir);
      assert.equal(body.node_version, process.version);
    },
  },
  {
    name: 'tells what the machine is, with advice',
    path: '/v1/system/device',
    json: (body) => {
      assert.ok(body.processor !== '' && body.cores > 0 && body.memory_bytes > 1e8 && body.free_memory_bytes > 0);
      assert.ok(
        body.findings.some(({ about, found }: { about: string; found: string }) => about === 'processor' && found.includes(body.processor)),
      );
      for (const { state } of body.findings) assert.match(state, /^(?:good|note|bad)$/);
    },
  },
  {
    name: 'suggests models that fit the machine',
    path: '/v1/models/suggestions',
    json: (body) => {
      assert.ok(body.models.length > 0 && body.memory_bytes > 0);
      for (const { task, name, bytes, tokens_per_s: speed, best, here } of body.models) {
        assert.ok(bytes < body.memory_bytes && name !== '' && typeof best === 'boolean' && here === false);
        assert.equal(speed !== null, task === 'chat', name);
      }
    },
  },
  {
    name: 'lists no model in memory, and those that are built in',
    path: '/v1/models/loaded',
    json: (body) => {
      assert.deepEqual([body.models, body.loading, body.fetching], [[], [], []]);
      assert.equal(body.built_in[0].name, 'quern-tiny');
    },
  },
  {
    name: 'unloads none that is not in memory',
    method: 'POST',
    path: '/v1/models/unload',
    body: { model: 'org/absent' },
    status: 404,
    contains: ['org/absent', '/v1/models/loaded'],
  },
  { name: 'unloads no model without a name', method: 'POST', path: '/v1/models/unload', body: {}, status: 422 },
  {
    name: 'checks the version without a network',
    path: '/v1/system/version-check',
    json: (body) => {
      assert.deepEqual([body.current_version, body.latest_version, body.from_cache, body.published_at], ['9.9.9', '9.9.9', true, null]);
      assert.ok(body.release_notes.length > 0 && body.install.mac_linux.length > 0 && body.install.windows.length > 0);
    },
  },
  {
    name: 'measures both volumes',
    path: '/v1/system/disk',
    json: (body) => {
      volume(dataDir)(body.cache);
      volume('/')(body.system);
    },
  },
  { name: 'knows no other path', path: '/nothing', status: 404, contains: ['Not Found'] },
  {
    name: 'allows no other method',
    method: 'DELETE',
    path: '/health',
    status: 405,
    contains: ['Method Not Allowed'],
    answerHeaders: { allow: /GET/ },
  },
];

/** A runtime of which only the health is asked. */
const ailing = {
  checks: [
    { name: 'fine', run: () => ({ status: 'healthy', message: 'all is well' }) },
    { name: 'slow', run: async () => ({ status: 'degraded', message: 'it is slow' }) },
    { name: 'told', run: () => Promise.reject(new Failure('unavailable', 'It is closed.')) },
    {
      name: 'odd',
      run: () => {
        throw new Error('canary');
      },
    },
  ],
  help: { seed: async () => ({ name: 'project_seed', status: 'unhealthy', message: 'it is ill, which is no harm to the whole' }) },
} as unknown as Runtime;

scenarios('health of what is not well', { endpoints: coreEndpoints, context: () => ailing }, [
  {
    name: 'is that of the worst component, with the reasons that are for the caller',
    path: '/health',
    lacks: ['canary'],
    json: ({ status, summary, components }) => {
      assert.deepEqual([status, summary], ['unhealthy', 'fine=healthy, slow=degraded, told=unhealthy, odd=unhealthy']);
      assert.deepEqual(
        components.map(({ message }: { message: string }) => message),
        ['all is well', 'it is slow', 'It is closed.', 'the check failed'],
      );
    },
  },
]);

scenarios(
  'health and system',
  {
    endpoints: coreEndpoints,
    context: () =>
      openRuntime({
        version: '9.9.9',
        dataDir,
        runtimeUrls: [],
        runtimePort: 0,
        datasetQuotaBytes: DATASET_BYTES,
        startRunner: () => Promise.reject(new Error('not in this test')),
      }),
    close: (runtime) => runtime.close(),
  },
  TABLE,
);
