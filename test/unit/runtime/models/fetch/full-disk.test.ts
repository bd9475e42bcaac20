import assert from 'node:assert/strict';
import { readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SmallDisk, skipWithout } from '../../../../support/small-disk.js';
import { bytesOf, type HubStage, hubStage } from './stage.js';

const MIB = 1024 * 1024;

const disk = SmallDisk.mount(160);

describe('downloading to a full disk', { skip: skipWithout(disk) }, () => {
  let stage: HubStage;
  before(async () => {
    stage = await hubStage();
  });
  after(async () => {
    await stage.close();
    disk!.unmount();
  });

  it('stops with disk_full, keeps what has come, and goes on when there is room', async () => {
    const weights = bytesOf(40 * MIB);
    stage.server.put('org/full', { 'model.gguf': weights });
    const hub = stage.hub({ cache: disk!.folder });
    const { signal } = new AbortController();
    const plan = await hub.plan('org/full', signal);
    assert.equal((await hub.fit(plan)).canDownload, true);
    // Taken by somebody else after the download was found to fit.
    disk!.fill(20 * MIB);
    const events = [];
    for await (const event of hub.download(plan, signal)) events.push(event);
    const last = events.at(-1)!;
    assert.ok(last.event === 'error' && last.status === 507, JSON.stringify(last));
    const left = statfsSync(disk!.folder);
    assert.ok(left.bavail * left.bsize >= MIB, 'the last of the space stays free');
    assert.ok(readdirSync(join(disk!.folder, 'models--org--full', 'blobs')).some((name) => name.endsWith('.incomplete')));
    const refused = await hub.fit(plan);
    assert.deepEqual([refused.canDownload, /HF_HUB_CACHE/.test(refused.message)], [false, true]);
    disk!.free();
    const before = stage.server.seen.length;
    assert.equal((await stage.pull('org/full', hub)).at(-1)!.event, 'complete');
    const ranges = stage.server.seen.slice(before).flatMap(({ range }) => range ?? []);
    assert.ok(!ranges.includes(`bytes=0-${32 * MIB - 1}`), ranges.join());
  });
});
