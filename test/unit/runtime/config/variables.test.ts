import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandEnv, isEnvReference } from '../../../../runtime/config/variables.js';

test('variables: references are replaced at any depth, in a copy', () => {
  const value = {
    api_key: '${env:KEY}',
    headers: { a: 'Bearer ${env:KEY}-${env:EMPTY}' },
    list: ['${env:KEY}', 1, null],
    plain: '$env:KEY {env:KEY}',
  };
  const before = structuredClone(value);
  const out = expandEnv(value, { KEY: 'k$&${env:OTHER}', EMPTY: '' });
  assert.deepEqual(out, {
    api_key: 'k$&${env:OTHER}',
    headers: { a: 'Bearer k$&${env:OTHER}-' },
    list: ['k$&${env:OTHER}', 1, null],
    plain: '$env:KEY {env:KEY}',
  });
  assert.deepEqual(value, before);
});

test('variables: a missing one is named with the remedy', () => {
  assert.throws(() => expandEnv({ a: ['${env:NOPE}'] }, {}), {
    kind: 'bad_request',
    code: 'EnvironmentVariableMissing',
    message: /NOPE.*not set.*Set it/s,
  });
});

test('variables: what is only a reference is told from what holds text besides', () => {
  assert.equal(isEnvReference('${env:A_1}'), true);
  for (const text of ['sk-${env:A}', '${env:A}x', '${env:1A}', '', 'sk']) assert.equal(isEnvReference(text), false, text);
});
