import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveDeep, resolveText, type Variables } from '../../../../runtime/chat/templates.js';
import { Failure } from '../../../../schemas/errors.js';

const texts: { case: string; text: string; variables?: Variables; result: string }[] = [
  { case: '21', text: 'Hello {{name}}', variables: { name: 'Ann' }, result: 'Hello Ann' },
  { case: '21', text: 'Hello {{ name }}', variables: { name: 'Ann' }, result: 'Hello Ann' },
  { case: '21', text: 'Hello {{\tname\n}}', variables: { name: 'Ann' }, result: 'Hello Ann' },
  { case: '21', text: '{{name}} {{name}}', variables: { name: 'Ann' }, result: 'Ann Ann' },
  { case: '22 int', text: '{{n}}', variables: { n: 42 }, result: '42' },
  { case: '22 float', text: '{{n}}', variables: { n: 3.5 }, result: '3.5' },
  { case: '22 true', text: '{{n}}', variables: { n: true }, result: 'True' },
  { case: '22 false', text: '{{n}}', variables: { n: false }, result: 'False' },
  { case: '22 null', text: '[{{n}}]', variables: { n: null }, result: '[]' },
  { case: '22 empty', text: '[{{n}}]', variables: { n: '' }, result: '[]' },
  { case: '23', text: '{{v | dflt}}', result: 'dflt' },
  { case: '23 empty wins', text: '[{{v | dflt}}]', variables: { v: '' }, result: '[]' },
  { case: '23 null wins', text: '[{{v | dflt}}]', variables: { v: null }, result: '[]' },
  { case: '23 empty default', text: '[{{v|}}]', result: '[]' },
  { case: '23 first pipe', text: '{{v | a | b}}', result: 'a | b' },
  { case: 'default over lines', text: '{{ v |\n two\nlines \n}}', result: 'two\nlines' },
  { case: 'default with an opening', text: '{{a | {{b}}', result: '{{b' },
  {
    case: '24',
    text: '{{}} {{ | x }} {{a-b}} {{1a}} {name} {{name name}}',
    variables: { name: 'x' },
    result: '{{}} {{ | x }} {{a-b}} {{1a}} {name} {{name name}}',
  },
  { case: '24 unclosed', text: '{{name', variables: { name: 'x' }, result: '{{name' },
  { case: '24 unopened', text: 'name}}', variables: { name: 'x' }, result: 'name}}' },
  { case: 'half closed', text: '{{name} {{name}}', variables: { name: 'x' }, result: '{{name} x' },
  { case: 'half closed default', text: '{{v | a} {{w | b}}', result: '{{v | a} b' },
  { case: '25', text: '{{{x}}}', variables: { x: 1 }, result: '{1}' },
  { case: '25', text: '{{{{x}}}}', variables: { x: 'value' }, result: '{{value}}' },
  { case: '25 one pass', text: '{{x}}', variables: { x: '{{other}}', other: 'no' }, result: '{{other}}' },
  { case: '25 one pass over two values', text: '{{a}}{{b}}', variables: { a: '{{', b: 'c}}', c: 'no' }, result: '{{c}}' },
  { case: 'empty braces in the default', text: '{{d | {}}}', result: '{}' },
  { case: 'replacement patterns are literal', text: '{{x}}', variables: { x: '$& $1 $$' }, result: '$& $1 $$' },
  { case: '26 limit', text: '{{x}}', variables: { x: 'y'.repeat(100_000) }, result: 'y'.repeat(100_000) },
  { case: '29', text: 'none {{v | d}}', variables: {}, result: 'none d' },
];

const failures: { case: string; text: string; variables: Variables; contains: string[] }[] = [
  { case: '26 array', text: '{{x}}', variables: { x: [1] }, contains: ['unsupported type', 'array', 'list'] },
  { case: '26 object', text: '{{x | d}}', variables: { x: {} }, contains: ['unsupported type', 'object', 'dict'] },
  {
    case: '26 too long together',
    text: '{{x}}'.repeat(200),
    variables: { x: 'y'.repeat(100_000) },
    contains: ['more than 16777216 characters'],
  },
  { case: '26 too long', text: '{{x}}', variables: { x: 'y'.repeat(100_001) }, contains: ['100000', '{{x}}'] },
  { case: '27', text: 'a {{who}}', variables: { name: 1, place: 2 }, contains: ['{{who}}', 'name, place', '{{who | '] },
  { case: '27 none available', text: '{{who}}', variables: {}, contains: ['{{who}}', 'No variables are available'] },
  { case: 'inherited names are no variables', text: '{{constructor}}', variables: {}, contains: ['{{constructor}}'] },
  { case: 'prototype', text: '{{__proto__}}', variables: {}, contains: ['{{__proto__}}'] },
];

describe('templates', () => {
  for (const { case: name, text, variables, result } of texts) {
    it(`resolves ${name}: ${JSON.stringify(text)}`, () => assert.equal(resolveText(text, variables ?? {}), result));
  }

  for (const { case: name, text, variables, contains } of failures) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => resolveText(text, variables),
        (failure: Failure) => {
          assert.equal(failure.status, 400);
          assert.ok(failure.message.startsWith('Template resolution failed'), failure.message);
          for (const part of contains) assert.ok(failure.message.includes(part), `${part} in ${failure.message}`);
          return failure instanceof Failure;
        },
      );
    });
  }

  it('28: resolves the values of a tool at any depth, not its keys, and leaves the input alone', () => {
    const tool = {
      description: 'for {{who}}',
      '{{who}}': 1,
      parameters: { type: 'object', properties: { city: { enum: ['{{home | Oslo}}', 'x'], minimum: 3, nullable: true, none: null } } },
    };
    const copy = structuredClone(tool);
    assert.deepEqual(resolveDeep(tool, { who: 'Ann' }), {
      description: 'for Ann',
      '{{who}}': 1,
      parameters: { type: 'object', properties: { city: { enum: ['Oslo', 'x'], minimum: 3, nullable: true, none: null } } },
    });
    assert.deepEqual(tool, copy);
  });

  it('reads each character a bounded number of times', () => {
    // Each of these takes hours when an unfinished opening is followed to the end of the text.
    const count = 200_000;
    for (const [unit, tail] of [
      ['{{a|', ''],
      ['{{a|', '}'],
      ['{{ ', ''],
      ['{{a ', ''],
      ['{', ''],
      ['{{a | b', ' } }'],
      ['{{a}', ''],
    ] as const) {
      const text = unit.repeat(count) + tail;
      assert.equal(resolveText(text, { a: 'x' }), text);
    }
    assert.equal(resolveText(`{{a${' '.repeat(count)}`, { a: 'x' }).length, count + 3);
  });
});
