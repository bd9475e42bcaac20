import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { intervalMs } from '../../../../runtime/store/backups.js';
import { openStore } from '../../../../runtime/store/store.js';
import { run } from '../../../support/run.js';
import { until } from '../../../support/until.js';

const root = mkdtempSync(join(tmpdir(), 'quern-backups-'));
after(() => rmSync(root, { recursive: true, force: true }));

const copies = (dir: string): string[] => {
  try {
    return readdirSync(join(dir, 'state', 'backups'));
  } catch {
    return [];
  }
};

describe('backups of the state store', () => {
  it('are made soon after the start, and again only when they are due', async () => {
    const dir = join(root, 'soon');
    const store = await openStore(dir, { backupAfterMs: 50 });
    await store.write((batch) => batch.put('meta', 'one', 1));
    await until(() => copies(dir).some((name) => !name.endsWith('.part')));
    await store.write((batch) => batch.put('meta', 'two', 2));
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(copies(dir).length, 1);
    await store.close();
  });

  it('are made again when the last one is old, the sooner the smaller the file is', async () => {
    const MINUTE = 60_000;
    const MEBIBYTE = 2 ** 20;
    for (const [mebibytes, minutes] of [
      [1, 10],
      [64, 10],
      [96, 15],
      [1024, 160],
    ] as const)
      assert.equal(intervalMs(mebibytes * MEBIBYTE), minutes * MINUTE, `${mebibytes} MiB`);
    const dir = join(root, 'again');
    const store = await openStore(dir, { backupAfterMs: 50 });
    const folder = await store.backup();
    await store.write((batch) => batch.put('meta', 'one', 1));
    const then = Date.now() / 1000 - 11 * 60;
    utimesSync(folder, then, then);
    await until(() => copies(dir).filter((name) => !name.endsWith('.part')).length === 2);
    await store.close();
  });

  it('are two at most, and readable by nobody else', async () => {
    const dir = join(root, 'two');
    const store = await openStore(dir);
    for (let count = 0; count < 4; count += 1) await store.backup();
    assert.equal(copies(dir).length, 2);
    const [newest] = copies(dir);
    assert.equal(statSync(join(dir, 'state', 'backups', newest!)).mode & 0o777, 0o700);
    await store.close();
  });

  it('are given up when they show damage, which the store then tells of; the sound ones stay', async () => {
    const dir = join(root, 'damaged');
    const store = await openStore(dir);
    await store.write((batch) => batch.put('turns', [1, 1], { messages: [{ role: 'user', content: 'y'.repeat(300) }], atMs: 1 }));
    await store.backup();
    const sound = copies(dir);
    const file = join(dir, 'state', 'data.mdb');
    const bytes = readFileSync(file);
    bytes[bytes.lastIndexOf('y'.repeat(300)) + 10]! ^= 4;
    writeFileSync(file, bytes);
    await assert.rejects(store.backup(), { kind: 'internal', message: /damaged/ });
    assert.deepEqual(copies(dir), sound);
    assert.equal(store.health().status, 'degraded');
    assert.match(store.health().message, /Start the daemon again/);
    assert.throws(() => store.turns.get([1, 1]), { kind: 'internal', message: /damaged record/ });
    await store.close();
    const again = await openStore(dir);
    assert.equal(again.turns.get([1, 1])?.messages[0]?.content, 'y'.repeat(300));
    assert.match(again.health().message, /records could be saved/);
    await again.close();
  });

  it('are not made while the disk is nearly full', async (context) => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-small-disk-'));
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dir)) {
      rmSync(dir, { recursive: true });
      return context.skip('needs the right to mount a file system');
    }
    try {
      const store = await openStore(dir, { backupAfterMs: 20 });
      await store.write((batch) => batch.put('meta', 'one', 1));
      await new Promise((resolve) => setTimeout(resolve, 600));
      assert.deepEqual(copies(dir), []);
      await store.close();
    } finally {
      run('umount', dir);
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
