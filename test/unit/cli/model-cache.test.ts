import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { openModelCache } from '../../../cli/models/model-cache.js';
import { readOptions } from '../../../gateway/daemon/options.js';
import { statusEndpoints } from '../../../gateway/universal/status.js';
import type { LoadedEngine } from '../../../runtime/engines/contracts/loaded.js';
import { encoderKey } from '../../../runtime/models/residency/key.js';
import { Models } from '../../../runtime/models/residency/models.js';
import { freePort } from '../../support/ports.js';
import { listenOn } from '../../support/vision/listen.js';

const root = mkdtempSync(join(tmpdir(), 'quern-cache-'));
/** No answer is late, however busy this machine is. */
const ANSWER_MS = 600_000;
process.env.HF_HUB_CACHE = join(root, 'hub');
after(() => rmSync(root, { recursive: true, force: true }));

it('the removal of a model waits for a runtime without the core API that loads it', async () => {
  const graph = join(root, 'hub/models--org--slow/snapshots/abc/model.onnx');
  mkdirSync(join(graph, '..'), { recursive: true });
  writeFileSync(graph, 'graph');
  const models = new Models({ dataDir: root });
  const runtime = await listenOn(statusEndpoints, { version: '0.0.0', models });
  const port = { core: await freePort(), runtime: new URL(runtime.url).port };
  const options = readOptions(['--port', `${port.core}`, '--runtime-port', port.runtime, '--data-dir', root], {});
  const cache = await openModelCache(options, ANSWER_MS);

  const key = encoderKey('embedding', { format: 'onnx', id: 'org/slow', quantisation: null });
  const load = async (_circuit: unknown, stop: AbortSignal): Promise<LoadedEngine> => Promise.reject(await once(stop, 'abort'));
  const held = models.hold({ key, type: 'encoder_embedding', name: 'org/slow', sizeBytes: 0, load }, AbortSignal.timeout(60_000));
  held.catch(() => {});
  try {
    await assert.rejects(cache.remove('org/slow'), { kind: 'conflict', code: 'ModelInUse' });
    assert.ok(existsSync(graph));
    const listed = (await (await fetch(`${runtime.url}/v1/models`)).json()) as { data: unknown[] };
    assert.deepEqual(listed.data, [], 'only what is loaded is listed');
    await models.close();
    assert.equal(await cache.remove('org/slow'), 'graph'.length);
  } finally {
    await cache.close();
    await runtime.end();
    await models.close();
  }
});

it('a name that an address would fold removes nothing else', async () => {
  const asked: string[] = [];
  const daemon = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data_directory: '/', size_freed: 1 }));
  });
  await once(daemon.listen(0, '127.0.0.1'), 'listening');
  const options = readOptions(['--port', String((daemon.address() as AddressInfo).port), '--data-dir', root], {});
  const cache = await openModelCache(options, ANSWER_MS);
  asked.length = 0;
  for (const name of ['../projects/default/quickstart', 'org/..', 'org/./repo', '..', '.', '', '/org/repo', 'org//repo'])
    await assert.rejects(cache.remove(name), { kind: 'bad_request', code: 'InvalidModelName' }, name);
  assert.deepEqual(asked, []);
  assert.equal(await cache.remove('org/repo:Q4_K_M'), 1);
  assert.deepEqual(asked, ['DELETE /v1/models/org/repo%3AQ4_K_M']);
  await cache.close();
  daemon.close();
});

it('nothing is removed while what listens does not say in time what it has loaded', async (test) => {
  const silent = createServer(() => {});
  test.after(() => {
    silent.close();
    silent.closeAllConnections();
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const port = String((silent.address() as AddressInfo).port);
  for (const ports of [
    ['--port', port, '--runtime-port', String(await freePort())],
    ['--port', String(await freePort()), '--runtime-port', port],
  ]) {
    const cache = await openModelCache(readOptions([...ports, '--data-dir', root], {}), 10);
    await assert.rejects(cache.remove('org/slow'), { kind: 'unavailable', message: /cannot be told/ });
    await cache.close();
  }
});
