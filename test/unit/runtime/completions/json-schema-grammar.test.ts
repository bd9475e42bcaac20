import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrammarRules } from '../../../../runtime/completions/grammar/rules.js';
import { schemaExpression } from '../../../../runtime/completions/json-schema-grammar.js';
import { Failure } from '../../../../schemas/errors.js';
import { Gbnf } from '../../../support/gbnf.js';

function grammar(schema: unknown, strict = false): { gbnf: Gbnf; left: string[]; ignored: string[] } {
  const rules = new GrammarRules();
  const { expression, left, ignored } = schemaExpression(schema, rules, { strict });
  return { gbnf: new Gbnf(rules.text(expression)), left, ignored };
}

const TREE = {
  $defs: { node: { type: 'object', properties: { v: { type: 'integer' }, next: { $ref: '#/$defs/node' } }, required: ['v'] } },
  $ref: '#/$defs/node',
};

/** name, schema, accepted, refused */
const CASES: [string, unknown, string[], string[]][] = [
  ['any value', true, ['1', '"x"', '{"a": [1, null]}', '[]', '{}', '{"a":1,"b":[{"c":true}]}', '-0.5e3'], ['', '{a:1}', '[1,]', '01']],
  [
    'required and optional in order',
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } }, required: ['b'] },
    ['{"b": 1}', '{"a": "x", "b": 2}', '{"b":1,"c":true}', '{\n  "a": "x",\n  "b": 2,\n  "c": false\n}'],
    ['{}', '{"a":"x"}', '{"b":1,}', '{"b":1,"d":1}', '{"c":true,"b":1}', '{,"b":1}'],
  ],
  [
    'all optional',
    { type: 'object', properties: { a: { type: 'null' }, b: { type: 'null' } } },
    ['{}', '{"a":null}', '{"b": null}', '{"a":null,"b":null}'],
    ['{"a":null,}', '{"b":null,"a":null}'],
  ],
  [
    'additional properties of a type',
    { type: 'object', properties: { ab: { type: 'integer' } }, required: ['ab'], additionalProperties: { type: 'boolean' } },
    ['{"ab":1}', '{"ab":1,"x":true}', '{"ab":1,"a":true,"abc":false,"":true}'],
    ['{"ab":1,"x":2}', '{"ab":1,"ab":true}', '{"x":true}'],
  ],
  [
    'keys beside one with characters that a class gives a meaning',
    {
      type: 'object',
      properties: { 'a-z': { type: 'integer' }, '^]': { type: 'integer' }, ']': { type: 'integer' } },
      additionalProperties: { type: 'boolean' },
    },
    ['{"a-z":1,"a-c":true}', '{"x":true,"a]":true}', '{"^":true}', '{"-":true}'],
    ['{"a-z":true}', '{"]":true}'],
  ],
  ['only additional', { type: 'object', additionalProperties: { type: 'integer' } }, ['{}', '{"x":1,"y":2}'], ['{"x":"1"}']],
  ['no additional', { type: 'object', properties: {}, additionalProperties: false }, ['{}', '{ }'], ['{"x":1}']],
  ['required without a declaration', { type: 'object', required: ['x'] }, ['{"x":[1]}'], ['{}']],
  [
    'array bounds',
    { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    ['[1,2]', '[1, 2, 3]'],
    ['[]', '[1]', '[1,2,3,4]', '["1",2]'],
  ],
  ['array from zero', { type: 'array', items: { type: 'boolean' }, maxItems: 1 }, ['[]', '[true]'], ['[true,true]']],
  [
    'tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    ['["a",1]'],
    ['["a"]', '[1,"a"]', '["a",1,2]'],
  ],
  ['enum of mixed values', { enum: ['a"b', 1, null, true] }, ['"a\\"b"', '1', 'null', 'true'], ['"a"', '2', 'false']],
  ['const object', { const: { a: [1] } }, ['{"a":[1]}'], ['{"a":[2]}']],
  ['anyOf', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, ['"x"', '3'], ['true']],
  [
    'anyOf beside properties',
    {
      type: 'object',
      properties: { k: { type: 'integer' } },
      required: ['k'],
      anyOf: [
        { properties: { a: { type: 'null' } }, required: ['a'] },
        { properties: { b: { type: 'null' } }, required: ['b'] },
      ],
    },
    ['{"k":1,"a":null}', '{"k":1,"b":null}'],
    ['{"k":1}', '{"a":null}'],
  ],
  [
    'allOf joins',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
        { properties: { b: { type: 'boolean' } }, required: ['b'] },
      ],
    },
    ['{"a":1,"b":true}'],
    ['{"a":1}', '{"b":true}'],
  ],
  ['allOf tightens', { allOf: [{ type: 'integer', minimum: 2 }, { maximum: 4 }, { minimum: 3 }] }, ['3', '4'], ['2', '5']],
  [
    'allOf with references',
    {
      $defs: { base: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
      allOf: [{ $ref: '#/$defs/base' }, { properties: { n: { type: 'null' } }, required: ['n'] }],
    },
    ['{"id":1,"n":null}'],
    ['{"n":null}'],
  ],
  ['recursion', TREE, ['{"v":1}', '{"v":1,"next":{"v":2,"next":{"v":3}}}'], ['{"next":{"v":1}}', '{"v":1,"next":{}}']],
  [
    'reference to the root',
    { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } },
    ['{}', '{"kids":[{},{"kids":[]}]}'],
    ['{"kids":[1]}'],
  ],
  [
    'reference with an annotation',
    { $defs: { s: { type: 'string' } }, properties: { a: { $ref: '#/$defs/s', description: 'x' } }, required: ['a'] },
    ['{"a":"x"}'],
    ['{"a":1}'],
  ],
  ['reference with a bound', { $defs: { s: { type: 'string' } }, $ref: '#/$defs/s', maxLength: 2 }, ['"ab"'], ['"abc"']],
  ['string lengths', { type: 'string', minLength: 2, maxLength: 3 }, ['"ab"', '"abc"', '"\\n\\u00e9"', '"日本"'], ['"a"', '"abcd"', 'ab']],
  ['type list', { type: ['integer', 'null'] }, ['1', 'null'], ['"1"']],
  ['nullable', { type: 'string', nullable: true }, ['null', '"x"'], ['1']],
  [
    'integer range',
    { type: 'integer', minimum: -5, maximum: 120 },
    ['-5', '-1', '0', '7', '99', '100', '119', '120'],
    ['-6', '121', '200', '1000', '1.0', '05'],
  ],
  ['integer exclusive', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 }, ['1', '9'], ['0', '10', '-1']],
  ['old exclusive', { type: 'integer', minimum: 0, exclusiveMinimum: true }, ['1', '12345'], ['0', '-1']],
  ['negative integers', { type: 'integer', maximum: -10 }, ['-10', '-11', '-999'], ['-9', '0', '10']],
  ['number range', { type: 'number', minimum: 0, maximum: 1 }, ['0', '1', '0.5', '1.0', '0.999'], ['1.1', '-0.1', '2', '1e3']],
  [
    'number between fractions',
    { type: 'number', minimum: 0.25, maximum: 0.75 },
    ['0.25', '0.3', '0.750', '0.7', '0.251'],
    ['0.2', '0.76', '0', '0.751', '1', '0.249'],
  ],
  [
    'number across wholes',
    { type: 'number', minimum: 1.5, maximum: 12.25 },
    ['1.5', '1.75', '2', '9.99', '10', '12', '12.2', '12.25'],
    ['1', '1.4', '12.3', '12.26', '13', '0.5'],
  ],
  ['number around zero', { type: 'number', minimum: -1.5, maximum: 2 }, ['-1.5', '-1', '-0.25', '0', '1.99', '2'], ['-1.6', '-2', '2.1']],
  ['number above zero', { type: 'number', exclusiveMinimum: 0 }, ['0.01', '1', '250.5'], ['0', '0.0', '-1']],
  ['number below', { type: 'number', exclusiveMaximum: 3 }, ['2.99', '-5', '0'], ['3', '3.0', '4']],
  ['pattern', { type: 'string', pattern: '^[A-Z]{2}-\\d+$' }, ['"AB-1"', '"XY-123"'], ['"A-1"', '"AB-"', '"AB-1x"']],
  ['pattern inside', { type: 'string', pattern: 'b+' }, ['"abbc"', '"b"'], ['"ac"', '""']],
  [
    'pattern with groups',
    { type: 'string', pattern: '^(?:cat|dog)s?(\\.[a-z]+)?$' },
    ['"cat"', '"dogs"', '"cat.txt"'],
    ['"bird"', '"cat."'],
  ],
  ['pattern with a quote', { type: 'string', pattern: '^"\\\\$' }, ['"\\"\\\\"'], ['"x"']],
  ['date', { type: 'string', format: 'date' }, ['"2024-02-29"'], ['"2024-13-01"', '"24-1-1"']],
  [
    'date-time',
    { type: 'string', format: 'date-time' },
    ['"2024-02-29T10:20:30Z"', '"2024-02-29T10:20:30.5+02:00"'],
    ['"2024-02-29"', '"2024-02-29T25:00:00Z"'],
  ],
  ['time', { type: 'string', format: 'time' }, ['"23:59:59Z"'], ['"24:00:00Z"']],
  ['uuid', { type: 'string', format: 'uuid' }, ['"123e4567-e89b-12d3-a456-426614174000"'], ['"123e4567"']],
];

describe('a JSON Schema as a grammar', () => {
  for (const [name, schema, good, bad] of CASES) {
    it(name, () => {
      const { gbnf, left, ignored } = grammar(schema);
      for (const text of good) assert.ok(gbnf.accepts(text), `accepts ${text}`);
      for (const text of bad) assert.ok(!gbnf.accepts(text), `refuses ${text}`);
      assert.deepEqual([...left, ...ignored], []);
    });
  }

  it('agrees with arithmetic on every integer of small ranges', () => {
    for (let min = -12; min <= 12; min += 4) {
      for (let max = min; max <= 112; max += 9) {
        const { gbnf } = grammar({ type: 'integer', minimum: min, maximum: max });
        for (let n = -130; n <= 130; n += 1) assert.equal(gbnf.accepts(String(n)), n >= min && n <= max, `${n} in ${min}..${max}`);
      }
    }
  });

  it('agrees with arithmetic on decimals', () => {
    const bounds = [-2.5, -1, -0.05, 0, 0.3, 1, 1.25, 10];
    for (const min of bounds) {
      for (const max of bounds.filter((bound) => bound >= min)) {
        const { gbnf } = grammar({ type: 'number', minimum: min, maximum: max });
        for (let n = -3; n <= 11; n += 0.05) {
          const text = String(Math.round(n * 100) / 100);
          assert.equal(gbnf.accepts(text), Number(text) >= min && Number(text) <= max, `${text} in ${min}..${max}`);
        }
      }
    }
  });

  it('names what it does not hold, also when strict', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string', format: 'x' }, uniqueItems: true } } };
    for (const strict of [false, true]) {
      const { left, ignored } = grammar(schema, strict);
      assert.deepEqual(left, ['"uniqueItems" at $.a']);
      assert.deepEqual(ignored, ['the format "x", which is unknown, at $.a[]']);
    }
  });

  const REFUSED: [string, unknown, RegExp][] = [
    ['false', false, /allows no value/],
    ['an unknown type', { type: 'float' }, /known types: object, array/],
    ['an empty range', { type: 'integer', minimum: 3, maximum: 2 }, /no integer lies/],
    ['a reference to nothing', { $ref: '#/$defs/x' }, /points to nothing/],
    ['a remote reference', { $ref: 'https://example.org/x.json' }, /is not local/],
    ['circular allOf', { $defs: { a: { $ref: '#/$defs/a' } }, allOf: [{ $ref: '#/$defs/a' }] }, /circle/],
    ['an empty enum', { enum: [] }, /0 values/],
    ['types that exclude each other', { allOf: [{ type: 'string' }, { type: 'integer' }] }, /no type is left/],
  ];
  for (const [name, schema, message] of REFUSED) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => grammar(schema),
        (error: unknown) => error instanceof Failure && error.kind === 'invalid' && message.test(error.message),
      );
    });
  }

  it('refuses endless nesting and huge schemas without hanging', () => {
    let deep: unknown = { type: 'string' };
    for (let i = 0; i < 200; i += 1) deep = { type: 'array', items: deep };
    assert.throws(() => grammar(deep), /nested deeper/);
    const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type: 'string' }])) };
    assert.throws(() => grammar(wide), Failure);
  });
});
