import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type OptionShapes, readOptions } from '../../../../runtime/config/plugin-options.js';

const SHAPES = {
  on: { type: 'boolean', default: true, description: '' },
  count: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: '' },
  share: { type: 'number', default: 0.5, minimum: 0, maximum: 1, description: '' },
  way: { type: 'string', default: 'a', enum: ['a', 'b'], description: '' },
  words: { type: 'array', default: [], items: { type: 'string' }, maxItems: 2, description: '' },
  kinds: { type: 'array', default: [], items: { type: 'string', enum: ['X', 'Y'] }, maxItems: 2, description: '' },
  parts: { type: 'array', default: [], items: { type: 'object' }, maxItems: 2, description: '' },
} as const satisfies OptionShapes;
const DEFAULTS = { on: true, count: 3, share: 0.5, way: 'a', words: [], kinds: [], parts: [] };
const read = (given: Record<string, unknown>) => readOptions('Owner', SHAPES, given);

describe('options of a plug-in', () => {
  it('fills in defaults and ignores what it does not know', () => {
    assert.deepEqual(read({}), DEFAULTS);
    assert.deepEqual(read({ on: null, other: 1, toString: 2 }), DEFAULTS);
    assert.equal(Object.hasOwn(read({ other: 1 }), 'other'), false);
  });

  it('clamps numbers and takes names in any case', () => {
    const given = { count: 99, share: -1, way: 'B', kinds: ['x'] };
    assert.deepEqual(read(given), { ...DEFAULTS, count: 10, share: 0, way: 'b', kinds: ['X'] });
    assert.equal(read({ count: 2.9 }).count, 2);
  });

  const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ on: 'yes' }, /Owner\.on is "yes".*true or false/],
    [{ count: '3' }, /Owner\.count.*from 1 to 10/],
    [{ share: Number.NaN }, /Owner\.share/],
    [{ way: 'c' }, /Owner\.way is "c".*a, b/],
    [{ words: 'a' }, /Owner\.words.*list/],
    [{ words: ['a', 1] }, /Owner\.words\[1\]/],
    [{ words: ['a', 'b', 'c'] }, /Owner\.words.*at most 2/],
    [{ kinds: ['Z'] }, /Owner\.kinds\[0\].*X, Y/],
    [{ parts: [[]] }, /Owner\.parts\[0\].*object/],
  ];
  for (const [given, message] of refused) {
    it(`refuses ${JSON.stringify(given)}`, () => assert.throws(() => read(given), { kind: 'invalid', message }));
  }
});
