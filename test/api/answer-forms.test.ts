import assert from 'node:assert/strict';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Closing } from '../../runtime/completions/grammar/closing.js';
import { GrammarRules } from '../../runtime/completions/grammar/rules.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import type { Loose } from '../support/loaded-engine.js';
import { puppetPath } from '../support/models/cache.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';
import { HOSTILE_SCHEMAS } from '../support/schemas/hostile.js';

const model = puppetPath();

/** A chat with a model that would rather say hello. */
const asking = (name: string, body: object, rest: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario => ({
  method: 'POST',
  path: '/v1/chat/completions',
  name,
  ...rest,
  body: { model, temperature: 0, max_tokens: 200, messages: [{ role: 'user', content: 'hello' }], ...body },
});

const format = (schema: unknown, strict?: boolean) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'f', schema, ...(strict === undefined ? {} : { strict }) } },
});

/** An answer whose content is JSON that `fits`. */
const answers = (name: string, body: object, fits: (value: Loose, answer: Loose) => void): Scenario =>
  asking(name, body, { json: (answer) => fits(JSON.parse(answer.choices[0].message.content), answer) });

const says = (name: string, body: object, text: string): Scenario =>
  asking(name, body, { json: (answer) => assert.equal(answer.choices[0].message.content, text) });

const FORMATS: Record<string, RegExp> = {
  email: /^\S+@\S+\.\w+$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/,
  time: /^\d\d:\d\d:\d\d/,
  ipv4: /^\d+\.\d+\.\d+\.\d+$/,
  ipv6: /^[0-9a-f:]+$/i,
  hostname: /^[\w.-]+$/,
  duration: /^P[\dT]/,
  uri: /^https?:\/\/\S+$/,
};

/** Whose grammar writes nothing that the whole schema takes. */
const NEVER = { type: 'array', items: { const: 1 }, minItems: 2, maxItems: 2, uniqueItems: true };

const tool = (parameters: object, more: object = {}) => ({
  tools: [{ type: 'function', function: { name: 'f', parameters, ...more } }],
  tool_choice: 'required',
});
const called = (name: string, body: object, fits: (args: Loose, answer: Loose) => void): Scenario =>
  asking(name, body, { json: (answer) => fits(JSON.parse(answer.choices[0].message.tool_calls[0].function.arguments), answer) });

const IN_WHOLE: Scenario[] = [
  ...Object.entries(FORMATS).map(([name, pattern]) =>
    answers(
      `a text of format ${name}`,
      format({ type: 'object', properties: { v: { type: 'string', format: name } }, required: ['v'] }, true),
      (value, answer) => {
        assert.match(value.v, pattern);
        assert.ok(!('x_schema_notes' in answer));
      },
    ),
  ),
  answers('multiples', format({ type: 'integer', minimum: 10, maximum: 60, multipleOf: 7 }, true), (value) => assert.equal(value % 7, 0)),
  answers(
    'a long maxLength',
    format({ type: 'object', properties: { v: { type: 'string', maxLength: 2_000 } }, required: ['v'] }, true),
    (value) => assert.ok(value.v.length <= 2_000),
  ),
  answers('a list of many', format({ type: 'array', items: { const: 1 }, maxItems: 5_000 }, true), (value) =>
    assert.ok(Array.isArray(value)),
  ),
  answers('a pattern with a length', format({ type: 'string', pattern: '^[a-z ]+$', maxLength: 9 }, true), (value) =>
    assert.match(value, /^[a-z ]{1,9}$/),
  ),
  answers(
    'repetitions in each other',
    format({ type: 'string', pattern: '^((((ab{2}){20}){3}){1,40}c){0,2}$', maxLength: 1 }, false),
    (value) => assert.match(value, /^(?:(?:(?:(?:ab{2}){20}){3}){1,40}c){0,2}$/),
  ),
  answers('letters of any script', format({ type: 'string', pattern: '^\\p{L}{3}$' }, false), (value) =>
    assert.match(value, /^\p{L}{3}$/u),
  ),
  answers('named groups', format({ type: 'string', pattern: '^(?<a>[ab]{2})$' }, true), (value) => assert.match(value, /^[ab]{2}$/)),
  answers('a pattern that looks ahead, noted', format({ type: 'string', pattern: '^(?!x)[a-z]{3}$' }, false), (value, answer) => {
    assert.match(value, /^[a-z]{3}$/);
    assert.deepEqual(answer.x_schema_notes, [
      'The answer: "pattern" at $ is not held while the answer is written; the finished text is checked.',
    ]);
  }),
  answers('a back-reference, noted', format({ type: 'string', pattern: '^(a)\\1$', maxLength: 4 }, false), (_value, answer) =>
    assert.match(answer.x_schema_notes[0], /^The answer: the pattern .* refers back to a group at \$ is neither held nor checked\.$/),
  ),
  asking('a back-reference, strictly', format({ type: 'string', pattern: '^(a)\\1$' }, true), {
    status: 422,
    contains: ['refers back to a group', 'unsupported_schema'],
  }),
  answers('an answer that breaks its schema, noted', format(NEVER), (value, answer) => {
    assert.deepEqual(value, [1, 1]);
    assert.equal(answer.x_schema_notes[1], 'The answer does not fit its schema: $ has the item 1 twice, and uniqueItems is true.');
  }),
  asking('an answer that breaks its schema, strictly', format(NEVER, true), {
    status: 500,
    contains: ['schema_not_met', '$ has the item 1 twice, and uniqueItems is true, after 2 tries. Ask again'],
  }),
  called(
    'arguments of a call with a look ahead',
    tool({ properties: { a: { type: 'string', pattern: '^(?!x)[a-z]{2}$' } }, required: ['a'] }),
    (args, answer) => {
      assert.match(args.a, /^[a-z]{2}$/);
      assert.deepEqual(answer.x_schema_notes, [
        'A call of f: "pattern" at f.a is not held while the answer is written; the finished text is checked.',
      ]);
    },
  ),
  asking('arguments of a call that break the schema, strictly', tool({ properties: { a: NEVER }, required: ['a'] }, { strict: true }), {
    status: 500,
    contains: ['A call of f does not fit its schema: $.a has the item 1 twice'],
  }),
  answers('a reference to an anchor', format({ $defs: { n: { $anchor: 'name', const: 'x' } }, $ref: '#name' }, true), (value) =>
    assert.equal(value, 'x'),
  ),
  asking('a reference to nothing', format({ properties: { a: { $ref: '#name' } } }), {
    status: 422,
    contains: ['\\"#name\\" points to nothing', '$anchor'],
  }),
  answers(
    'a tuple of draft-07',
    format({ type: 'array', items: [{ type: 'boolean' }, { const: 1 }], additionalItems: false }, true),
    (value) => {
      assert.equal(typeof value[0], 'boolean');
      assert.deepEqual(value.slice(1), [1]);
    },
  ),
  answers(
    'json_object with a schema',
    { response_format: { type: 'json_object', schema: { properties: { a: { const: 1 } }, required: ['a'] } } },
    (value) => assert.deepEqual(value, { a: 1 }),
  ),
  answers('json_schema with the schema beside it', { response_format: { type: 'json_schema', schema: { const: 3 } } }, (value) =>
    assert.equal(value, 3),
  ),
  answers('guided_json', { guided_json: { properties: { a: { const: 1 } }, required: ['a'] } }, (value) =>
    assert.deepEqual(value, { a: 1 }),
  ),
  answers('guided_json as text, in extra_body', { extra_body: { guided_json: '{"const": [1]}' } }, (value) => assert.deepEqual(value, [1])),
  answers('json_schema at the top', { json_schema: { const: 2 } }, (value) => assert.equal(value, 2)),
  says('a grammar', { grammar: 'root ::= greeting "!"\ngreeting ::= "good" " day"' }, 'good day!'),
  says(
    'a grammar behind a thought',
    { grammar: 'root ::= "(" root ")" | "x"', think: true, extra_body: { thinking_budget: 0 }, temperature: 0 },
    'x',
  ),
  says('guided_choice', { guided_choice: ['positive'] }, 'positive'),
  says('guided_regex', { guided_regex: '(ab){2}c' }, 'ababc'),
  asking(
    'two forms at once',
    { grammar: 'root ::= "x"', ...format({}) },
    { status: 422, contains: ['response_format and grammar each say'] },
  ),
  asking('guided_json that is no JSON', { guided_json: '{' }, { status: 422, contains: ['guided_json is a text that is no JSON'] }),
  asking('a grammar that is none', { grammar: 'root := x' }, { status: 422, contains: ['no GBNF grammar with a rule named root'] }),
  asking('a grammar with an unknown rule', { grammar: 'root ::= nothing' }, { status: 422, contains: ['The grammar cannot be used'] }),
  asking('a grammar that never ends', { grammar: 'root ::= root "x"' }, { status: 422, contains: ['The grammar cannot be used'] }),
  asking('a regular expression that looks ahead', { guided_regex: '(?=a)b' }, { status: 422, contains: ['guided_regex'] }),
];

const STREAMED: Scenario[] = [
  asking(
    'a stream that breaks its schema, strictly',
    { ...format(NEVER, true), stream: true },
    {
      json: (_body, answer) => {
        const error = answer.events.map((event) => (event === '[DONE]' ? {} : JSON.parse(event))).find((event) => 'error' in event)?.error;
        assert.equal(error.code, 'schema_not_met');
        assert.match(error.message, /uniqueItems is true\. Ask again/);
        assert.equal(answer.events.at(-1), '[DONE]');
      },
    },
  ),
  asking(
    'a stream that breaks its schema, noted',
    { ...format(NEVER), stream: true },
    {
      events: [ANY_EVENTS, /"finish_reason":"stop".*"x_schema_notes":\[".*does not fit its schema: \$ has the item 1 twice/, '[DONE]'],
    },
  ),
];

/** The built-in model writes texts of some length. */
const REPORT = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 30 },
    lines: {
      type: 'array',
      items: { type: 'object', properties: { text: { type: 'string', minLength: 10 } }, required: ['text'] },
      minItems: 2,
    },
    kind: { enum: ['good', 'bad'] },
  },
  required: ['title', 'lines', 'kind'],
};
let cut = 0;
const fitsReport = (answer: Loose): void => {
  const [{ message, finish_reason: reason }] = answer.choices;
  const { title, lines, kind } = JSON.parse(message.content);
  assert.ok(title.length >= 30 && lines.length >= 2 && ['good', 'bad'].includes(kind), message.content);
  for (const { text } of lines) assert.ok(text.length >= 10);
  if (reason !== 'length') return;
  cut += 1;
  assert.match(answer.x_schema_notes.join(), /ran out of tokens and was closed/);
};
const SHORT_OF_TOKENS: Scenario[] = [
  ...[100, 120, 140, 160, 180].map((most) =>
    asking(
      `an answer of ${most} tokens is whole`,
      { ...format(REPORT, true), max_tokens: most },
      {
        json: (answer) => {
          fitsReport(answer);
          assert.ok(answer.usage.completion_tokens <= most, `${answer.usage.completion_tokens} of ${most} tokens`);
        },
      },
    ),
  ),
  asking(
    'a stream is whole too, and each part of it can be closed',
    { ...format(REPORT, true), max_tokens: 110, stream: true },
    {
      json: (_body, { events }) => {
        const rules = new GrammarRules();
        const closing = new Closing(rules.text(rules.base('object')));
        let content = '';
        for (const event of events.filter((one) => one !== '[DONE]')) {
          const text: string = JSON.parse(event).choices[0]?.delta.content ?? '';
          closing.push(text);
          content += text;
          JSON.parse(content + closing.text);
        }
        fitsReport({ choices: [{ message: { content }, finish_reason: 'stop' }] });
        assert.ok(cut > 0, 'no answer ran out of tokens');
      },
    },
  ),
  asking(
    'an answer for which there is no room at all is cut',
    { ...format(REPORT, true), max_tokens: 5 },
    {
      json: (answer) => {
        assert.equal(answer.choices[0].finish_reason, 'length');
        assert.throws(() => JSON.parse(answer.choices[0].message.content));
      },
    },
  ),
  answers(
    'a schema with recursion',
    {
      ...format(
        {
          $defs: {
            n: {
              type: 'object',
              properties: { v: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } },
              required: ['v', 'next'],
            },
          },
          $ref: '#/$defs/n',
        },
        true,
      ),
      max_tokens: 60,
    },
    (value) => assert.ok(Number.isInteger(value.v) && 'next' in value),
  ),
];

const HOSTILE: Scenario[] = [
  ...['anyOf that doubles with other properties', 'properties by patterns', 'a chain of references'].map((name) =>
    asking(`${name}, of an answer`, format(HOSTILE_SCHEMAS[name]!()), { status: 422, contains: ['The schema '] }),
  ),
  ...['anyOf that doubles with other properties', 'oneOf that doubles beside properties'].map((name) =>
    asking(`${name}, of a tool`, tool({ properties: { a: { $ref: '#/$defs/L20' } }, ...(HOSTILE_SCHEMAS[name]!() as object) }), {
      status: 422,
      contains: ['The schema takes too much work'],
    }),
  ),
];

const like = (name: string) => ({ properties: { a: { $ref: '#/$defs/n' }, [name]: { const: 1 } }, required: ['a', name] });
/** Texts that a grammar may read in ways that double with each token. */
const AMBIGUOUS: Scenario[] = [
  asking(
    'alternatives that begin alike inside one another',
    format({ $defs: { n: { anyOf: [like('b'), like('c')] } }, $ref: '#/$defs/n' }),
    {
      json: (body) => assert.match(body.choices[0].message.content, /^\{\s*"a":\s*\{/),
    },
  ),
  asking(
    'a grammar that can be read in too many ways',
    { grammar: 'root ::= "a" root "b" | "a" root "c"' },
    {
      status: 500,
      contains: ['can be read in too many ways'],
    },
  ),
];

scenarios<Runtime>(
  'the form of an answer',
  {
    endpoints: universalEndpoints,
    context: () => {
      const models = new Models({ dataDir: emptyDataDir() });
      return { models, completions: new Completions({ models }) } as unknown as Runtime;
    },
    close: ({ models }) => models.close(),
  },
  [...IN_WHOLE, ...STREAMED, ...SHORT_OF_TOKENS, ...HOSTILE, ...AMBIGUOUS],
);
