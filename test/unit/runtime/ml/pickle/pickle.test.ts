import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPickle } from '../../../../../runtime/ml/pickle/read.js';
import { MAX_DEPTH, MAX_VALUES, type Plain } from '../../../../../runtime/ml/pickle/values.js';
import { writePickle } from '../../../../../runtime/ml/pickle/write.js';
import { longestTurnMs } from '../../../../support/longest-turn.js';

const bytes = (...parts: (string | number | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from([part].flat()))));
const written = async (value: Plain): Promise<Buffer> => Buffer.concat(await writePickle(value));
const read = (content: Uint8Array): Promise<Plain> => readPickle(content);
const refused = (content: Uint8Array, message: RegExp): Promise<void> => assert.rejects(read(content), { kind: 'invalid', message });

/** Equal as Python would compare them: dicts without regard to prototypes, bytes by content. */
function assertSame(actual: Plain, expected: Plain): void {
  if (expected instanceof Uint8Array) assert.ok(actual instanceof Uint8Array && Buffer.compare(actual, expected) === 0);
  else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual) && actual.length === expected.length);
    for (const [i, one] of expected.entries()) assertSame((actual as Plain[])[i]!, one);
  } else if (expected !== null && typeof expected === 'object') {
    assert.deepEqual(Object.keys(actual as object), Object.keys(expected));
    for (const [key, one] of Object.entries(expected)) assertSame((actual as Record<string, Plain>)[key]!, one as Plain);
  } else assert.ok(Object.is(actual, expected), `${String(actual)} instead of ${String(expected)}`);
}

/** A small generator with a seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const EDGES: Plain[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  255,
  256,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) - 1,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  1e300,
  -2.5,
  5e-324,
  Number.NaN,
  Infinity,
  -Infinity,
  2n ** 64n,
  -(2n ** 64n),
  127n << 60n,
  128n << 60n,
  -(128n << 60n),
  '',
  'a',
  'é',
  '😀',
  '__proto__',
  'x'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(70_000),
  Buffer.alloc(0),
  Buffer.from([0, 255]),
  Buffer.alloc(256, 7),
  Buffer.alloc(200_000, 9),
];

function some(next: () => number, depth: number): Plain {
  const kind = Math.floor(next() * (depth > 4 ? 5 : 8));
  const count = Math.floor(next() * 5);
  if (kind === 0) return EDGES[Math.floor(next() * 28)]!;
  if (kind === 1) return (next() - 0.5) * 10 ** Math.floor(next() * 20);
  if (kind === 2) return Math.floor((next() - 0.5) * 2 ** Math.floor(next() * 53));
  if (kind === 3) return String.fromCodePoint(...Array.from({ length: count }, () => 32 + Math.floor(next() * 0xd000)));
  if (kind === 4) return Buffer.from(Array.from({ length: count }, () => next() * 256));
  if (kind < 7) return Array.from({ length: count }, () => some(next, depth + 1));
  return Object.fromEntries(Array.from({ length: count }, (_none, i) => [`k${i}${count}`, some(next, depth + 1)]));
}

describe('pickle', () => {
  it('reads what it wrote, at the edges', async () => {
    for (const value of EDGES) assertSame(await read(await written(value)), value);
    assertSame(await read(await written(EDGES)), EDGES);
  });

  const named = (i: number): string => `\x8c${String.fromCharCode(`k${i}`.length)}k${i}`;
  const many = (count: number, of: (i: number) => string): string => Array.from({ length: count }, (_none, i) => of(i)).join('');
  const LONG: [what: string, content: Buffer, outcome: RegExp | ((value: Plain) => boolean)][] = [
    ['a list filled at once', bytes([0x80, 4], '](', 'N'.repeat(900_000), 'e.'), (value) => (value as Plain[]).length === 900_000],
    [
      'a dict filled at once',
      bytes(
        [0x80, 4],
        '}(',
        many(60_000, (i) => `${named(i)}N`),
        'u.',
      ),
      (value) => Object.keys(value as object).length === 60_000,
    ],
    [
      'a dict made at once',
      bytes(
        [0x80, 4],
        '(',
        many(60_000, (i) => `${named(i)}N`),
        'd.',
      ),
      (value) => Object.keys(value as object).length === 60_000,
    ],
    [
      'a dict of too many members',
      bytes(
        [0x80, 4],
        '}(',
        many(300_000, (i) => `${named(i)}N`),
        'u.',
      ),
      /more than 60000 members/,
    ],
    [
      'the same, one by one',
      bytes(
        [0x80, 4],
        '}',
        many(300_000, (i) => `${named(i)}Ns`),
        '.',
      ),
      /more than 60000 members/,
    ],
    ['a list of lists', bytes([0x80, 4], '(', ']'.repeat(900_000), 't.'), (value) => (value as Plain[]).length === 900_000],
    ['a text of escapes', bytes('V', '\\u0041'.repeat(500_000), '\n.'), /longer than 100000 bytes/],
    ['values remembered without end', bytes('N', [0x80, 4], '\x94'.repeat(3_500_000), '.'), /more than 1000000 values/],
    ['a value remembered far away', bytes('Np99999999\n.'), /far beyond the 0 before it/],
  ];
  for (const [what, content, outcome] of LONG)
    it(`reads or refuses ${what} in turns`, async () => {
      const longestMs = await longestTurnMs(50, async () => {
        if (outcome instanceof RegExp) await refused(content, outcome);
        else assert.ok(outcome(await read(content)));
      });
      assert.ok(longestMs < 50, `held the loop for ${longestMs} ms`);
    });

  it('reads what it wrote, for 500 random values', async () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const value = some(random(seed), 0);
      assertSame(await read(await written(value)), value);
    }
  });

  it('keeps a key that JavaScript treats specially', async () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as Plain;
    const back = await read(await written(value));
    assertSame(back, value);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it('reads the text forms of protocol 0', async () => {
    const text = bytes(
      '(dp0\nV\\u00e9\\U0001f600\np1\nI01\nsVb\nI00\nsVc\nI-7\nsVd\nL123456789012345678901L\nsVe\nF1.5e-3\nsVf\nFnan\nsVg\ng1\nsVh\n(lp2\nI1\naI2\nas.',
    );
    assertSame(await read(text), {
      'é😀': true,
      b: false,
      c: -7,
      d: 123456789012345678901n,
      e: 0.0015,
      f: Number.NaN,
      g: 'é😀',
      h: [1, 2],
    });
  });

  it('lets a list be used twice', async () => {
    const shared = bytes(0x80, 2, ']q', 0, ']q', 1, 'K', 1, 'a', 'a', 'h', 1, 'a.');
    assertSame(await read(shared), [[1], [1]]);
  });
});

const OPENED = [0x80, 4];

describe('hostile pickles', () => {
  const named: [name: string, content: Buffer, message: RegExp][] = [
    ['GLOBAL and REDUCE', bytes("cos\nsystem\n(S'id'\ntR."), /opcode GLOBAL at byte 0/],
    ['STACK_GLOBAL', bytes(OPENED, [0x8c, 2], 'os', [0x8c, 6], 'system', 0x93, '.'), /opcode STACK_GLOBAL at byte 14/],
    ['INST', bytes("(S'id'\nios\nsystem\n."), /opcode STRING at byte 1/],
    ['INST first', bytes('(ios\nsystem\n.'), /opcode INST at byte 1/],
    ['OBJ', bytes('(o.'), /opcode OBJ at byte 1/],
    ['BUILD', bytes('}}b.'), /opcode BUILD at byte 2/],
    ['NEWOBJ', bytes(OPENED, '))', 0x81, '.'), /opcode NEWOBJ at byte 4/],
    ['NEWOBJ_EX', bytes(OPENED, ')))', 0x92, '.'), /opcode NEWOBJ_EX at byte 5/],
    ['EXT1', bytes(OPENED, 0x82, 1, '.'), /opcode EXT1 at byte 2/],
    ['EXT2', bytes(OPENED, 0x83, [1, 0], '.'), /opcode EXT2 at byte 2/],
    ['EXT4', bytes(OPENED, 0x84, [1, 0, 0, 0], '.'), /opcode EXT4 at byte 2/],
    ['PERSID', bytes('Pa\n.'), /opcode PERSID at byte 0/],
    ['BINPERSID', bytes('K', 1, 'Q.'), /opcode BINPERSID at byte 2/],
    ['a buffer beside the file', bytes(0x80, 5, 0x97, '.'), /opcode NEXT_BUFFER at byte 2/],
    ['an opcode that is none', bytes(0xff), /opcode 0xff at byte 0/],
    ['a list in itself', bytes(0x80, 2, ']q', 0, 'h', 0, 'a.'), /nested deeper than 32 levels, or a value holds itself/],
    ['a dict in itself', bytes(0x80, 2, '}q', 0, 'X', [1, 0, 0, 0], 'a', 'h', 0, 's.'), /a value holds itself/],
    ['too deep', bytes(']'.repeat(MAX_DEPTH + 1), 'a'.repeat(MAX_DEPTH), '.'), /nested deeper/],
    ['a dict with a key of a number', bytes('}K', 1, 'K', 2, 's.'), /key that is no text/],
    ['a key without value', bytes('}(K', 1, 'u.'), /key has no value/],
    ['a value that was never remembered', bytes('h', 7, '.'), /value 7, wanted at byte 0, is not there/],
    ['a frame beyond the file', bytes(OPENED, 0x95, [255, 0, 0, 0, 0, 0, 0, 0], 'N.'), /frame at byte 2/],
    ['bytes beyond the file', bytes(OPENED, 0x8e, [255, 255, 255, 255, 255, 255, 255, 127]), /announced/],
    ['text that is no UTF-8', bytes(OPENED, [0x8c, 1, 0xff], '.'), /not UTF-8/],
    ['half a character', bytes('V\\ud800\n.'), /half a character/],
    ['an integer that is none', bytes('Ix\n.'), /is no integer/],
    ['an endless integer', bytes(0x8b, [0, 0, 1, 0], Array(65536).fill(1), '.'), /has 65536 bytes; 32 are allowed/],
    ['an endless decimal', bytes(`L${'9'.repeat(500)}L\n.`), /longer than 100 bytes/],
    ['a protocol of the future', bytes(0x80, 6, 'N.'), /protocol 6/],
    ['nothing', bytes(), /ends at byte 0/],
    ['only a stop', bytes('.'), /0 values are left/],
    ['two values', bytes('NN.'), /2 values are left/],
    ['an open mark', bytes('(N.'), /values are left/],
    ['more behind the end', bytes('N.N.'), /2 bytes follow its end/],
    ['an add without a list', bytes('K', 1, 'K', 1, 'a.'), /no list to add to/],
    ['an add to nothing', bytes('a.'), /a value is missing/],
    ['appends without a mark', bytes(']e.'), /a mark is missing/],
    ['a tuple of too few', bytes('N', 0x87, '.'), /a value is missing/],
  ];
  for (const [name, content, message] of named) it(`refuses ${name}`, () => refused(content, message));

  it('refuses values that multiply when they are used again', async () => {
    // Ten times a list of ten times a list of ..., nine levels: a billion values in 400 bytes.
    const levels = Array.from({ length: 9 }, (_none, i) => [
      0x5d,
      0x71,
      i + 1,
      ...Array.from({ length: 10 }, () => [0x68, i, 0x61]).flat(),
    ]);
    const content = bytes('(]q', 0, levels.flat(), 'l.');
    await refused(content, /more than 1000000 values/);
  });

  it('refuses a flood of opcodes and ends soon', async () => {
    await refused(Buffer.alloc(3 * MAX_VALUES + 100, 'N'), /more than 1000000 values/);
  });

  it('refuses every cut of a good file, and reads or refuses every change of one byte', async () => {
    const good = await written({ name: 'a', list: [1, 2.5, null, true], data: Buffer.from('12345678'), text: 'x'.repeat(300) });
    for (let end = 0; end < good.length; end += 1) await refused(good.subarray(0, end), /cannot be read/);
    const next = random(7);
    for (let at = 0; at < good.length; at += 1) {
      const changed = Buffer.from(good);
      changed[at] = Math.floor(next() * 256);
      await read(changed).catch((error: { kind?: string }) => assert.equal(error.kind, 'invalid'));
    }
  });

  it('writes nothing that it would refuse', async () => {
    let deep: Plain = [];
    for (let i = 0; i < MAX_DEPTH; i += 1) deep = [deep];
    await assert.rejects(writePickle(deep), { kind: 'invalid' });
    await assert.rejects(writePickle('\ud800'), { kind: 'invalid' });
    await assert.rejects(writePickle(Array(MAX_VALUES + 1).fill(null)), { kind: 'invalid' });
    await assert.rejects(writePickle(2n ** 300n), { kind: 'invalid' });
  });
});
