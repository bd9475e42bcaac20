import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_JSON_DEPTH, parseJson, replyInTurns } from '../../../../gateway/http/json.js';

const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

describe('parseJson', () => {
  it('parses, a byte order mark included', () => {
    assert.deepEqual(parseJson(Buffer.from('\ufeff{"a":[1,{"b":null}],"constructor":{"name":1}}')), {
      a: [1, { b: null }],
      constructor: { name: 1 },
    });
  });

  it('caps the depth', () => {
    assert.ok(parseJson(nested(MAX_JSON_DEPTH)));
    assert.throws(() => parseJson(nested(MAX_JSON_DEPTH + 1)), { kind: 'invalid', message: /nested deeper than 64/ });
    assert.throws(() => parseJson(nested(500_000)), { kind: 'invalid' });
  });

  for (const text of ['{"__proto__":{}}', '{"a":[{"__pro\\u0074o__":1}]}', '{"constructor":{"prototype":{}}}']) {
    it(`refuses ${text}`, () => assert.throws(() => parseJson(Buffer.from(text)), { kind: 'invalid', message: /not allowed/ }));
  }

  it('refuses bytes that are not UTF-8', () => {
    assert.throws(() => parseJson(Buffer.from([0x22, 0xc3, 0x28, 0x22])), { message: /not valid UTF-8/ });
  });

  const broken: [text: string, position: number][] = [
    ['', 0],
    ['  ', 2],
    ['{', 1],
    ['{"a"', 4],
    ['{"a" 1}', 5],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[1]]', 3],
    ['01', 1],
    ['tru', 0],
    ['"ab', 3],
    ['"a\nb"', 2],
    ['"\\x"', 1],
    ['{"a":1}x', 7],
    ['[1}', 2],
    ["{'a':1}", 1],
    ['NaN', 0],
    ['[}', 1],
    ['{]', 1],
  ];
  for (const [text, position] of broken) {
    it(`finds the fault in ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseJson(Buffer.from(text)), { message: new RegExp(`position ${position} `) }));
  }
});

describe('replyInTurns', () => {
  it('writes what JSON.stringify writes', async () => {
    const values = [
      {},
      { a: [] },
      { gone: undefined, a: [1, undefined, 'ü', { b: undefined, c: [null] }], d: { e: new Date(0) }, f: null },
      { list: ['a', 'b'], more: [{ '"': '\\' }], end: false },
    ];
    for (const value of values) {
      const { bytes, contentType } = await replyInTurns(value);
      assert.equal(String(bytes), JSON.stringify(value));
      assert.equal(contentType, 'application/json');
    }
  });

  it('lets others run while it writes a long list', async () => {
    let isDone = false;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await replyInTurns({ results: Array.from({ length: 2_000 }, () => ({ text: '"quoted"\n'.repeat(1_000) })) });
    isDone = true;
    assert.ok(turns >= 4, `${turns} turns`);
  });
});
