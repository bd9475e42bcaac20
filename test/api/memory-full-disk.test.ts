import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { memoryEndpoints } from '../../gateway/core/memory.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type MemoryStage, openMemoryStage } from '../support/memory/store-stage.js';
import { run } from '../support/run.js';
import { send } from '../support/scenario.js';

setLogLevel('error');

/** A small file system of its own; undefined where none may be mounted. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'quern-memory-full-'));
  if (run('mount', '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder)) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

const disk = smallDisk();
const skip = disk === undefined ? 'needs the right to mount a file system' : false;

describe('memory on a full disk', { skip }, () => {
  const ballast = join(disk ?? '', 'ballast');
  let stage: MemoryStage;
  let application: Application;
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(application, { method, path: `/v1/projects/ns/p/memory/${path}`, body });
    return { status: answer.status, json: JSON.parse(answer.text) };
  };
  const large = (i: number) => ({ data: `${i} ${'x'.repeat(200_000)}`, latitude: 1, longitude: i % 90, user_id: 'u' });

  before(async () => {
    stage = await openMemoryStage(undefined, disk!, Date.now());
    application = dispatch({
      endpoints: memoryEndpoints,
      context: { memories: stage.memories, dataDir: disk! },
      access: { bindHost: '127.0.0.1' },
    });
  });
  after(async () => {
    await stage.close();
    run('umount', disk!);
    rmSync(disk!, { recursive: true, force: true });
  });

  it('refuses with 507, keeps what it has, and goes on when there is room again', async () => {
    assert.equal((await ask('POST', 'add', large(0))).status, 200);
    const { bavail, bsize } = statfsSync(disk!);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
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
    rmSync(ballast);
    assert.equal((await ask('POST', 'add', large(99))).status, 200);
    assert.equal((await ask('GET', 'stats')).json.total_records, kept + 1);
    stage = await stage.restart();
    assert.equal((await stage.main()).counts().records, kept + 1);
  });
});
