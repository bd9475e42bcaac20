import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { RemoteBuffers } from '../../../../../runtime/ml/buffers/remote.js';
import { RemoteStreams } from '../../../../../runtime/ml/streams/remote.js';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import type { DetectorSettings } from '../../../../../runtime/store/store.js';
import { Failure } from '../../../../../schemas/errors.js';

const outbound = new Outbound();
after(() => outbound.close());
const { signal } = new AbortController();
/** Nobody listens there. */
const URLS = ['http://127.0.0.1:1'];
const SETTINGS = { lags: [] } as unknown as DetectorSettings;

it('an infinity is not sent on to a runtime elsewhere as a null', async () => {
  const rows = [{ v: 1, t: null }, { v: -Infinity }];
  const refused = (name: string) => (failure: unknown) => {
    assert.ok(failure instanceof Failure && failure.kind === 'invalid', String(failure));
    assert.ok(failure.message.startsWith(`Row 1, column "${name}": -Infinity (a number too large for 64 bits) is beyond 1e+150`));
    return true;
  };
  await assert.rejects(new RemoteBuffers(outbound, URLS).append('b', rows, signal), refused('v'));
  const streams = new RemoteStreams(outbound, URLS);
  await assert.rejects(streams.submit('s', SETTINGS, rows, signal), refused('v'));
  await assert.rejects(streams.submit('s', SETTINGS, [[1], [-Infinity]], signal), refused('0'));
});
