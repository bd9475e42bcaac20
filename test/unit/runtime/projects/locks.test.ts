import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Locks } from '../../../../runtime/base/gate.js';

test('locks: one after the other on a key, also after a failure and when they come while others end', async () => {
  const locks = new Locks();
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await nextTurn();
    running -= 1;
    throw new Error('it failed');
  };
  const all = [locks.run('a', work), locks.run('a', work), locks.run('a', work)];
  // Joins when the first has ended and the others have not.
  const late = all[0]!.catch(() => nextTurn()).then(() => locks.run('a', work));
  const outcomes = await Promise.allSettled([...all, late]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    Array(4).fill('rejected'),
  );
  assert.equal(most, 1);
});

test('locks: different keys do not wait for each other', async () => {
  const locks = new Locks();
  let open!: () => void;
  const held = locks.run('a', () => new Promise<void>((resolve) => (open = resolve)));
  assert.equal(await locks.run('b', async () => 'free'), 'free');
  open();
  await held;
});
