import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '../../../../runtime/store/store.js';

const CHILD = join(import.meta.dirname, 'appending-child.js');
/** Committed number of kills; `KILLS=100` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 10);

interface Acknowledged {
  run: number;
  place: number;
}

/** Lets a child append turns and kills it after a random number of acknowledgements; returns all of those. */
async function killWhileAppending(dir: string, run: number, after: number): Promise<Acknowledged[]> {
  const child = fork(CHILD, [dir, String(run)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const acknowledged: Acknowledged[] = [];
  child.on('message', (message: Acknowledged) => {
    acknowledged.push(message);
    if (acknowledged.length === after) child.kill('SIGKILL');
  });
  const [, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('close', (...end) => resolve(end)));
  assert.equal(signal, 'SIGKILL');
  return acknowledged;
}

describe('store under SIGKILL', () => {
  it(`has every acknowledged turn, whole, after each of ${KILLS} kills`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-kill-'));
    try {
      const acknowledged: Acknowledged[] = [];
      for (let round = 0; round < KILLS; round += 1) {
        const now = await killWhileAppending(dir, round, 1 + Math.floor(Math.random() * 120));
        assert.ok(now.length > 0);
        acknowledged.push(...now);
      }
      const store = await openStore(dir);
      // A kill is no damage: each start found the file sound.
      assert.equal(store.health().status, 'healthy');
      for (const { run, place } of acknowledged) {
        const turn = store.turns.get([run, place]);
        assert.deepEqual(turn?.messages, [
          { role: 'user', content: `question ${run}/${place}` },
          { role: 'assistant', content: 'a'.repeat(place % 5_000) },
        ]);
        const session = store.sessions.get(['ns', 'p', `s${run}`]);
        assert.ok(session !== undefined && session.turns > place, `session of ${run}/${place}`);
      }
      await store.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
