import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../support/daemon.js';

const CHILD = join(import.meta.dirname, 'recording-child.js');
const ROUNDS = 2;
/** Events that are stored before the first kill, by several writes; each takes those of 100 ms. */
const STORED = 100;

/** Lets a child keep events until so many are stored, and kills it; the ids of all that it said are stored. */
async function killWhileRecording(dir: string, count: number): Promise<string[]> {
  const child = fork(CHILD, [dir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const stored: string[] = [];
  child.on('message', (id: string) => {
    if (stored.push(id) === count) child.kill('SIGKILL');
  });
  const [, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('close', (...end) => resolve(end)));
  assert.equal(signal, 'SIGKILL');
  return stored;
}

describe('event logs under SIGKILL', () => {
  it('lose what ended in the last moment, and nothing that was stored', async () => {
    const dir = emptyDataDir();
    const stored: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) stored.push(...(await killWhileRecording(dir, STORED + 17 * round)));
    const store = await openStore(dir);
    assert.equal(store.health().status, 'healthy');
    const lost = stored.filter((id) => store.events.get(['ns', 'p', id]) === undefined);
    assert.deepEqual(lost, []);
    await store.close();
  });
});
