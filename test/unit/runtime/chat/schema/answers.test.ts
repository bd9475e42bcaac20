import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonIn, withDefaults } from '../../../../../runtime/chat/schema/structured.js';
import { processorMs } from '../../../../support/processor-time.js';

describe('answers by a schema', () => {
  const FOUND: [text: string, value: unknown][] = [
    ['{"a": 1}', { a: 1 }],
    [' [1]\n', [1]],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['Here it is:\n```\n[1, 2]\n```\nAnything else?', [1, 2]],
    ['```json\n{"a": 1}', { a: 1 }],
    ['Sure! {"a": {"b": "}"}} Done.', { a: { b: '}' } }],
    ['The list is [1, 2].', [1, 2]],
  ];
  for (const [text, value] of FOUND) it(`are found in ${JSON.stringify(text)}`, () => assert.deepEqual(jsonIn(text)?.value, value));
  for (const text of ['', 'no', '{"a": ', '} {', '```json\n```'])
    it(`are not found in ${JSON.stringify(text)}`, () => assert.equal(jsonIn(text), undefined));

  it('are looked for in linear time', () => {
    const ms = processorMs(() => {
      for (const text of ['{'.repeat(500_000), '```'.repeat(200_000), '[}'.repeat(300_000)]) assert.equal(jsonIn(text), undefined);
    });
    assert.ok(ms < 1_000, `${ms} ms`);
  });

  it('get the defaults of what they lack, in the order of the schema', () => {
    const node = {
      type: 'object',
      properties: { name: { default: 'x' }, next: { anyOf: [{ $ref: '#/$defs/N' }, { type: 'null' }], default: null } },
    };
    const schema = {
      $ref: '#/$defs/A',
      $defs: {
        N: node,
        A: {
          type: 'object',
          properties: {
            a: { default: [] },
            b: {},
            n: { $ref: '#/$defs/N' },
            m: { type: 'object', additionalProperties: { $ref: '#/$defs/N' } },
          },
        },
      },
    };
    const value = { b: 1, n: { next: { name: 'y' } }, m: { k: {} } };
    assert.equal(
      JSON.stringify(withDefaults(value, schema)),
      '{"a":[],"b":1,"n":{"name":"x","next":{"name":"y","next":null}},"m":{"k":{"name":"x","next":null}}}',
    );
    const whole = { a: [1], b: 2 };
    assert.equal(withDefaults(whole, schema), whole);
    assert.deepEqual(withDefaults([{}], { items: node }), [{ name: 'x', next: null }]);
    assert.deepEqual(
      withDefaults(JSON.parse('{"__proto__": 1}'), { properties: { a: { default: 1 } } }),
      JSON.parse('{"a": 1, "__proto__": 1}'),
    );
  });
});
