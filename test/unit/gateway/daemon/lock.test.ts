import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { lockDataDir } from '../../../../gateway/daemon/lock.js';
import { Failure } from '../../../../schemas/errors.js';

const folder = (): string => mkdtempSync(join(tmpdir(), 'quern-lock-'));
const LOCK_MODULE = new URL('../../../../gateway/daemon/lock.js', import.meta.url).href;

/** Tries to take the lock in a process of its own; resolves to what it printed. */
function contender(dataDir: string): Promise<string> {
  const script = `import { lockDataDir } from ${JSON.stringify(LOCK_MODULE)};
    try { lockDataDir(${JSON.stringify(dataDir)}); console.log('taken'); setTimeout(() => {}, 1500); } catch (error) { console.log(error.kind); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.on('close', () => resolve(text.trim())));
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

  it('goes to exactly one of several that start at once over a dead lock', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'quern.lock'), JSON.stringify({ pid: 2 ** 22 - 3, started: '1' }));
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => contender(dataDir)));
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'taken').length, 1, outcomes.join(' '));
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'busy').length, 5, outcomes.join(' '));
  });
});
