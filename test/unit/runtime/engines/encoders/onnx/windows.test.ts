import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { windowsOf } from '../../../../../../runtime/engines/encoders/onnx/entities.js';

describe('windows', () => {
  it('are one for what fits, also for nothing', () => {
    assert.deepEqual(windowsOf(0, 10), [{ start: 0, end: 0, from: 0, to: 0 }]);
    assert.deepEqual(windowsOf(10, 10), [{ start: 0, end: 10, from: 0, to: 10 }]);
  });

  it('read each token once, from a full window in whose middle it lies nearest', () => {
    for (const room of [1, 2, 3, 4, 7, 62, 510])
      for (const tokens of [1, 2, 3, 11, 63, 125, 511, 1000, 5003]) {
        const windows = windowsOf(tokens, room);
        const read = windows.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at));
        assert.deepEqual(
          read,
          Array.from({ length: tokens }, (_, at) => at),
          `${tokens} in ${room}`,
        );
        for (const { start, end, from, to } of windows) {
          assert.ok(start >= 0 && end <= tokens && start <= from && to <= end, `${start}-${end} reads ${from}-${to}`);
          assert.equal(end - start, Math.min(room, tokens));
        }
      }
  });

  it('overlap, so that no token is read at an edge inside the text', () => {
    const windows = windowsOf(2000, 510);
    for (const [index, { start, end, from, to }] of windows.entries()) {
      if (index > 0) assert.ok(from - start >= 32, `window ${index} reads from ${from - start} on`);
      if (index < windows.length - 1) assert.ok(end - to >= 32, `window ${index} reads up to ${end - to} before its end`);
    }
    assert.equal(windows.length, 5);
  });
});
