import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Gate } from '../../../../runtime/base/gate.js';

const NEVER = new AbortController().signal;

/** Work that ends when it is told to. */
function work(): { begun: boolean; end: () => void; run: () => Promise<string> } {
  let end = (): void => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const one = {
    begun: false,
    end: () => end(),
    run: async () => {
      one.begun = true;
      await done;
      return 'done';
    },
  };
  return one;
}

describe('gate', () => {
  it('lets so many in at a time, in their order', async () => {
    const gate = new Gate('fits', 2, 2);
    const [a, b, c, d] = [work(), work(), work(), work()];
    const all = [a, b, c, d].map((one) => gate.run(NEVER, one.run));
    await turn();
    assert.deepEqual(
      [a, b, c, d].map(({ begun }) => begun),
      [true, true, false, false],
    );
    b.end();
    await all[1];
    await turn();
    assert.deepEqual([c.begun, d.begun], [true, false]);
    const e = work();
    const last = gate.run(NEVER, e.run);
    await turn();
    assert.equal(e.begun, false);
    for (const one of [a, c, d, e]) one.end();
    assert.deepEqual(await Promise.all([...all, last]), Array(5).fill('done'));
  });

  it('refuses when too many wait', async () => {
    const gate = new Gate('fits', 1, 1);
    const [a, b] = [work(), work()];
    const all = [gate.run(NEVER, a.run), gate.run(NEVER, b.run)];
    await assert.rejects(gate.run(NEVER, work().run), { kind: 'busy', message: /Too many fits: 1 are running and 1 wait/, retryAfterS: 5 });
    a.end();
    b.end();
    await Promise.all(all);
    assert.equal(await gate.run(NEVER, () => Promise.resolve('again')), 'again');
  });

  it('forgets who left while waiting, and gives the place of who failed to the next', async () => {
    const gate = new Gate('fits', 1, 2);
    const [a, b, c] = [work(), work(), work()];
    const leave = new AbortController();
    const first = gate.run(NEVER, async () => {
      await a.run();
      throw new Error('failed');
    });
    const second = gate.run(leave.signal, b.run);
    const third = gate.run(NEVER, c.run);
    leave.abort(new Error('left'));
    await assert.rejects(second, /left/);
    a.end();
    await assert.rejects(first, /failed/);
    await turn();
    assert.deepEqual([b.begun, c.begun], [false, true]);
    c.end();
    await third;
    await assert.rejects(gate.run(AbortSignal.abort(new Error('gone')), work().run), /gone/);
  });
});
