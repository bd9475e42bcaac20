import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutSecrets, withSecretsOf as withSecretsOfAt } from '../../../../runtime/config/secrets.js';
import { Failure } from '../../../../schemas/errors.js';
import { processorMs } from '../../../support/processor-time.js';
import { secretPlaces } from '../../../support/secret-places.js';

const withSecretsOf = <Value>(value: Value, current: unknown): Value => withSecretsOfAt(value, current, ['body']);

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

/** What is configured, and what of it is shown; the same where a row has one. */
const SHOWN: readonly (readonly [configured: object, shown?: object])[] = [
  [{ api_key: 's' }, { api_key: '***' }],
  [
    { apiKey: 's', 'X-API-Key': 's', OPENAI_API_KEY: 's', api_key_2: 's', key: 's' },
    { apiKey: '***', 'X-API-Key': '***', OPENAI_API_KEY: '***', api_key_2: '***', key: '***' },
  ],
  [
    { password: 12345, passwd: 's', clientSecret: 's', aws_secret_access_key: 's' },
    { password: '***', passwd: '***', clientSecret: '***', aws_secret_access_key: '***' },
  ],
  [
    { connection_string: 'Server=x;Pwd=s', dsn: 's', cookie: 's', auth: 's' },
    { connection_string: '***', dsn: '***', cookie: '***', auth: '***' },
  ],
  [
    { auth: { user: 'u', pass: 's' }, credentials: ['s', { a: 1 }] },
    { auth: { user: '***', pass: '***' }, credentials: ['***', { a: '***' }] },
  ],
  [
    { headers: { Accept: 's' }, extra_headers: { a: 's' }, env: { PATH: 's' } },
    { headers: { Accept: '***' }, extra_headers: { a: '***' }, env: { PATH: '***' } },
  ],
  [
    { env: ['A=s'], headers: ['A: s'] },
    { env: ['***'], headers: ['***'] },
  ],
  [{ base_url: 'https://u:p@h/v1' }, { base_url: 'https://***@h/v1' }],
  [{ base_url: 'https://h/v1?key=s&a=b&api-version=1&sig=s' }, { base_url: 'https://h/v1?key=***&a=b&api-version=1&sig=***' }],
  [
    { any: 'postgres://u:p/a@s?s@h/db', list: ['redis://:s@h'] },
    { any: 'postgres://***@h/db', list: ['redis://***@h'] },
  ],
  [{ host: 'u:s@h:9200' }, { host: '***@h:9200' }],
  [
    { args: ['--api-key', 's', '--token=s', '-v', '--url', 'postgres://u:s@h/d', 'API_KEY=s', 'Authorization: Bearer s'] },
    { args: ['--api-key', '***', '--token=***', '-v', '--url', 'postgres://***@h/d', 'API_KEY=***', 'Authorization: Bearer ***'] },
  ],
  [{ command: 'npx server --api-key s --port 1' }, { command: 'npx server --api-key *** --port 1' }],
  [{ api_key: '${env:A}', headers: { authorization: 'Bearer ${env:A}' }, base_url: 'https://u:${env:P}@h?key=${env:K}' }],
  [{ max_tokens: 5, eos_token: '</s>', tokens: 'x', keep: 'x', cache_type_k: 'f16', token: true, secret: null, password: '' }],
  [{ parameters: { properties: { password: { type: 'string', description: 'the password' } } } }],
  [{ model: 'llama3:8b@sha256:ab', base_url: 'http://127.0.0.1:9/v1/a@b', other: 'ip 10.0.0.1:80', v6: 'http://[::1]:80/x@y' }],
];

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

  for (const [configured, shown = configured] of SHOWN) {
    it(`shows ${JSON.stringify(shown)}, and takes it back`, () => {
      assert.deepEqual(withoutSecrets(configured), shown);
      assert.deepEqual(withSecretsOf(shown, configured), configured);
      if (shown === configured) assert.equal(withoutSecrets(configured), configured, 'nothing to copy');
      else assert.throws(() => withSecretsOf(shown, undefined), { code: 'SecretMissing' });
    });
  }

  it('come back where the stars are, also in another order', () => {
    const shown = withoutSecrets(CURRENT);
    assert.deepEqual(withSecretsOf(shown, CURRENT), CURRENT);
    assert.deepEqual(withSecretsOf({ ...shown, list: shown.list.toReversed() }, CURRENT).list, CURRENT.list.toReversed());
    const one = { list: [shown.list[1]] };
    assert.deepEqual(withSecretsOf(one, CURRENT), { list: [CURRENT.list[1]] });
  });

  it('come back in a list without names while it is clear which is meant', () => {
    const stored = { args: ['a', '--key=one', 'b'], keys: { api_keys: ['one', 'two'] } };
    assert.deepEqual(withSecretsOf({ args: ['new', '--key=***'] }, stored), { args: ['new', '--key=one'] });
    assert.throws(() => withSecretsOf({ keys: { api_keys: ['***'] } }, stored), { code: 'SecretMissing' });
  });

  it('looks up 2,000 of them and no more', () => {
    const list = (count: number, text: string): object => ({ headers: Array.from({ length: count }, () => text) });
    assert.deepEqual(withSecretsOf(list(2_000, '***'), list(2_000, 'a secret')), list(2_000, 'a secret'));
    assert.throws(() => withSecretsOf(list(2_001, '***'), list(2_001, 'a secret')), { code: 'TooManyMasks', message: /2000/ });
    assert.deepEqual(withSecretsOf(list(5_000, 'another'), list(5_000, 'a secret')), list(5_000, 'another'));
  });

  it('are replaced by what is given', () => {
    const given = { api_key: 'new', base_url: 'https://other/v1', name: '***', password: 'a***b' };
    assert.deepEqual(withSecretsOf(given, CURRENT), given);
  });

  it('cannot come back where there were none', () => {
    const refused = (error: unknown): boolean => error instanceof Failure && error.kind === 'invalid' && /api_key/.test(error.message);
    assert.throws(() => withSecretsOf({ api_key: '***' }, undefined), refused);
    assert.throws(() => withSecretsOf({ base_url: 'https://***@other/v1' }, CURRENT), /base_url/);
    assert.throws(() => withSecretsOf({ list: [{ name: 'c', config: { api_key: '***' } }] }, CURRENT), refused);
    assert.throws(() => withSecretsOf({ any: 'see https://***@h and https://u:p@h' }, {}), /any/);
  });

  it('do not follow an address to another host', () => {
    const stored = { api_key: 's', base_url: 'https://h/v1', headers: { a: 's' }, name: 'm' };
    const shown = withoutSecrets(stored);
    const kept = withSecretsOf({ ...shown, base_url: 'https://h/v2' }, stored);
    assert.deepEqual(kept, { ...stored, base_url: 'https://h/v2' });
    for (const base_url of ['https://other/v1', 'http://h/v1', 'https://h:8443/v1', undefined]) {
      assert.throws(() => withSecretsOf({ ...shown, base_url }, stored), /another host/, String(base_url));
      const { api_key: _key, ...rest } = shown;
      assert.throws(() => withSecretsOf({ ...rest, base_url }, stored), /headers.a: .*another host/);
    }
    const given = { ...stored, base_url: 'https://other/v1', api_key: 'new', headers: { a: 'new' } };
    assert.deepEqual(withSecretsOf(given, stored), given);
  });

  it('are found in the time that reading takes', () => {
    const text = 'a.b-c+d:'.repeat(100_000);
    const many = Array.from({ length: 100_000 }, (_, at) => ({ name: `n${at}`, api_key: at < 2_000 ? '***' : 'new' }));
    const readMs = processorMs(() =>
      withoutSecrets({ a: text, args: [text, `--key ${text}`], host: text, u: `x://${text}`, q: `x://h?${'a=b&'.repeat(100_000)}` }),
    );
    const keptMs = processorMs(() =>
      assert.throws(
        () =>
          withSecretsOf(
            many,
            many.toReversed().map((one) => ({ ...one, name: `${one.name}x` })),
          ),
        /SecretMissing|none is/,
      ),
    );
    assert.ok(readMs + keptMs < 2000, `${readMs} and ${keptMs} ms`);
  });
});

/** Every secret of the schemas and the plug-ins. Who adds one adds it here and to the project of the canary test. */
const SECRET_PLACES = [
  'runtime.models.[].api_key',
  'mcp.servers.[].env.any_name',
  'mcp.servers.[].headers.any_name',
  'UniversalEmbedder.api_key',
  'HuggingFaceEmbedder.api_key',
  'SentenceTransformerEmbedder.api_key',
  'OpenAIEmbedder.api_key',
  'ElasticRetriever.api_key',
  'ElasticRetriever.password',
];

describe('secrets of the schemas and the plug-ins', () => {
  it('are those that are meant, and no other setting is masked', () => assert.deepEqual(secretPlaces(), SECRET_PLACES));
});
