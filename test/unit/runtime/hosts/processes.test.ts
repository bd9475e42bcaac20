import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CpuMeter } from '../../../../runtime/hosts/processes.js';

/** A process that runs a script, once it has said that it is ready. */
async function started(script: string) {
  const child = spawn(process.execPath, ['-e', `process.stdout.write('.');${script}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** What a process spends in half a second. */
async function spentBy(script: string, signal?: NodeJS.Signals) {
  const child = await started(script);
  try {
    if (signal) child.kill(signal);
    await delay(200);
    const effort = new CpuMeter(child.pid);
    const spent = { workedMs: 0, idleMs: 0 };
    for (let round = 0; round < 10; round += 1) {
      await delay(50);
      const { workedMs, idleMs } = effort.take();
      spent.workedMs += workedMs;
      spent.idleMs += idleMs;
    }
    return spent;
  } finally {
    child.kill('SIGKILL');
  }
}

describe('the effort of a process', { skip: process.platform === 'linux' ? false : 'only Linux tells' }, () => {
  it('is its processor time while it works, and never idle', async () => {
    const { workedMs, idleMs } = await spentBy('for (;;) Math.sqrt(2);');
    assert.ok(workedMs > 20, `${workedMs}`);
    assert.equal(idleMs, 0);
  });

  it('is none while it waits or is stopped', async () => {
    for (const spent of [await spentBy('setTimeout(() => {}, 1e6);'), await spentBy('for (;;);', 'SIGSTOP')]) {
      assert.ok(spent.workedMs <= 30, `${spent.workedMs}`);
      assert.ok(spent.idleMs >= 400, `${spent.idleMs}`);
    }
  });

  it('is all idle where the process is gone', async () => {
    const effort = new CpuMeter(2 ** 22 - 1);
    await delay(20);
    const { workedMs, idleMs } = effort.take();
    assert.equal(workedMs, 0);
    assert.ok(idleMs >= 19);
  });
});
