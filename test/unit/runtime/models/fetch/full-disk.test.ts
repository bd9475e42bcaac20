import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../support/run.js';
import { bytesOf, type HubStage, hubStage } from './stage.js';

const MIB = 1024 * 1024;

/** A small file system of its own; undefined where none may be mounted. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'quern-hub-full-'));
  if (run('mount', '-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', folder)) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

const disk = smallDisk();
const skip = disk === undefined ? 'needs the right to mount a file system' : false;

describe('downloading to a full disk', { skip }, () => {
  let stage: HubStage;
  before(async () => {
    stage = await hubStage();
  });
  after(async () => {
    await stage.close();
    run('umount', disk!);
  });

  it('stops with disk_full, keeps what has come, and goes on when there is room', async () => {
    const weights = bytesOf(40 * MIB);
    stage.server.put('org/full', { 'model.gguf': weights });
    const hub = stage.hub({ cache: disk! });
    const { signal } = new AbortController();
    const plan = await hub.plan('org/full', signal);
    assert.equal((await hub.fit(plan)).canDownload, true);
    const ballast = join(disk!, 'ballast');
    const { bavail, bsize } = statfsSync(disk!);
    // Taken by somebody else after the download was found to fit.
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 20 * MIB));
    const events = [];
    for await (const event of hub.download(plan, signal)) events.push(event);
    const last = events.at(-1)!;
    assert.ok(last.event === 'error' && last.status === 507, JSON.stringify(last));
    const left = statfsSync(disk!);
    assert.ok(left.bavail * left.bsize >= MIB, 'the last of the space stays free');
    assert.ok(readdirSync(join(disk!, 'models--org--full', 'blobs')).some((name) => name.endsWith('.incomplete')));
    const refused = await hub.fit(plan);
    assert.deepEqual([refused.canDownload, /HF_HUB_CACHE/.test(refused.message)], [false, true]);
    rmSync(ballast);
    const before = stage.server.seen.length;
    assert.equal((await stage.pull('org/full', hub)).at(-1)!.event, 'complete');
    const ranges = stage.server.seen.slice(before).flatMap(({ range }) => range ?? []);
    assert.ok(!ranges.includes(`bytes=0-${32 * MIB - 1}`), ranges.join());
  });
});
