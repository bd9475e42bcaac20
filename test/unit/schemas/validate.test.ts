import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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

  it('treats an unknown schema as our mistake', () => {
    assert.throws(
      () => check('nowhere#Nothing', {}),
      (error) => !(error instanceof Failure),
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
});
