import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SchemaName } from '../../../schemas/endpoint.js';
import { Failure, type FailureItem } from '../../../schemas/errors.js';
import { check, coerced } from '../../../schemas/validate.js';

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

  it('lists at most 50 violations, and only the first of a very large value', () => {
    const content = (count: number) => ({ role: 'user', content: Array.from({ length: count }, () => ({ type: 'bogus' })) });
    assert.equal(errorsOf(() => check('common#Message', content(300))).length, 50);
    assert.ok(errorsOf(() => check('common#Message', content(30_000))).length <= 3);
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

  it('leaves texts alone that may be words for yes and no', () => {
    assert.deepEqual(coerced('universal/files#ListQuery', { purpose: 'on' }), { purpose: 'on' });
  });
});
