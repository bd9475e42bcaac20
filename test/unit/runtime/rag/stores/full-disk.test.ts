import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { run } from '../../../../support/run.js';
import { chunk, chunks, find, NEVER, open } from './fixture.js';

const MANY = 1_200;

describe('native store on a full disk', () => {
  it('refuses with disk_full, keeps what it had, and goes on when there is room', async (context) => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-full-store-'));
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dir)) {
      rmSync(dir, { recursive: true });
      return context.skip('needs the right to mount a file system');
    }
    setLogLevel('error');
    const ballast = join(dir, 'ballast');
    const fill = (): void => {
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    };
    try {
      const { store, close } = await open(dir);
      await store.add(chunks('a', 0, 10), NEVER);
      fill();
      for (const more of [[chunk('b', 10)], chunks('b', 10, 10 + MANY)]) {
        await assert.rejects(store.add(more, NEVER), { kind: 'disk_full' });
        assert.equal((await store.stats()).chunks, 10);
      }
      await assert.rejects(store.removeDocument('a'), { kind: 'disk_full' });
      assert.deepEqual(await find(store, 3), { dense: [chunk('a', 3).id], lexical: [chunk('a', 3).id] });
      assert.equal((await store.health()).status, 'unhealthy');
      rmSync(ballast);
      assert.deepEqual(await store.add(chunks('b', 10, 10 + MANY), NEVER), { stored: MANY, skipped: 0 });
      // The index files have no room, which keeps nobody from closing; they are made at the next start.
      await find(store, 20);
      fill();
      await close();
      rmSync(ballast);
      const again = await open(dir);
      assert.deepEqual(await find(again.store, 800), { dense: [chunk('b', 800).id], lexical: [chunk('b', 800).id] });
      assert.equal((await again.store.stats()).chunks, 10 + MANY);
      await again.close();
    } finally {
      run('umount', dir);
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
