import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowEnv, expandEnv } from '../../../../runtime/config/variables.js';
import { Failure } from '../../../../schemas/errors.js';
import { isOnlyReferences } from '../../../../schemas/secrets.js';

test('variables: references are replaced at any depth, in a copy', () => {
  const value = {
    api_key: '${env:QUERN_KEY}',
    headers: { a: 'Bearer ${env:QUERN_KEY}-${env:QUERN_EMPTY}' },
    list: ['${env:QUERN_KEY}', 1, null],
    plain: '$env:KEY {env:KEY}',
  };
  const before = structuredClone(value);
  const out = expandEnv(value, { QUERN_KEY: 'k$&${env:QUERN_OTHER}', QUERN_EMPTY: '' });
  assert.deepEqual(out, {
    api_key: 'k$&${env:QUERN_OTHER}',
    headers: { a: 'Bearer k$&${env:QUERN_OTHER}-' },
    list: ['k$&${env:QUERN_OTHER}', 1, null],
    plain: '$env:KEY {env:KEY}',
  });
  assert.deepEqual(value, before);
});

test('variables: a missing one is named with the remedy', () => {
  assert.throws(() => expandEnv({ a: ['${env:QUERN_NOPE}'] }, {}), {
    kind: 'bad_request',
    code: 'EnvironmentVariableMissing',
    message: /NOPE.*not set.*Set it/s,
  });
});

/** Whether a project file may refer to a variable, unasked and with `--allow-env MY_TOKEN,HOME_KEY`. */
const READABLE: readonly (readonly [name: string, unasked: boolean, allowed: boolean])[] = [
  ['QUERN_HOST', true, true],
  ['QUERN_API_KEY', false, false],
  ['OPENAI_API_KEY', true, true],
  ['GROQ_API_KEY', true, true],
  ['MY_TOKEN', false, true],
  ['HOME', false, false],
  ['PATH', false, false],
  ['AWS_SECRET_ACCESS_KEY', false, false],
  ['SOMEONE_API_KEY', false, false],
  ['quern_host', false, false],
  ['XOPENAI_API_KEY', false, false],
  ['OPENAI_API_KEY_2', false, false],
];

test('variables: only allowed names are read, and a refusal names the setting', () => {
  const all = Object.fromEntries(READABLE.map(([name]) => [name, 'canary-value']));
  for (const isAsked of [false, true]) {
    allowEnv(isAsked ? ['MY_TOKEN', 'HOME_KEY'] : []);
    for (const [name, unasked, allowed] of READABLE) {
      const read = (): unknown => expandEnv({ a: [`x-\${env:${name}}`] }, all);
      if (isAsked ? allowed : unasked) assert.deepEqual(read(), { a: ['x-canary-value'] }, name);
      else {
        assert.throws(read, (failure: Failure) => {
          assert.deepEqual([failure.kind, failure.code], ['bad_request', 'EnvironmentVariableRefused']);
          return failure.message.includes(`--allow-env ${name}`) && !failure.message.includes('canary');
        });
      }
    }
  }
  allowEnv([]);
});

test('variables: where strangers write project files, those alone are read that the operator names', () => {
  allowEnv(['MY_TOKEN'], true);
  const all = { MY_TOKEN: 'allowed', OPENAI_API_KEY: 'canary', QUERN_ANYTHING: 'canary' };
  assert.equal(expandEnv('${env:MY_TOKEN}', all), 'allowed');
  for (const name of ['OPENAI_API_KEY', 'QUERN_ANYTHING']) assert.throws(() => expandEnv(`\${env:${name}}`, all), /--allow-env/);
  allowEnv([]);
});

test('variables: what a secret one holds is not repeated by any failure', () => {
  expandEnv({ host: '${env:QUERN_HOST_KEY}', password: 'literal-canary', name: 'plain-value' }, { QUERN_HOST_KEY: 'canary-from-env' });
  const { message } = new Failure('bad_request', 'the host canary-from-env with literal-canary refuses plain-value');
  assert.equal(message, 'the host *** with *** refuses plain-value');
});

test('variables: what is only a reference is told from what holds text besides', () => {
  for (const text of ['${env:A_1}', 'Bearer ${env:A}', '${env:A}${env:B}']) assert.equal(isOnlyReferences(text), true, text);
  for (const text of ['sk-${env:A}', '${env:A}x', '${env:1A}', '', 'sk', 'Bearer x']) assert.equal(isOnlyReferences(text), false, text);
});
