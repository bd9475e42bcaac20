import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { readPickle } from '../../../../../runtime/ml/pickle/read.js';
import { writePickle } from '../../../../../runtime/ml/pickle/write.js';

const LIMIT_MS = 60_000;

/** Runs Python; `undefined` where there is none. */
function python(code: string, input?: Uint8Array): Buffer | undefined {
  const { status, stdout, stderr, error } = spawnSync('python3', ['-I', '-c', code], {
    input: input ?? '',
    timeout: LIMIT_MS,
    maxBuffer: 2 ** 26,
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
  assert.equal(status, 0, stderr.toString());
  return stdout;
}

const skip = python('') === undefined ? 'there is no python3' : false;

describe('pickle and Python', { skip }, () => {
  it("opens our file with Python's own reader", async () => {
    const numbers = Float64Array.from([1.5, -2, 1e300]);
    const value = {
      none: null,
      yes: true,
      no: false,
      small: 7,
      negative: -3,
      big: 2 ** 40,
      huge: 2n ** 100n,
      minus: -0,
      half: 0.5,
      text: 'é😀',
      long: 'y'.repeat(70_000),
      list: [1, [2, []], {}],
      array: { dtype: '<f8', shape: [3], data: new Uint8Array(numbers.buffer) },
    };
    const check = `
import pickle, struct, sys, math
d = pickle.load(sys.stdin.buffer)
assert type(d) is dict
assert d['none'] is None and d['yes'] is True and d['no'] is False
assert (d['small'], d['negative'], d['big'], d['huge']) == (7, -3, 2**40, 2**100)
assert type(d['small']) is int and type(d['minus']) is float and math.copysign(1, d['minus']) == -1
assert d['half'] == 0.5 and d['text'] == 'é\\U0001f600' and d['long'] == 'y' * 70000
assert d['list'] == [1, [2, []], {}]
assert type(d['array']['data']) is bytes and struct.unpack('<3d', d['array']['data']) == (1.5, -2.0, 1e300)
print('read')
`;
    assert.equal(
      python(check, Buffer.concat(await writePickle(value)))!
        .toString()
        .trim(),
      'read',
    );
  });

  for (const protocol of [0, 1, 2, 3, 4, 5]) {
    it(`reads plain data that Python dumped by protocol ${protocol}`, async () => {
      const bytes = protocol < 3 ? '' : "'bytes': b'\\x00\\xff', 'long': b'z' * 300,";
      const dump = `
import pickle, sys
shared = [1, 2]
d = {'none': None, 'yes': True, 'no': False, 'ints': [0, 255, 256, 65536, -1, 2**31, 2**53, -2**63, 2**100], 'floats': [0.1, 1e300, float('inf')],
     'text': 'é\\u4e2d\\U0001f600\\n\\\\', 'tuple': (1, (2, 3), (), (1, 2, 3, 4)), ${bytes} 'twice': [shared, shared], 'nested': {'a': {}}, 'many': list(range(3000))}
sys.stdout.buffer.write(pickle.dumps(d, protocol=${protocol}))
`;
      // biome-ignore lint/suspicious/noExplicitAny: what Python wrote
      const value = (await readPickle(python(dump)!)) as any;
      assert.deepEqual([value.none, value.yes, value.no], [null, true, false]);
      assert.deepEqual(value.ints, [0, 255, 256, 65536, -1, 2 ** 31, 9007199254740992n, -(2n ** 63n), 2n ** 100n]);
      assert.deepEqual(value.floats, [0.1, 1e300, Infinity]);
      assert.equal(value.text, 'é中😀\n\\');
      assert.deepEqual(value.tuple, [1, [2, 3], [], [1, 2, 3, 4]]);
      assert.deepEqual(value.twice, [
        [1, 2],
        [1, 2],
      ]);
      assert.deepEqual(
        value.many,
        Array.from({ length: 3000 }, (_none, i) => i),
      );
      if (protocol >= 3) assert.deepEqual([Buffer.from(value.bytes), value.long.length], [Buffer.from([0, 255]), 300]);
    });

    it(`refuses an object that Python dumped by protocol ${protocol}`, async () => {
      const dump = `
import pickle, sys, datetime
sys.stdout.buffer.write(pickle.dumps({'at': datetime.date(2026, 1, 2)}, protocol=${protocol}))
`;
      await assert.rejects(readPickle(python(dump)!), { kind: 'invalid', message: /opcode (STACK_)?GLOBAL at byte \d+ is not allowed/ });
    });
  }
});
