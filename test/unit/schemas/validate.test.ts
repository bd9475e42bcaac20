import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SchemaName } from '../../../schemas/endpoint.js';
import { Failure, type FailureItem } from '../../../schemas/errors.js';
import { check, checkInTurns, coerced } from '../../../schemas/validate.js';

function errorsOf(run: () => unknown): readonly FailureItem[] {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.kind, 'invalid');
    return error.errors ?? [];
  }
  assert.fail('nothing was thrown');
}

describe('check', () => {
  it('returns what fits and fills defaults in', () => {
    assert.deepEqual(check('common#ToolCall', { function: { name: 'f' } }), { type: 'function', function: { name: 'f', arguments: '{}' } });
  });

  it('names path, rule and value', () => {
    assert.deepEqual(
      errorsOf(() => check('common#Usage', { prompt_tokens: 'a', completion_tokens: 1 }, 'file')),
      [
        { type: 'missing', loc: ['file', 'total_tokens'], msg: 'is required' },
        { type: 'int_type', loc: ['file', 'prompt_tokens'], msg: 'must be integer', input: 'a' },
      ],
    );
  });

  it('says of a member whose name does not fit which one it is, and of a value that is left out that another is wanted', () => {
    const asked = { model: 'm', prompt: 'a', logit_bias: { 5: 1, x: 1, y: 1 } };
    assert.deepEqual(
      errorsOf(() => check('universal/texts#TextRequest', asked)).map(({ msg }) => msg),
      ['its member "x" must match pattern "^[0-9]{1,10}$"'],
    );
    const zero = { model: 'm', messages: [{ role: 'user', content: 'a' }], max_tokens: 0 };
    assert.deepEqual(
      errorsOf(() => check('universal/chat#CompletionRequest', zero)).map(({ msg, input }) => [msg, input]),
      [['must be another value', 0]],
    );
  });

  it('gives list indices as numbers and looks into the branch that fits', () => {
    const errors = errorsOf(() => check('common#Message', { role: 'user', content: [{ type: 'text' }, { type: 'text', text: 4 }] }));
    assert.deepEqual(errors, [{ type: 'string_type', loc: ['body', 'content', 1, 'text'], msg: 'must be string', input: 4 }]);
  });

  it('merges alternatives into one item', () => {
    const errors = errorsOf(() => check('common#Message', { role: 'user', content: 5 }));
    assert.deepEqual(errors, [{ type: 'string_type', loc: ['body', 'content'], msg: 'must be string or array or null', input: 5 }]);
  });

  it('calls an absent value missing', () => {
    assert.deepEqual(
      errorsOf(() => check('common#Message', undefined)),
      [{ type: 'missing', loc: ['body'], msg: 'is required' }],
    );
  });

  it('refuses names that lead elsewhere', () => {
    for (const name of ['', '..', '.a', 'a/b', 'a\\b', 'a\0', 'é', 'a'.repeat(129), '-a'])
      assert.equal(errorsOf(() => check('common#Name', name, 'path')).length >= 1, true, name);
    assert.equal(check('common#Name', 'a.b-c_1'), 'a.b-c_1');
  });

  it('lists at most 50 violations', () => {
    const content = (count: number) => ({ role: 'user', content: Array.from({ length: count }, () => ({ type: 'bogus' })) });
    assert.equal(errorsOf(() => check('common#Message', content(300))).length, 50);
    assert.equal(errorsOf(() => check('common#Message', content(30_000))).length, 50);
  });

  it('keeps secrets and long texts out of its errors', () => {
    const errors = errorsOf(() => check('common#Message', { role: 'x'.repeat(5_000) }));
    assert.ok(JSON.stringify(errors).length < 1_000);
    const model = { name: 'm', provider: 'openai', model: 'x', api_key: 987654 };
    const project = { version: 'v1', name: 'a', namespace: 'b', runtime: { models: [model] } };
    const secret = errorsOf(() => check('config/project#ProjectConfig', project, 'file'));
    assert.deepEqual(secret[0]!.loc.at(-1), 'api_key');
    assert.ok(!JSON.stringify(secret).includes('987654'));
  });

  it('treats an unknown schema as our mistake, and says how validators are made', () => {
    assert.throws(() => check('nowhere#Nothing', {}), /^Error: no validators for nowhere#Nothing.*scripts\/schemas\.mjs/);
    assert.throws(() => check('common#Nothing', {}), /^Error: no shape Nothing in schemas\/common\.json/);
  });
});

describe('values that are wrong many times', () => {
  const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_none, i) => of(i));
  const members = (count: number, value: unknown) => Object.fromEntries(many(count, (i) => [`n${i}`, value]));
  const failures = async (name: SchemaName, value: unknown): Promise<readonly FailureItem[]> => {
    const started = process.cpuUsage();
    const [atOnce, inTurns] = [
      errorsOf(() => check(name, structuredClone(value))),
      await checkInTurns(name, value, () => undefined).then(
        () => assert.fail('nothing was thrown'),
        (error: Failure) => error.errors,
      ),
    ];
    assert.deepEqual(inTurns, atOnce);
    assert.ok(process.cpuUsage(started).user < 1_000_000, 'over a second');
    return atOnce;
  };

  for (const [name, schema, value, first] of [
    [
      'items of a union',
      'common#Message',
      { role: 'user', content: many(200_000, () => ({ type: 'bogus' })) },
      ['body', 'content', 0, 'type'],
    ],
    [
      'a union in items',
      'core/chat#CompletionRequest',
      { messages: many(10_000, () => ({ role: 'user', content: false })) },
      ['body', 'messages', 0, 'content'],
    ],
    [
      'lists in lists',
      'core/chat#CompletionRequest',
      { messages: many(1_000, () => ({ role: 'user', content: many(200, () => 7) })) },
      ['body', 'messages', 0, 'content', 0],
    ],
    ['members', 'core/chat#CompletionRequest', { messages: [], variables: 1, logit_bias: members(100_000, 'x') }, undefined],
    ['unknown members', 'universal/buffers#FeaturesRequest', { name: 'a', ...members(100_000, 1) }, undefined],
    [
      'items behind many that fit',
      'universal/encoders#EmbeddingRequest',
      { model: 'm', input: [...many(2_000, () => 'a'), ...many(100_000, () => ({}))] },
      undefined,
    ],
  ] as const)
    it(`names the first few of ${name}, at a cost in proportion`, async () => {
      const errors = await failures(schema, value);
      assert.ok(errors.length >= 1 && errors.length <= 50);
      if (first) assert.deepEqual(errors[0]?.loc, first);
    });

  it('pauses while it checks a large value, and fills defaults in', async () => {
    let pauses = 0;
    const pause = (): undefined => {
      pauses += 1;
      return undefined;
    };
    const call = { function: { name: 'f' } };
    const filled = { type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = await checkInTurns<object>('common#Message', { role: 'assistant', content: null, tool_calls: [call, call] }, pause);
    assert.deepEqual(message, { role: 'assistant', content: null, tool_calls: [filled, filled] });
    await assert.rejects(
      checkInTurns('common#Message', { role: 'user', content: many(100_000, () => ({ type: 'text', text: 'a' })) }, pause),
    );
    assert.ok(pauses > 100, `${pauses} pauses`);
  });
});

describe('the validators', () => {
  const folder = join(import.meta.dirname, '../../../schemas');
  const files = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.json'));
  const names = files.flatMap((file) =>
    Object.keys(JSON.parse(readFileSync(join(folder, file), 'utf8')).$defs).map((shape): SchemaName => `${file.slice(0, -5)}#${shape}`),
  );

  it('exist for every shape of every schema file, and work without any part of Ajv', () => {
    assert.ok(names.length > 50);
    for (const name of names) {
      for (const use of [check, coerced]) {
        try {
          use(name, 'no shape at all \ud800');
        } catch (error) {
          assert.ok(error instanceof Failure, `${name}: ${error}`);
        }
      }
    }
    const modules = Object.keys(createRequire(import.meta.url).cache);
    assert.ok(modules.some((path) => path.endsWith('chat.thorough.cjs')));
    assert.deepEqual(
      modules.filter((path) => path.includes('node_modules')),
      [],
    );
  });
});

describe('coerced', () => {
  it('converts text', () => {
    assert.deepEqual(coerced('common#Usage', { prompt_tokens: '1', completion_tokens: '2', total_tokens: '3' }), {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
    });
  });

  it('refuses text that is no number', () => {
    assert.deepEqual(
      errorsOf(() => coerced('common#Usage', { prompt_tokens: '1', completion_tokens: 'NaN', total_tokens: '' })).map((item) => item.loc),
      [
        ['query', 'completion_tokens'],
        ['query', 'total_tokens'],
      ],
    );
  });

  for (const [texts, expected] of [
    [['true', 'True', 'TRUE', '1', 'yes', 'Yes', 'on', 'ON', 't', 'T', 'y', 'Y'], true],
    [['false', 'False', '0', 'no', 'NO', 'off', 'Off', 'f', 'F', 'n', 'N'], false],
  ] as const)
    for (const text of texts)
      it(`reads ${text} as ${expected}`, () => {
        assert.deepEqual(coerced('core/projects#DeleteQuery', { purge: text }), { purge: expected });
        assert.deepEqual(coerced('universal/files#UploadForm', { file: 'a', convert_pdf: text, pdf_dpi: '72' }, 'body'), {
          ...coerced<object>('universal/files#UploadForm', { file: 'a' }),
          convert_pdf: expected,
          pdf_dpi: 72,
        });
      });

  for (const text of ['', ' true', '2', 'ja', 'nul', 'truefalse'])
    it(`refuses ${JSON.stringify(text)} where a boolean is asked for`, () => {
      const [item, ...none] = errorsOf(() => coerced('core/projects#DeleteQuery', { purge: text }));
      assert.deepEqual([item?.type, item?.loc, item?.input, none], ['bool_type', ['query', 'purge'], text, []]);
    });

  for (const text of ['0x48', '0b1', '7_2', '72,5', '72.5', ' 72', '72 dpi', 'Infinity', '1e999', 'true', 'null', '٧٢', '-'])
    it(`refuses ${JSON.stringify(text)} where a whole number is asked for`, () => {
      const [item, ...none] = errorsOf(() => coerced('universal/files#UploadForm', { file: 'a', pdf_dpi: text }, 'body'));
      assert.deepEqual([item?.loc, none], [['body', 'pdf_dpi'], []]);
    });

  it('reads decimal notations', () => {
    const read = (text: string): unknown =>
      coerced<{ strength: unknown }>('universal/images#VariationForm', { image: ['a'], strength: text }).strength;
    assert.deepEqual(['1', '0.5', '.5', '+1', '1.', '5e-1', '25E-2'].map(read), [1, 0.5, 0.5, 1, 1, 0.5, 0.25]);
  });

  it('reads null where null is a value and text is none', () => {
    const given = { image: ['a'], n: 'null', stream: 'null', output_format: 'null', strength: '', prompt: 'null', user: 'null' };
    const nulls = { n: null, stream: null, output_format: null, strength: null };
    assert.deepEqual(coerced('universal/images#VariationForm', { ...given }), { ...given, ...nulls });
    assert.equal(errorsOf(() => coerced('universal/files#UploadForm', { file: 'a', convert_pdf: 'null' })).length, 1);
  });

  it('takes a list of one for its item and an item for a list of one', () => {
    assert.deepEqual(coerced('universal/images#EditForm', { image: 'a', prompt: ['b'], n: ['2'] }), { image: ['a'], prompt: 'b', n: 2 });
    assert.deepEqual(
      errorsOf(() => coerced('universal/images#EditForm', { image: 'a', prompt: 'b', n: ['1', '2'] })).map(({ loc }) => loc),
      [['query', 'n']],
    );
  });

  it('leaves texts alone that may be words for yes and no', () => {
    assert.deepEqual(coerced('universal/files#ListQuery', { purpose: 'on' }), { purpose: 'on' });
  });
});
