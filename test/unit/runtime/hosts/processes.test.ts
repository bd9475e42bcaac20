import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CpuMeter, type CpuSpent } from '../../../../runtime/hosts/processes.js';

/** So long a process rests that has come to rest, in milliseconds. */
const QUIET_MS = 200;

/** Whether a process comes to rest, and the signal that it gets at its start. */
interface Life {
  readonly rests?: boolean;
  readonly signal?: NodeJS.Signals;
}

/** A process that runs a script, once it has said that it is ready. */
async function started(script: string) {
  const child = spawn(process.execPath, ['-e', `process.stdout.write('.');${script}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** What a process spends, looked at every 50 ms until it is `enough`. One that is to rest does so before: its start takes long where others work. */
async function spentBy(script: string, enough: (spent: CpuSpent) => boolean, { rests = false, signal }: Life = {}): Promise<CpuSpent> {
  const child = await started(script);
  try {
    if (signal) child.kill(signal);
    const meter = new CpuMeter(child.pid);
    for (let quietMs = 0; rests && quietMs < QUIET_MS; ) {
      await delay(50);
      const { workedMs, idleMs } = meter.take();
      quietMs = workedMs > 0 ? 0 : quietMs + idleMs;
    }
    const spent = { workedMs: 0, idleMs: 0 };
    do {
      await delay(50);
      const { workedMs, idleMs } = meter.take();
      spent.workedMs += workedMs;
      spent.idleMs += idleMs;
    } while (!enough(spent));
    return spent;
  } finally {
    child.kill('SIGKILL');
  }
}

describe('the effort of a process', { skip: process.platform === 'linux' ? false : 'only Linux tells' }, () => {
  it('is its processor time while it works, and never idle', async () => {
    const { idleMs } = await spentBy('for (;;) Math.sqrt(2);', ({ workedMs }) => workedMs > 100);
    assert.equal(idleMs, 0);
  });

  it('is none while it waits or is stopped', async () => {
    const rests = (script: string, signal?: NodeJS.Signals) =>
      spentBy(script, ({ idleMs }) => idleMs >= 400, { rests: true, ...(signal ? { signal } : {}) });
    for (const { workedMs } of [await rests('setTimeout(() => {}, 1e6);'), await rests('for (;;);', 'SIGSTOP')])
      assert.ok(workedMs <= 30, `${workedMs}`);
  });

  it('is all idle where the process is gone', async () => {
    const effort = new CpuMeter(2 ** 22 - 1);
    await delay(20);
    const { workedMs, idleMs } = effort.take();
    assert.equal(workedMs, 0);
    assert.ok(idleMs >= 19);
  });
});
