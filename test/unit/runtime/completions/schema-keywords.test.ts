import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrammarRules } from '../../../../runtime/completions/grammar/rules.js';
import { schemaExpression } from '../../../../runtime/completions/json-schema-grammar.js';
import { SchemaChecker } from '../../../../runtime/completions/schema/check.js';
import { SchemaDocument } from '../../../../runtime/completions/schema/document.js';
import { WorkLimit } from '../../../../runtime/completions/work-limit.js';
import type { Failure } from '../../../../schemas/errors.js';
import { Gbnf } from '../../../support/gbnf.js';

/** One schema: values that its grammar writes, values that it does not write, and what is left to the finished text. */
interface Case {
  schema: unknown;
  good: unknown[];
  bad: unknown[];
  left?: string[];
  /** Values that the grammar writes or other tools may, and only a check finds. */
  broken?: unknown[];
}

const text = (more: object) => ({ type: 'string', ...more });
const format = (name: string) => text({ format: name });

const STRINGS: Record<string, Case> = {
  email: {
    schema: format('email'),
    good: ['ada@example.org', 'a.b+c@mail.example.com'],
    bad: ['ada', '@example.org', 'a@b', 'a b@example.org'],
  },
  uuid: {
    schema: format('uuid'),
    good: ['123e4567-e89b-12d3-a456-426614174000'],
    bad: ['123e4567e89b12d3a456426614174000', '123e4567-e89b-02d3-a456-426614174000'],
  },
  uuid4: { schema: format('uuid4'), good: ['123e4567-e89b-42d3-a456-426614174000'], bad: ['123e4567-e89b-12d3-a456-426614174000'] },
  date: {
    schema: format('date'),
    good: ['2024-02-29', '2000-02-29', '2023-12-31'],
    bad: ['2023-02-29', '2100-02-29', '2024-04-31', '24-01-01'],
  },
  'date-time': {
    schema: format('date-time'),
    good: ['2024-02-29T23:59:59.123Z', '2024-01-01T00:00:00+02:00'],
    bad: ['2024-02-30T10:00:00Z', '2024-01-01'],
  },
  time: { schema: format('time'), good: ['23:59:59Z', '00:00:00.5-08:00'], bad: ['24:00:00Z', '10:00'] },
  ipv4: { schema: format('ipv4'), good: ['0.0.0.0', '192.168.255.1'], bad: ['256.1.1.1', '1.2.3', '01.2.3.4'] },
  ipv6: {
    schema: format('ipv6'),
    good: ['::', '::1', '2001:db8::8a2e:370:7334', '1:2:3:4:5:6:7:8', '1::8'],
    bad: ['1::2::3', '1:2:3', 'g::1'],
  },
  hostname: { schema: format('hostname'), good: ['example.com', 'a-b.example.org'], bad: ['-a.com', 'a..b', 'a b.com'] },
  duration: { schema: format('duration'), good: ['P3D', 'PT1H30M', 'P1Y2M3DT4H', 'P2W'], bad: ['P', 'PT', '3D', 'P1H'] },
  uri: {
    schema: format('uri'),
    good: ['https://example.org', 'http://a.example.com:8080/x?y=%20'],
    bad: ['example.org', 'https://', 'https://a b.com'],
  },
  'a format and a pattern that says it': {
    schema: text({ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    good: ['2024-02-01'],
    bad: ['x'],
    left: ['"format" at $'],
    broken: ['2024-13-41'],
  },
  'a format and a pattern that looks ahead': {
    schema: text({ format: 'email', pattern: '^(?!admin)\\S+$' }),
    good: ['ada@example.org'],
    bad: ['ada'],
    left: ['"pattern" at $'],
    broken: ['admin@example.org'],
  },
  'an address whose pattern has no end': {
    schema: text({
      format: 'email',
      pattern: "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    }),
    good: ['ada.b@mail.example.org'],
    bad: [`${'a'.repeat(25)}@example.org`, `ada@${'example.'.repeat(5)}org`],
    left: ['"pattern" at $'],
    broken: ['ada@example.o'],
  },
  'a time whose fraction has no end': {
    schema: text({ format: 'date-time', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z$' }),
    good: ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.123456789Z'],
    bad: [`2024-02-29T23:59:59.${'0'.repeat(40)}Z`],
    left: ['"format" at $'],
  },
  'an address of one place': {
    schema: text({ format: 'email', pattern: '^[a-z.]+@mill\\.example$' }),
    good: ['ada.b@mill.example'],
    bad: ['ada@example.org'],
    left: ['"format" at $'],
  },
  'a long maxLength': { schema: text({ maxLength: 1_999 }), good: ['', 'a'.repeat(1_999)], bad: ['a'.repeat(2_000)] },
  'a longer one': {
    schema: text({ minLength: 300, maxLength: 5_000 }),
    good: ['a'.repeat(300), 'a'.repeat(4_999)],
    bad: ['a'.repeat(299), 'a'.repeat(5_001)],
  },
  'one that no answer reaches': {
    schema: text({ maxLength: 1_000_000 }),
    good: ['a'],
    bad: [1],
    left: ['"maxLength" at $'],
    broken: ['a'.repeat(1_000_001)],
  },
  'a pattern with lengths': {
    schema: text({ pattern: '^[a-z]+$', minLength: 2, maxLength: 4 }),
    good: ['ab', 'abcd'],
    bad: ['a', 'abcde', 'AB'],
  },
  'a pattern in parts with a length': { schema: text({ pattern: '^x-[0-9]*$', maxLength: 5 }), good: ['x-', 'x-123'], bad: ['x-1234'] },
  'a pattern that is found inside, with a length': {
    schema: text({ pattern: 'b', maxLength: 3 }),
    good: ['b', 'abc'],
    bad: ['ac'],
    left: ['"maxLength" at $'],
    broken: ['abcd'],
  },
  'a look ahead': { schema: text({ pattern: '^(?!x)[a-z]+$' }), good: ['abc'], bad: ['ABC'], left: ['"pattern" at $'], broken: ['xa'] },
  'a look ahead that must match': {
    schema: text({ pattern: '^(?=.*\\d)[a-z0-9]+$' }),
    good: ['a1'],
    bad: ['A1'],
    left: ['"pattern" at $'],
    broken: ['abc'],
  },
  'a look behind': { schema: text({ pattern: '^[a-z]+(?<!x)$' }), good: ['ab'], bad: ['A'], left: ['"pattern" at $'], broken: ['ax'] },
  'a bound of words': {
    schema: text({ pattern: '^.*\\bcat\\b.*$' }),
    good: ['a cat', 'cat'],
    bad: ['dog'],
    left: ['"pattern" at $'],
    broken: ['concatenate'],
  },
  'Unicode properties': { schema: text({ pattern: '^\\p{L}+$' }), good: ['Ada', 'Žofie', '漢字', 'Ωμέγα'], bad: ['a1', ''] },
  'properties that are excluded': { schema: text({ pattern: '^[^\\p{Lu}\\s]{2}$' }), good: ['ab', '1é'], bad: ['Ab', 'a '] },
  'named groups': { schema: text({ pattern: '^(?<year>\\d{4})-(?P<month>\\d{2})$' }), good: ['2024-01'], bad: ['2024'] },
  'a lazy repetition': { schema: text({ pattern: '^a+?b*?$' }), good: ['aab'], bad: ['ba'] },
  'alternatives with anchors of their own': { schema: text({ pattern: '^a|b$' }), good: ['ax', 'xb'], bad: ['xay'] },
  'signs that JSON escapes': { schema: text({ pattern: '^["\\\\\\n\\t]{4}$' }), good: ['"\\\n\t'], bad: ['abcd', '"'] },
  'a repetition of what may be empty': { schema: text({ pattern: '^(a?b?)*$' }), good: ['', 'abba'], bad: ['c'] },
  'letters of either case': { schema: text({ pattern: '(?i)^yes$' }), good: ['YES', 'yEs'], bad: ['no'] },
  'patterns of two parts': {
    schema: { allOf: [text({ pattern: '^a' }), text({ pattern: 'z$' })] },
    good: ['abz'],
    bad: ['bz'],
    left: ['"pattern" at $'],
    broken: ['ab'],
  },
  'an enumeration with a pattern': { schema: { enum: ['ab', 'b', 1], pattern: '^a', type: 'string' }, good: ['ab'], bad: ['b', 1] },
};

const NUMBERS: Record<string, Case> = {
  'multiples in a range': { schema: { type: 'integer', minimum: 0, maximum: 100, multipleOf: 25 }, good: [0, 25, 100], bad: [10, 125] },
  'multiples without end': {
    schema: { type: 'integer', multipleOf: 7 },
    good: [0, 7, -14, 700, 123456789 - (123456789 % 7)],
    bad: [1, 8, 15],
  },
  'multiples above zero': { schema: { type: 'integer', exclusiveMinimum: 0, multipleOf: 5 }, good: [5, 120], bad: [0, -5, 3] },
  'multiples of safe integers': {
    schema: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, multipleOf: 60 },
    good: [60, -120],
    bad: [30],
  },
  cents: { schema: { type: 'number', minimum: 0, multipleOf: 0.01 }, good: [0, 1.5, 19.99], bad: [-1, 0.001] },
  halves: { schema: { type: 'number', multipleOf: 0.5 }, good: [0, -1.5, 2], bad: [0.25] },
  'multiples of a step and wide bounds': {
    schema: { type: 'number', minimum: 0.1, maximum: 1e6, multipleOf: 0.3 },
    good: [0.6],
    bad: [0],
    left: ['"multipleOf" at $'],
    broken: [0.7],
  },
  'bounds with exponents': { schema: { type: 'number', minimum: 1e-7, maximum: 1 }, good: [0.000001, 0.5, 1], bad: [0, 2] },
  'bounds beyond every number': { schema: { type: 'number', maximum: 3.4e38 }, good: [1e14, -2], bad: [] },
};

const ARRAYS: Record<string, Case> = {
  'maxItems over a thousand': {
    schema: { type: 'array', items: { const: 1 }, maxItems: 1_500 },
    good: [[], Array(1_500).fill(1)],
    bad: [Array(1_501).fill(1)],
  },
  'minItems over a thousand': {
    schema: { type: 'array', items: { const: 1 }, minItems: 1_100 },
    good: [Array(1_100).fill(1)],
    bad: [Array(1_099).fill(1)],
  },
  'a set': {
    schema: { type: 'array', items: { type: 'integer' }, uniqueItems: true },
    good: [[1, 2]],
    bad: [['a']],
    left: ['"uniqueItems" at $'],
    broken: [[1, 1]],
  },
  contains: {
    schema: { type: 'array', contains: { const: 1 }, maxContains: 1 },
    good: [[1, 2]],
    bad: [{}],
    left: ['"contains" at $'],
    broken: [[2], [1, 1]],
  },
  'a tuple of draft-07': {
    schema: { type: 'array', items: [{ type: 'boolean' }, { type: 'number' }], additionalItems: false },
    good: [[true, 1]],
    bad: [[1, true], [true, 1, 2], [true]],
  },
  'one with more items of a type': {
    schema: { items: [{ type: 'boolean' }], additionalItems: { type: 'null' } },
    good: [[true], [true, null, null]],
    bad: [[true, 1], []],
  },
  'one with definitions': {
    schema: {
      definitions: { a: { type: 'string' } },
      type: 'array',
      items: [{ $ref: '#/definitions/a' }, { $ref: '#/definitions/a' }],
      maxItems: 2,
    },
    good: [['x', 'y']],
    bad: [
      ['x', 1],
      ['x', 'y', 'z'],
    ],
  },
  'one of which nothing is said behind its items': {
    schema: { type: 'array', items: [{ const: 1 }], minItems: 1 },
    good: [[1]],
    bad: [[1, 1], []],
  },
  'prefixItems with items': {
    schema: { type: 'array', prefixItems: [{ const: 0 }], items: { const: 1 }, minItems: 2, maxItems: 3 },
    good: [
      [0, 1],
      [0, 1, 1],
    ],
    bad: [[0], [0, 0]],
  },
  'a tuple that ends early': {
    schema: { type: 'array', prefixItems: [{ const: 0 }, { const: 1 }], maxItems: 1 },
    good: [[0]],
    bad: [[0, 1]],
  },
  'no items': { schema: { type: 'array', items: false }, good: [[]], bad: [[1]] },
};

const OBJECTS: Record<string, Case> = {
  'names by a pattern': {
    schema: { type: 'object', patternProperties: { '^x_': { type: 'integer' } }, additionalProperties: false },
    good: [{}, { x_a: 1 }],
    bad: [{ y: 1 }, { x_a: 'b' }],
  },
  'names of an enumeration': {
    schema: { type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { type: 'integer' } },
    good: [{}, { a: 1, b: 2 }],
    bad: [{ c: 1 }, { a: 'x' }],
  },
  'names that are all there': {
    schema: {
      type: 'object',
      propertyNames: { type: 'string', enum: ['a', 'b'] },
      additionalProperties: { type: 'integer' },
      required: ['a', 'b'],
    },
    good: [{ a: 1, b: 2 }],
    bad: [{ a: 1 }, { a: 1, b: 'x' }],
  },
  'names of a length': {
    schema: { type: 'object', propertyNames: { maxLength: 2 }, additionalProperties: { const: 1 } },
    good: [{ ab: 1 }],
    bad: [{ abc: 1 }],
  },
  'a count of members': {
    schema: { type: 'object', additionalProperties: { const: 1 }, minProperties: 1, maxProperties: 2 },
    good: [{ a: 1 }, { a: 1, b: 1 }],
    bad: [{}, { a: 1, b: 1, c: 1 }],
  },
  'a property that nothing fits': {
    schema: { type: 'object', properties: { a: false, b: { not: {} }, c: { const: 1 } } },
    good: [{}, { c: 1 }],
    bad: [{ a: 1 }, { b: 1 }],
  },
  'additional ones of parts': {
    schema: {
      allOf: [
        { properties: { a: {} }, additionalProperties: { type: 'integer' } },
        { properties: { b: {} }, required: ['b'] },
      ],
    },
    good: [{ b: 1 }, { a: 'x', b: 1 }],
    bad: [{ b: 'x' }],
  },
  'one that others need': {
    schema: { properties: { a: { const: 1 }, b: { const: 2 } }, dependentRequired: { a: ['b'] } },
    good: [{ a: 1, b: 2 }, {}],
    bad: [{ a: 2 }],
    left: ['"dependentRequired" at $'],
    broken: [{ a: 1 }],
  },
  'a condition': {
    schema: JSON.parse(
      '{"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "if": {"required": ["a"]}, "then": {"required": ["b"]}}',
    ),
    good: [{ a: 1, b: 2 }, { b: 1 }],
    bad: [{ a: 'x' }],
    left: ['"if" at $'],
    broken: [{ a: 1 }],
  },
  'a negation': {
    schema: { type: 'object', properties: { a: { type: 'integer', not: { const: 3 } } } },
    good: [{ a: 1 }],
    bad: [{ a: 'x' }],
    left: ['"not" at $.a'],
    broken: [{ a: 3 }],
  },
  'alternatives told apart by a property': {
    schema: {
      oneOf: [
        { properties: { k: { const: 'a' }, x: { type: 'integer' } }, required: ['k', 'x'] },
        { properties: { k: { const: 'b' } }, required: ['k'] },
      ],
    },
    good: [{ k: 'a', x: 1 }, { k: 'b' }],
    bad: [{ k: 'b', x: 1 }],
  },
  'alternatives of which one alone may fit': {
    schema: { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 5 }] },
    good: [1, 5.5],
    bad: ['x'],
    left: ['"oneOf" at $'],
    broken: [7],
  },
  'two choices at once': {
    schema: { allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { anyOf: [{ required: ['c'] }, { required: ['d'] }] }] },
    good: [
      { a: 1, c: 1 },
      { b: 1, d: 1 },
    ],
    bad: [{ a: 1 }, { c: 1, d: 1 }],
  },
  'a null that is allowed beside references': {
    schema: { $defs: { s: { type: 'string', maxLength: 1 } }, $ref: '#/$defs/s', nullable: true },
    good: [null, 'a'],
    bad: ['ab'],
  },
  'a choice that holds itself': {
    schema: { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } }, $ref: '#/$defs/a' },
    good: [null],
    bad: [1],
  },
};

function turned(schema: unknown, strict: boolean) {
  const rules = new GrammarRules();
  const made = schemaExpression(schema, rules, { strict });
  return { ...made, gbnf: new Gbnf(rules.text(made.expression)) };
}

function flawOf(schema: unknown, value: unknown): string | null {
  return new SchemaChecker(new SchemaDocument(schema, new WorkLimit(1e6))).flawOf(value);
}

for (const [kind, cases] of Object.entries({ strings: STRINGS, numbers: NUMBERS, arrays: ARRAYS, 'objects and choices': OBJECTS })) {
  describe(`the keywords of ${kind}`, () => {
    for (const [name, { schema, good, bad, left = [], broken = [] }] of Object.entries(cases)) {
      it(name, () => {
        const made = turned(schema, true);
        assert.deepEqual([made.left, made.ignored], [left, []]);
        for (const value of good) {
          assert.ok(made.gbnf.accepts(JSON.stringify(value)), `writes ${JSON.stringify(value).slice(0, 80)}`);
          assert.equal(flawOf(schema, value), null, JSON.stringify(value).slice(0, 80));
        }
        for (const value of bad)
          assert.ok(!made.gbnf.accepts(JSON.stringify(value)), `does not write ${JSON.stringify(value).slice(0, 80)}`);
        for (const value of broken) assert.notEqual(flawOf(schema, value), null, `finds ${JSON.stringify(value).slice(0, 80)}`);
      });
    }
  });
}

describe('references', () => {
  const whole = (more: object) => ({
    type: 'object',
    properties: { a: { $ref: '#x' } },
    required: ['a'],
    additionalProperties: false,
    ...more,
  });
  const FOUND: Record<string, [unknown, unknown, unknown]> = {
    'to an anchor': [whole({ $defs: { n: { $anchor: 'x', type: 'integer' } } }), { a: 1 }, { a: { a: 1 } }],
    'to an anchor of draft-07': [whole({ definitions: { n: { $id: '#x', type: 'integer' } } }), { a: 1 }, { a: {} }],
    'to a dynamic anchor': [{ $defs: { n: { $dynamicAnchor: 'x', const: 1 } }, $dynamicRef: '#x' }, 1, 2],
    'to a nested $id': [
      { properties: { a: { $ref: 'https://q.example/n' } }, required: ['a'], $defs: { n: { $id: 'https://q.example/n', const: 1 } } },
      { a: 1 },
      { a: 2 },
    ],
    'to an $id beside': [{ $id: 'https://q.example/root.json', $defs: { n: { $id: 'n.json', const: 1 } }, $ref: 'n.json' }, 1, 2],
    'into a nested $id': [
      { $defs: { n: { $id: 'https://q.example/n', $defs: { m: { const: 1 } } } }, $ref: 'https://q.example/n#/$defs/m' },
      1,
      2,
    ],
    'of a nested $id to itself': [
      {
        $defs: { n: { $id: 'https://q.example/n', properties: { b: { $ref: '#/$defs/m' } }, required: ['b'], $defs: { m: { const: 1 } } } },
        $ref: 'https://q.example/n',
      },
      { b: 1 },
      { b: 2 },
    ],
    'to the address of the whole': [
      { $id: 'https://q.example/r', properties: { a: { $ref: 'https://q.example/r#/$defs/m' } }, $defs: { m: { const: 1 } } },
      { a: 1 },
      { a: 2 },
    ],
    'to a place under an unknown word': [{ components: { schemas: { 'a/b': { const: 1 } } }, $ref: '#/components/schemas/a~1b' }, 1, 2],
  };
  for (const [name, [schema, good, bad]] of Object.entries(FOUND)) {
    it(`are followed ${name}`, () => {
      const { gbnf } = turned(schema, false);
      assert.ok(gbnf.accepts(JSON.stringify(good)));
      assert.ok(!gbnf.accepts(JSON.stringify(bad)));
    });
  }

  const LACKING: Record<string, [unknown, RegExp]> = {
    'an unknown anchor': [whole({}), /"#x" points to nothing; no part of the schema has the \$anchor "x"/],
    'an anchor of another $id': [
      { $defs: { n: { $id: 'https://q.example/n', $anchor: 'x', const: 1 } }, $ref: '#x' },
      /"#x" points to nothing/,
    ],
    'an anchor inside data': [{ const: { $anchor: 'x' }, $defs: { a: { $ref: '#x' } }, $ref: '#/$defs/a' }, /"#x" points to nothing/],
    'an unknown $id': [{ $ref: 'other.json#/a' }, /"other.json#\/a" is not local/],
    'a place that is not there': [{ $ref: '#/$defs/constructor', $defs: {} }, /there is no such place/],
  };
  for (const [name, [schema, message]] of Object.entries(LACKING)) {
    it(`to ${name} are named`, () => {
      assert.throws(
        () => turned(schema, false),
        (error: Failure) => error.kind === 'invalid' && message.test(error.message),
      );
    });
  }
});

describe('what can be neither held nor checked', () => {
  it('is refused when strict, and named where it is not', () => {
    for (const [schema, phrase] of [
      [text({ pattern: '^(a)\\1$' }), 'the pattern "^(a)\\\\1$", which refers back to a group at $'],
      [text({ pattern: '^a{3,1}$' }), 'the pattern "^a{3,1}$", which has the repetition {3,1}, whose most is below its least at $'],
      [{ type: 'object', unevaluatedProperties: { type: 'string' } }, 'the keyword "unevaluatedProperties" at $'],
    ] as const) {
      assert.throws(
        () => turned(schema, true),
        (error: Failure) => error.kind === 'invalid' && error.message.includes(phrase),
      );
      assert.deepEqual(turned(schema, false).ignored, [phrase]);
    }
  });
});
