import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionsOf, passesAll, valueAt } from '../../../../../runtime/rag/stores/metadata.js';

const passes = (filter: Record<string, unknown>, metadata: Record<string, unknown>): boolean => passesAll(conditionsOf(filter), metadata);

describe('filters', () => {
  it('read operators with and without $, and nested objects as dotted paths', () => {
    assert.deepEqual(conditionsOf({ a: 1, b: { $gte: 2, lt: 3 }, c: { d: { e: 'x', f: { in: ['y'] } } } }), [
      { path: 'a', operator: 'eq', wanted: 1 },
      { path: 'b', operator: 'gte', wanted: 2 },
      { path: 'b', operator: 'lt', wanted: 3 },
      { path: 'c.d.e', operator: 'eq', wanted: 'x' },
      { path: 'c.d.f', operator: 'in', wanted: ['y'] },
    ]);
    assert.deepEqual(conditionsOf({}), []);
  });

  it('say what is wrong with them', () => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ a: { $regex: 'x' } }, /'\$regex'.*\$eq, \$ne, \$in/],
      [{ a: { $gt: 1, b: 2 } }, /'\$gt'.*beside other keys/],
      [{ $and: [] }, /no '\$and' at its top/],
      [{ a: { $in: 'x' } }, /'a' has \$in without a list/],
      [{ a: { $in: Array(1001).fill(1) } }, /1001 values; at most 1000/],
      [{ a: { $lt: null } }, /\$lt with null/],
      [{ a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } }, /deeper than 8/],
      [Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i])), /65 conditions; at most 64/],
    ];
    for (const [filter, message] of cases)
      assert.throws(() => conditionsOf(filter), { kind: 'bad_request', code: 'InvalidFilter', message });
  });

  it('compare native values and the flattened ones', () => {
    const metadata = { list: ['a', 'b'], object: { x: 1, y: [2] }, number: 5, text: '5', no: null };
    for (const filter of [
      { list: 'a' },
      { list: 'a,b' },
      { list: 'a, b' },
      { list: ['a', 'b'] },
      { list: { $in: ['b'] } },
      { list: { $nin: ['c'] } },
      { object: '{"y": [2], "x": 1}' },
      { object: { x: 1 } },
      { 'object.y': 2 },
      { number: 5 },
      { text: '5' },
      { no: null },
      { missing: null },
      { missing: { $ne: 1 } },
      { no: { $ne: 1 } },
      { number: { $ne: null } },
      { list: { $gt: 'a' } },
      { text: { $gt: '4' } },
    ])
      assert.ok(passes(filter, metadata), JSON.stringify(filter));
    for (const filter of [
      { list: 'c' },
      { list: ['b', 'a'] },
      { list: ['a'] },
      { list: { $ne: 'a' } },
      { object: '{"x": 1}' },
      { object: '{broken' },
      { number: '5' },
      { text: 5 },
      { number: { $gt: '1' } },
      { text: { $gt: 1 } },
      { no: { $gt: 0 } },
      { number: null },
      { missing: 1 },
      { list: { $nin: ['a,b'] } },
      { number: { $in: [] } },
      { object: { $gt: 1 } },
    ])
      assert.ok(!passes(filter, metadata), JSON.stringify(filter));
  });

  it('find values by path: a dotted name first, then nested ones, also inside lists', () => {
    assert.equal(valueAt({ 'a.b': 1, a: { b: 2 } }, 'a.b'), 1);
    assert.equal(valueAt({ a: { b: 2 } }, 'a.b'), 2);
    assert.deepEqual(valueAt({ a: [{ b: 1 }, { b: 2 }, 3] }, 'a.b'), [1, 2, undefined]);
    assert.equal(valueAt({ a: 'text' }, 'a.length'), undefined);
    assert.equal(valueAt({}, 'constructor'), undefined);
    assert.equal(valueAt({ a: {} }, 'a.__proto__'), undefined);
    assert.ok(passes({ people: { name: 'Ada' } }, { people: [{ name: 'Bob' }, { name: 'Ada' }] }));
  });
});
