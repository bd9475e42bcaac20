import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../support/daemon.js';

const CHILD = join(import.meta.dirname, 'recording-child.js');
const ROUNDS = 2;
/** The daemon promises 100 ms; the rest is the disk of a busy machine, and the way of the message. */
const LOST_MS = 500;

interface Ended {
  id: string;
  endedMs: number;
}

/** Lets a child keep events for a while and kills it; what it said it had ended, and when it was killed. */
async function killWhileRecording(dir: string, forMs: number): Promise<{ ended: Ended[]; killedMs: number }> {
  const child = fork(CHILD, [dir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended: Ended[] = [];
  let killedMs = 0;
  child.on('message', (message: Ended) => {
    ended.push(message);
    if (killedMs > 0 || message.endedMs - ended[0]!.endedMs < forMs) return;
    killedMs = Date.now();
    child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  return { ended, killedMs };
}

describe('event logs under SIGKILL', () => {
  it('lose what ended in the last moment, and nothing before it', async () => {
    const dir = emptyDataDir();
    const safe: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { ended, killedMs } = await killWhileRecording(dir, LOST_MS + 100 + 50 * round);
      const before = ended.filter(({ endedMs }) => endedMs < killedMs - LOST_MS);
      assert.ok(before.length > 0);
      safe.push(...before.map(({ id }) => id));
    }
    const store = await openStore(dir);
    assert.equal(store.health().status, 'healthy');
    const lost = safe.filter((id) => store.events.get(['ns', 'p', id]) === undefined);
    assert.deepEqual(lost, []);
    await store.close();
  });
});
