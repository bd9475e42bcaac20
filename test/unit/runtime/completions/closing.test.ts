import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Closing } from '../../../../runtime/completions/grammar/closing.js';
import { GrammarRules } from '../../../../runtime/completions/grammar/rules.js';
import { schemaExpression } from '../../../../runtime/completions/json-schema-grammar.js';
import { WholeAnswer } from '../../../../runtime/completions/output.js';
import { SchemaChecker } from '../../../../runtime/completions/schema/check.js';
import { SchemaDocument } from '../../../../runtime/completions/schema/document.js';
import { WorkLimit } from '../../../../runtime/completions/work-limit.js';
import { processorMs } from '../../../support/processor-time.js';

function grammarOf(schema: unknown): string {
  const rules = new GrammarRules();
  return rules.text(schemaExpression(schema, rules, { strict: true }).expression);
}
const flawOf = (schema: unknown, text: string): string | null =>
  new SchemaChecker(new SchemaDocument(schema, new WorkLimit(60_000))).flawOf(JSON.parse(text));

const NODE = {
  type: 'object',
  properties: { v: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/N' }, { type: 'null' }] } },
  required: ['v', 'next'],
};
const CASES: [name: string, schema: object, value: unknown][] = [
  [
    'texts, numbers and constants',
    {
      type: 'object',
      properties: { a: { type: 'string', minLength: 3 }, b: { type: 'number' }, c: { const: true }, d: { type: 'null' } },
      required: ['a', 'b', 'c', 'd'],
    },
    { a: 'x "quoted" \u00e9\u{1f600}\n', b: -12.5e10, c: true, d: null },
  ],
  [
    'an enumeration and a list',
    {
      type: 'object',
      properties: {
        mood: { enum: ['good', 'bad'] },
        items: {
          type: 'array',
          items: { type: 'object', properties: { n: { type: 'integer', minimum: 3, maximum: 5 } }, required: ['n'] },
          minItems: 2,
          maxItems: 3,
        },
      },
      required: ['mood', 'items'],
    },
    { mood: 'bad', items: [{ n: 3 }, { n: 5 }] },
  ],
  ['a schema with recursion', { $ref: '#/$defs/N', $defs: { N: NODE } }, { v: 1, next: { v: 20, next: { v: -3, next: null } } }],
  [
    'optional members',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'boolean' } } },
      additionalProperties: { type: 'integer' },
    },
    { a: 'x', b: [true, false], more: 3 },
  ],
  [
    'formats and patterns',
    {
      type: 'object',
      properties: {
        d: { type: 'string', format: 'date' },
        p: { type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' },
        u: { type: 'string', format: 'uuid' },
      },
      required: ['d', 'p', 'u'],
    },
    { d: '2026-02-28', p: 'AB-123', u: '123e4567-e89b-42d3-a456-426614174000' },
  ],
];

describe('texts that are closed by their grammar', () => {
  for (const [name, schema, value] of CASES)
    it(`fit their schema whole, wherever they are cut: ${name}`, () => {
      const text = JSON.stringify(value);
      const closing = new Closing(grammarOf(schema));
      let said = '';
      for (const character of ['', ...text]) {
        closing.push(character);
        said += character;
        assert.ok(closing.text !== undefined, said);
        assert.equal(flawOf(schema, said + closing.text), null, said + closing.text);
      }
      assert.equal(closing.text, '');
    });

  it('are any JSON where no schema holds them', () => {
    const rules = new GrammarRules();
    const closing = new Closing(rules.text(rules.base('object')));
    let said = '';
    for (const character of '{"a": [1, {"b": "\\u00e9\\n"}], "c": {"d": -0.5e3, "e": [[], {}]}, "f": nul') {
      closing.push(character);
      said += character;
      JSON.parse(said + closing.text);
    }
  });

  it('are given up where they do not fit the grammar', () => {
    const closing = new Closing(grammarOf({ type: 'integer' }));
    closing.push('12x');
    assert.equal(closing.text, undefined);
    closing.push('1');
    assert.equal(closing.text, undefined);
  });

  it('are followed in time that grows with their length', () => {
    const closing = new Closing(grammarOf({ type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } }));
    const ms = processorMs(() => {
      closing.push(`[${'{"key": "some words and more of them"}, '.repeat(5_000)}`);
      assert.equal(closing.text, '{}]');
    });
    assert.ok(ms < 10_000, `${ms} ms`);
    const doubling = {
      $defs: {
        n: { anyOf: ['b', 'c'].map((one) => ({ properties: { a: { $ref: '#/$defs/n' }, [one]: { const: 1 } }, required: ['a', one] })) },
      },
      $ref: '#/$defs/n',
    };
    new Closing(grammarOf(doubling)).push('{"a": '.repeat(500));
  });
});

describe('an answer that runs out of tokens', () => {
  const schema = CASES[1]![1];
  const text = JSON.stringify(CASES[1]![2]);
  const usage = { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 };
  /** A token is a character. */
  const answer = async (maxTokens: number): Promise<{ text: string; used: number }> => {
    const whole = new WholeAnswer(grammarOf(schema), maxTokens, async (texts) => texts.map(({ length }) => length));
    let said = '';
    for (let used = 1; used <= Math.min(maxTokens, text.length); used += 1)
      for (const part of whole.take([{ type: 'text', text: text[used - 1]! }], used)) if (part.type === 'text') said += part.text;
    let completion = 0;
    const reason = maxTokens < text.length ? 'length' : 'stop';
    for (const part of await whole.end([{ type: 'finish', reason, usage }])) {
      if (part.type === 'text') said += part.text;
      if (part.type === 'finish') completion = part.usage.completion_tokens;
    }
    return { text: said, used: completion };
  };

  it('is whole within its tokens, and as the model wrote it where there were enough', async () => {
    const least = '{"mood":"bad","items":[{"n":3},{"n":3}]}'.length;
    for (let most = least; most < text.length; most += 1) {
      const { text: said, used } = await answer(most);
      assert.equal(flawOf(schema, said), null, said);
      assert.ok(used <= most && said.length === used, `${said.length} of ${most}`);
    }
    assert.equal((await answer(text.length)).text, text);
    assert.equal((await answer(5)).text, text.slice(0, 5));
  });
});
