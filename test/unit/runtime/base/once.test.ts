import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf, Lazy } from '../../../../runtime/base/once.js';

interface Counter {
  add(by: number): Promise<number>;
  spare?(): Promise<number>;
}

describe('what is opened at its first use', () => {
  const counters = (): { lazy: Lazy<Counter>; opened: () => number } => {
    let opened = 0;
    const lazy = new Lazy<Counter>(async () => {
      opened += 1;
      let sum = 0;
      return {
        add: async (by) => {
          sum += by;
          return sum;
        },
      };
    });
    return { lazy, opened: () => opened };
  };

  it('is opened by the first call, once, and not by being handed on', async () => {
    const { lazy, opened } = counters();
    const counter = await Promise.resolve(callsOf(lazy));
    assert.deepEqual([opened(), lazy.opened], [0, undefined]);
    assert.deepEqual(await Promise.all([counter.add(2), counter.add(3)]), [2, 5]);
    assert.deepEqual([opened(), await lazy.opened?.add(1)], [1, 6]);
  });

  it('is there for whoever closes it, also while it is being opened', async () => {
    const { lazy, opened } = counters();
    assert.deepEqual([await lazy.settled(), opened()], [undefined, 0]);
    const opening = lazy.get();
    assert.equal(await lazy.settled(), await opening);
    const broken = new Lazy<Counter>(() => Promise.reject(new Error('no code')));
    await assert.rejects(broken.get());
    assert.equal(await broken.settled(), undefined);
  });

  it('answers nothing for a method that what was opened lacks', async () => {
    assert.equal(await callsOf(counters().lazy).spare?.(), undefined);
  });

  it('passes failures on: those of opening, and those of a call', async () => {
    const broken = callsOf(new Lazy<Counter>(() => Promise.reject(new Error('no code'))));
    await assert.rejects(broken.add(1), /no code/);
    const failing = callsOf(new Lazy<Counter>(async () => ({ add: () => Promise.reject(new Error('no room')) })));
    await assert.rejects(failing.add(1), /no room/);
  });
});
