import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { memoryEndpoints } from '../../gateway/core/memory.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type MemoryStage, openMemoryStage } from '../support/memory/store-stage.js';
import { send } from '../support/scenario.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';

setLogLevel('error');

const disk = SmallDisk.mount(16);
const skip = skipWithout(disk);

describe('memory on a full disk', { skip }, () => {
  let stage: MemoryStage;
  let application: Application;
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(application, { method, path: `/v1/projects/ns/p/memory/${path}`, body });
    return { status: answer.status, json: JSON.parse(answer.text) };
  };
  const large = (i: number) => ({ data: `${i} ${'x'.repeat(200_000)}`, latitude: 1, longitude: i % 90, user_id: 'u' });

  before(async () => {
    stage = await openMemoryStage(undefined, disk!.folder, Date.now());
    application = dispatch({
      endpoints: memoryEndpoints,
      // Nothing is consolidated here.
      context: { memories: stage.memories, mind: { consolidating: async () => undefined }, dataDir: disk!.folder } as never,
      access: { bindHost: '127.0.0.1' },
    });
  });
  after(async () => {
    await stage.close();
    disk!.unmount();
  });

  it('refuses with 507, keeps what it has, and goes on when there is room again', async () => {
    assert.equal((await ask('POST', 'add', large(0))).status, 200);
    disk!.fill();
    let kept = 1;
    let refused = 0;
    // What was set aside before is used first.
    for (let i = 1; i < 40 && refused < 3; i += 1) {
      const { status, json } = await ask('POST', 'add', large(i));
      if (status === 200) kept += 1;
      else refused += 1;
      if (status !== 200) assert.deepEqual([status, json.error], [507, 'disk_full']);
    }
    assert.equal(refused, 3);
    const store = await stage.main();
    const together = async function* () {
      for (let i = 0; i < 4; i += 1) yield [{ type: 'text' as const, data: large(i).data }];
    };
    await assert.rejects(store.addTogether(4, together()), { kind: 'disk_full' });
    assert.equal((await ask('GET', 'stats')).json.total_records, kept);
    assert.equal((await ask('GET', 'query?latitude=1&longitude=0&radius_m=10')).json.results.length, 1);
    // Removing takes pages too.
    assert.equal((await ask('POST', 'forget', { user_id: 'u' })).status, 507);
    disk!.free();
    assert.equal((await ask('POST', 'add', large(99))).status, 200);
    assert.equal((await ask('GET', 'stats')).json.total_records, kept + 1);
    stage = await stage.restart();
    assert.equal((await stage.main()).counts().records, kept + 1);
  });
});
