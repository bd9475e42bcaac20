import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutSecrets, withSecretsOf } from '../../../../runtime/config/secrets.js';
import { Failure } from '../../../../schemas/errors.js';

const CURRENT = {
  api_key: 'one',
  port: 6333,
  token: '${env:TOKEN}',
  base_url: 'https://me:word@host/v1',
  list: [
    { name: 'a', config: { 'api-key': 'two' } },
    { name: 'b', config: { password: 'three' } },
  ],
};

describe('secrets of a configuration', () => {
  it('are shown as stars, references as they are', () => {
    assert.deepEqual(withoutSecrets(CURRENT), {
      ...CURRENT,
      api_key: '***',
      base_url: 'https://***@host/v1',
      list: [
        { name: 'a', config: { 'api-key': '***' } },
        { name: 'b', config: { password: '***' } },
      ],
    });
  });

  it('come back where the stars are, also in another order', () => {
    const shown = withoutSecrets(CURRENT) as typeof CURRENT;
    assert.deepEqual(withSecretsOf(shown, CURRENT), CURRENT);
    assert.deepEqual(withSecretsOf({ ...shown, list: shown.list.toReversed() }, CURRENT).list, CURRENT.list.toReversed());
  });

  it('are replaced by what is given', () => {
    const given = { api_key: 'new', base_url: 'https://other/v1', name: '***' };
    assert.deepEqual(withSecretsOf(given, CURRENT), given);
  });

  it('cannot come back where there were none', () => {
    const refused = (error: unknown): boolean => error instanceof Failure && error.kind === 'bad_request' && /api_key/.test(error.message);
    assert.throws(() => withSecretsOf({ api_key: '***' }, undefined), refused);
    assert.throws(() => withSecretsOf({ base_url: 'https://***@other/v1' }, CURRENT), /base_url/);
    assert.throws(() => withSecretsOf({ list: [{ name: 'c', config: { api_key: '***' } }] }, CURRENT), refused);
  });
});
