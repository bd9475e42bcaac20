import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { RemoteAnomaly } from '../../../../runtime/remote/anomaly.js';
import { RemoteBuffers } from '../../../../runtime/remote/buffers.js';
import { RemoteClassifiers } from '../../../../runtime/remote/classifiers.js';
import { RemoteStreams } from '../../../../runtime/remote/streams.js';

const never = new AbortController().signal;

describe('runtimes elsewhere', () => {
  const outbound = new Outbound();
  after(() => outbound.close());
  const gone = ['http://127.0.0.1:9'];
  const buffers = new RemoteBuffers(outbound, gone);

  for (const [what, ask] of [
    ['anomaly detection', () => new RemoteAnomaly(outbound, gone).list(never)],
    ['classifiers', () => new RemoteClassifiers(outbound, gone).list(never)],
    ['buffers', () => buffers.list(never)],
    ['rows of buffers', () => buffers.read('b', {}, 'application/json', never)],
    ['streams', () => new RemoteStreams(outbound, gone).list(never)],
  ] as const)
    it(`${what} that cannot be reached tell which setting names the runtime`, () =>
      assert.rejects(ask(), { status: 503, message: /runtime not available .*correct --runtime-url \(RUNTIME_URL\)\.$/ }));
});
