import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { lockDataDir } from '../../../../gateway/daemon/data-directory.js';
import { Failure } from '../../../../schemas/errors.js';

const folder = (): string => mkdtempSync(join(tmpdir(), 'quern-lock-'));
const LOCK_MODULE = new URL('../../../../gateway/daemon/data-directory.js', import.meta.url).href;

/** Tries to take the lock in a process of its own, which then lives until it is killed; `outcome` is what it printed. */
function contender(dataDir: string): { outcome: Promise<string>; child: ChildProcess } {
  const script = `import { lockDataDir } from ${JSON.stringify(LOCK_MODULE)};
    setInterval(() => {}, 1e6);
    try { lockDataDir(${JSON.stringify(dataDir)}); console.log('taken'); } catch (error) { console.log(error.kind); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { outcome: once(child.stdout, 'data').then(([chunk]) => String(chunk).trim()), child };
}

describe('the lock of a data directory', () => {
  it('is refused to a second taker with the owner and the remedy, and free after release', () => {
    const dataDir = folder();
    const lock = lockDataDir(dataDir);
    assert.throws(
      () => lockDataDir(dataDir),
      (error: unknown) =>
        error instanceof Failure &&
        error.kind === 'busy' &&
        error.message.includes(`pid ${process.pid}`) &&
        error.message.includes('--data-dir'),
    );
    lock.release();
    lockDataDir(dataDir).release();
    assert.deepEqual(readdirSync(dataDir), []);
  });

  it('is taken over from a dead owner, a recycled pid and a torn file', () => {
    for (const content of [
      JSON.stringify({ pid: 2 ** 22 - 3, started: '1' }),
      JSON.stringify({ pid: process.pid, started: 'another time' }),
      '{"pid":',
    ]) {
      const dataDir = folder();
      writeFileSync(join(dataDir, 'quern.lock'), content);
      lockDataDir(dataDir).release();
      assert.ok(!existsSync(join(dataDir, 'quern.lock')));
    }
  });

  it('names a directory that cannot be written to, and the remedy', (t) => {
    const below = (path: string) => (error: unknown) =>
      error instanceof Failure && error.kind === 'unavailable' && error.message.includes(path) && error.message.includes('--data-dir');
    const plainFile = join(folder(), 'file');
    writeFileSync(plainFile, '');
    assert.throws(() => lockDataDir(join(plainFile, 'below')), below(plainFile));
    if (process.platform === 'linux') assert.throws(() => lockDataDir('/proc/below/another'), below('/proc/below'));
    const dataDir = folder();
    if (!existsSync('/dev/full')) return t.diagnostic('no /dev/full here: the full disk was not tried');
    // Every write to this device is refused as on a full disk.
    symlinkSync('/dev/full', join(dataDir, `quern.lock.${process.pid}`));
    assert.throws(() => lockDataDir(dataDir), /ENOSPC.*the disk is full: free some space/);
    assert.deepEqual(readdirSync(dataDir), []);
  });

  it('is taken over from a killed owner that nobody has waited for', { skip: process.platform !== 'linux' }, async () => {
    // The shell turns into a program that waits for no child.
    const parent = spawn('sh', ['-c', 'sleep 30 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(parent.stdout, 'data');
      const pid = Number(String(line));
      const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      const dataDir = folder();
      writeFileSync(join(dataDir, 'quern.lock'), JSON.stringify({ pid, started: fields()[19] }));
      assert.throws(() => lockDataDir(dataDir), { kind: 'busy' });
      while (!readFileSync(`/proc/${parent.pid}/comm`, 'utf8').startsWith('sleep')) await setImmediate();
      process.kill(pid, 'SIGKILL');
      while (fields()[0] !== 'Z') await setImmediate();
      lockDataDir(dataDir).release();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('goes to exactly one of several that start at once over a dead lock', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'quern.lock'), JSON.stringify({ pid: 2 ** 22 - 3, started: '1' }));
    const contenders = Array.from({ length: 6 }, () => contender(dataDir));
    const outcomes = await Promise.all(contenders.map(({ outcome }) => outcome)).finally(() => {
      for (const { child } of contenders) child.kill('SIGKILL');
    });
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'taken').length, 1, outcomes.join(' '));
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'busy').length, 5, outcomes.join(' '));
  });
});
