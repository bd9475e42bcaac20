import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { MAX_ADDRESSES, MAX_WRONG_KEYS, WINDOW_MS, WrongKeys } from '../../../../gateway/http/access.js';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { processorMs } from '../../../support/processor-time.js';

/** Addresses that are counted together. */
const SAME: readonly (readonly [string, string, boolean])[] = [
  ['10.0.0.1', '10.0.0.2', false],
  ['10.0.0.1', '::ffff:10.0.0.1', true],
  ['10.0.0.1', '0000:0000:0000:0000:0000:ffff:0a00:0001', true],
  ['2001:db8::1', '2001:0db8:0000:0000:ffff:0000:0000:0002', true],
  ['2001:db8::1', '2001:db8:0:1::1', false],
  ['::1', '0000:0000:0000:0000:0000:0000:0000:0001', true],
  ['::1', '::ffff:127.0.0.1', false],
  ['fe80::1%eth0', 'fe80::2', true],
];

describe('wrong keys', () => {
  before(() => setLogLevel('error'));

  it('are counted in a window that slides', () => {
    const keys = new WrongKeys();
    const waits = Array.from({ length: MAX_WRONG_KEYS }, (_, at) => keys.note('10.0.0.1', at * 1000));
    assert.deepEqual(new Set(waits), new Set([0]));
    assert.equal(keys.note('10.0.0.1', 10_000), WINDOW_MS / 1000 - 10);
    assert.equal(keys.note('10.0.0.1', WINDOW_MS - 1), 1, 'a wrong key that was refused does not lengthen the wait');
    assert.equal(keys.note('10.0.0.1', WINDOW_MS), 0, 'the first one counts no more');
    assert.equal(keys.note('10.0.0.1', WINDOW_MS), 1);
    assert.equal(keys.note('10.0.0.2', 10_000), 0);
  });

  for (const [one, other, together] of SAME) {
    it(`of ${one} and ${other} are counted ${together ? 'together' : 'apart'}`, () => {
      const keys = new WrongKeys();
      for (let at = 0; at < MAX_WRONG_KEYS; at += 1) keys.note(one, 0);
      assert.equal(keys.note(other, 0) > 0, together);
    });
  }

  it('are remembered for so many addresses, at a cost that does not grow', () => {
    const keys = new WrongKeys();
    const ms = processorMs(() => {
      for (let at = 0; at < 50_000; at += 1) keys.note(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, 0);
    });
    assert.equal(keys.size, MAX_ADDRESSES);
    assert.ok(ms < 2000, `${ms} ms`);
  });
});
