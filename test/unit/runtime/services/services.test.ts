import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { openSomeServices } from '../../../support/services.js';

describe('services', () => {
  it('are the same for the core where no runtime is elsewhere', () => {
    const { here, core } = openSomeServices({ dataDir: '/nowhere' });
    assert.equal(core, here);
  });

  it('ask the other runtime for the core, and this machine for the rest', async () => {
    const outbound = new Outbound();
    const { here, core, inMemory, close } = openSomeServices({ dataDir: '/nowhere', outbound, runtimeUrls: ['http://127.0.0.1:9'] });
    assert.deepEqual(Object.keys(core), Object.keys(here));
    const { signal } = new AbortController();
    await assert.rejects(core.anomaly.list(signal), { code: 'RuntimeUnavailable' });
    assert.deepEqual((await here.anomaly.list(signal)).models, []);
    assert.deepEqual(inMemory(), []);
    await close();
    await outbound.close();
  });
});
