import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dispatch } from '../../../../gateway/http/dispatch.js';
import { documentationEndpoints } from '../../../../gateway/web.js';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { type Endpoint, endpoint } from '../../../../schemas/endpoint.js';
import { Failure } from '../../../../schemas/errors.js';
import { RecordedExchange } from '../../../support/exchange.js';
import { scenarios, send } from '../../../support/scenario.js';

setLogLevel('error');
process.stderr.write = (
  (write) => (text: string) =>
    text.includes('canary') ? true : write.call(process.stderr, text)
)(process.stderr.write);

interface Context {
  calls: number;
}

const common = { summary: 'Something', tag: 'things' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const list: Endpoint<Context>[] = [
  endpoint({ ...common, access: 'users', method: 'GET', path: '/', id: 'root', handler: () => ({ json: { root: true } }) }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/health/liveness',
    id: 'live',
    handler: () => ({ json: { status: 'ok' } }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/v1/things',
    id: 'things',
    query: 'common#Usage',
    handler: (_, { query }) => ({ json: query }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/v1/things/{name}',
    id: 'thing',
    handler: (_, { params }) => ({ json: params }),
  }),
  endpoint({ ...common, access: 'users', method: 'GET', path: '/v1/things/special', id: 'special', handler: () => ({ json: 'special' }) }),
  endpoint({ ...common, access: 'users', method: 'DELETE', path: '/v1/things/{name}', id: 'gone', status: 204, handler: () => ({}) }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/v1/models/{id+}',
    id: 'model',
    handler: (_, { params }) => ({ json: params }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'POST',
    path: '/v1/things',
    id: 'make',
    body: 'common#Usage',
    bodyLimitBytes: 200,
    status: 201,
    handler: async (context, { body, header }) => {
      context.calls += 1;
      return { json: body, headers: { 'X-Session-ID': `${header('x-session-id')}\r\nX-Evil: 1` } };
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/fail/{kind}',
    id: 'fail',
    handler: (_, { params }) => {
      if (params.kind === 'disk') throw new Error('outer', { cause: Object.assign(new Error('write'), { code: 'ENOSPC' }) });
      if (params.kind === 'unknown') throw new Error('canary-secret');
      throw new Failure(params.kind as 'busy', `It is ${params.kind}.`, { retryAfterS: 1.2, cause: new Error('canary-cause') });
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'POST',
    path: '/chat/{shape}',
    id: 'chat',
    errorShape: 'openai',
    body: 'common#Message',
    handler: () => {
      throw new Failure('bad_request', 'Too long.', { code: 'context_length_exceeded', fields: { context_usage: { total_context: 8 } } });
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/universal',
    id: 'universal',
    errorShape: 'universal',
    handler: () => {
      throw new Failure('bad_request', 'Too long.', { code: 'context_length_exceeded', fields: { context_usage: { total_context: 8 } } });
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/stream/{end}',
    id: 'stream',
    streams: true,
    errorShape: 'openai',
    handler: (_, { params }) => ({
      headers: { 'X-Session-ID': 's1' },
      events: (async function* () {
        if (params.end === 'early') throw new Failure('model_failed', 'No first token.');
        yield 'data: {"n":1}\n\n';
        yield 'data: {"n":2}\n\n';
        if (params.end === 'late') throw new Failure('model_failed', 'Broke off.');
        yield 'data: [DONE]\n\n';
      })(),
    }),
  }),
];
const stage = { endpoints: [...list, ...documentationEndpoints({ title: 'Test API', version: '1' }, list)], context: () => ({ calls: 0 }) };
const foreign = { origin: 'https://evil.example' };

scenarios('dispatch', stage, [
  { name: 'serves the root', path: '/', contains: ['"root":true'], answerHeaders: { 'x-request-id': /^req_/ } },
  { name: 'serves with a trailing slash', path: '/v1/things/a/', contains: ['{"name":"a"}'] },
  { name: 'prefers fixed path elements', path: '/v1/things/special', contains: ['special'] },
  { name: 'decodes a parameter once', path: '/v1/things/a%2520b', contains: ['a%20b'] },
  { name: 'takes slashes in a tail', path: '/v1/models/org/repo:Q4', contains: ['"org/repo:Q4"'] },
  ...['..', '%2e%2e', '%2E.', 'a%2Fb', 'a%00', 'a%5Cb', '%zz', '%ff', '.'].map((name) => ({
    name: `refuses the parameter ${name}`,
    path: `/v1/things/${name}`,
    status: 404,
    contains: ['"detail":"Not Found"'],
  })),
  ...['..', 'a/../b', 'a/%2e%2e/b', 'a//b', 'a%5c..'].map((name) => ({
    name: `refuses the tail ${name}`,
    path: `/v1/models/${name}`,
    status: 404,
  })),
  {
    name: 'says 404',
    path: '/nowhere',
    status: 404,
    contains: ['"detail":"Not Found"', '"error":"not_found"', '"message":"Nothing answers at GET /nowhere; /docs', '"request_id"'],
  },
  {
    name: 'says 405',
    method: 'PUT',
    path: '/v1/things',
    status: 405,
    contains: ['"detail":"Method Not Allowed"', '"message":"/v1/things takes GET, POST, HEAD, OPTIONS, not PUT."'],
    answerHeaders: { allow: 'GET, POST, HEAD, OPTIONS' },
  },
  { name: 'answers HEAD', method: 'HEAD', path: '/v1/things/a', json: (_, answer) => assert.equal(answer.text, '') },
  { name: 'gives an empty answer its status', method: 'DELETE', path: '/v1/things/a', status: 204 },
  {
    name: 'converts query values',
    path: '/v1/things?prompt_tokens=1&completion_tokens=2&total_tokens=3',
    json: (body) => assert.deepEqual(body, usage),
  },
  { name: 'checks query values', path: '/v1/things?prompt_tokens=x', status: 422, contains: ['"query","prompt_tokens"', '"int_type"'] },
  { name: 'takes a body', method: 'POST', path: '/v1/things', body: usage, status: 201, json: (body) => assert.deepEqual(body, usage) },
  {
    name: 'keeps header values on their line',
    method: 'POST',
    path: '/v1/things',
    headers: { 'x-session-id': 's' },
    body: usage,
    status: 201,
    answerHeaders: { 'x-session-id': 's??X-Evil: 1' },
  },
  {
    name: 'lists what a body lacks',
    method: 'POST',
    path: '/v1/things',
    body: {},
    status: 422,
    contains: ['"missing"', '["body","prompt_tokens"]', 'is required'],
  },
  { name: 'wants a body', method: 'POST', path: '/v1/things', status: 422, contains: ['"loc":["body"]', 'missing'] },
  {
    name: 'refuses a large body',
    method: 'POST',
    path: '/v1/things',
    body: { ...usage, x: 'x'.repeat(200) },
    status: 413,
    contains: ['200 bytes'],
  },
  {
    name: 'refuses a plain text body',
    method: 'POST',
    path: '/v1/things',
    body: '{}',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    contains: ['Content-Type: application/json'],
  },
  {
    name: 'refuses a packed body',
    method: 'POST',
    path: '/v1/things',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: '{}',
    status: 415,
    contains: ['Content-Encoding \\"gzip\\"', 'send it as it is'],
  },
  { name: 'refuses an untyped body', method: 'POST', path: '/v1/things', body: '{}', status: 415 },
  {
    name: 'points at a syntax error',
    method: 'POST',
    path: '/v1/things',
    body: '{"a": 1,\n "b": nul}',
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    status: 422,
    contains: ['position 15', 'line 2, column 7', 'json_invalid'],
  },
  { name: 'echoes a sane request id', path: '/', headers: { 'x-request-id': 'abc-1' }, answerHeaders: { 'x-request-id': 'abc-1' } },
  {
    name: 'replaces a long request id',
    path: '/',
    headers: { 'x-request-id': 'a'.repeat(129) },
    answerHeaders: { 'x-request-id': /^req_/ },
  },
  { name: 'replaces a request id with markup', path: '/', headers: { 'x-request-id': '<b>' }, lacks: ['<b>'] },
  {
    name: 'refuses a foreign host',
    path: '/',
    headers: { host: 'evil.example' },
    status: 403,
    contains: ['HostNotAllowed', 'evil.example'],
  },
  { name: 'refuses a host with user part', path: '/', headers: { host: 'localhost@evil.example' }, status: 403 },
  { name: 'wants a host', path: '/', headers: { host: '' }, status: 400 },
  ...['localhost:14345', '127.0.0.1', '127.1.2.3:80', '[::1]:14345', 'LOCALHOST', 'localhost.'].map((host) => ({
    name: `serves as ${host}`,
    path: '/',
    headers: { host },
  })),
  {
    name: 'refuses changes by a foreign page',
    method: 'DELETE',
    path: '/v1/things/a',
    headers: foreign,
    status: 403,
    contains: ['OriginNotAllowed'],
  },
  { name: 'refuses changes by a page without origin', method: 'DELETE', path: '/v1/things/a', headers: { origin: 'null' }, status: 403 },
  { name: 'lets no foreign page read', path: '/', headers: foreign, lacks: ['access-control-allow-origin'] },
  { name: 'refuses the preflight of a foreign page', method: 'OPTIONS', path: '/v1/things', headers: foreign, status: 403 },
  {
    name: 'lets a local page read, headers included',
    path: '/',
    headers: { origin: 'http://localhost:5173' },
    answerHeaders: {
      'access-control-allow-origin': 'http://localhost:5173',
      'access-control-expose-headers': /X-Session-ID/,
      vary: 'Origin',
    },
    lacks: ['credentials'],
  },
  {
    name: 'answers the preflight of a local page',
    method: 'OPTIONS',
    path: '/v1/things',
    headers: { origin: 'http://127.0.0.1:3000', 'access-control-request-headers': 'content-type, x-session-id' },
    status: 204,
    answerHeaders: { 'access-control-allow-methods': /POST/, 'access-control-allow-headers': 'content-type, x-session-id' },
  },
  { name: 'hides unknown errors', path: '/fail/unknown', status: 500, contains: ['InternalServerError'], lacks: ['canary'] },
  { name: 'names a full disk', path: '/fail/disk', status: 507, contains: ['disk_full'] },
  { name: 'says when to retry', path: '/fail/busy', status: 503, answerHeaders: { 'retry-after': '2' }, lacks: ['canary'] },
  {
    name: 'shapes chat errors for official clients',
    method: 'POST',
    path: '/chat/x',
    body: { role: 'user' },
    status: 400,
    json: (body) => {
      assert.equal(body.detail, 'Too long.');
      assert.deepEqual(body.error, { message: 'Too long.', type: 'invalid_request_error', param: null, code: 'context_length_exceeded' });
      assert.deepEqual(body.context_usage, { total_context: 8 });
    },
  },
  {
    name: 'names the parameter at fault to official clients',
    method: 'POST',
    path: '/chat/x',
    body: { role: 'nobody' },
    status: 422,
    json: (body) => assert.equal(body.error.param, 'role'),
  },
  {
    name: 'names no parameter to official clients where the body is not JSON',
    method: 'POST',
    path: '/chat/x',
    headers: { 'content-type': 'application/json' },
    body: '{"role":',
    status: 422,
    json: (body) => assert.equal(body.error.param, null),
  },
  {
    name: 'shapes context errors of the universal runtime',
    path: '/universal',
    status: 400,
    json: (body) =>
      assert.deepEqual(body.detail, { error: 'context_length_exceeded', message: 'Too long.', context_usage: { total_context: 8 } }),
  },
  {
    name: 'streams',
    path: '/stream/well',
    events: [{ n: 1 }, { n: 2 }, '[DONE]'],
    answerHeaders: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-session-id': 's1',
    },
  },
  { name: 'gives a stream that fails at once its status', path: '/stream/early', status: 500, contains: ['No first token.'] },
  {
    name: 'ends a stream that fails later with the error and [DONE]',
    path: '/stream/late',
    events: [{ n: 1 }, { n: 2 }, { error: { message: 'Broke off.' } }, '[DONE]'],
  },
  {
    name: 'serves its description',
    path: '/openapi.json',
    contains: ['"openapi":"3.1.0"', '/v1/models/{id}'],
    lacks: ['{id+}', '"/docs"'],
  },
  {
    name: 'serves its page without foreign sources',
    path: '/docs',
    contains: ['<title>Quern</title>'],
    lacks: ['http://', 'https://', '{{'],
    answerHeaders: { 'content-security-policy': /default-src 'none'/ },
  },
]);

const key = 'canary-key-1';
scenarios('dispatch with a key', { ...stage, access: { apiKey: key } }, [
  { name: 'refuses without', path: '/', status: 401, lacks: ['canary'], answerHeaders: { 'www-authenticate': 'Bearer' } },
  { name: 'refuses unknown paths alike', path: '/nowhere', status: 401 },
  { name: 'refuses a wrong key', path: '/', headers: { authorization: 'Bearer canary-key-2' }, status: 401 },
  { name: 'takes a bearer key', path: '/', headers: { authorization: `bearer ${key}` } },
  { name: 'takes X-API-Key', path: '/', headers: { 'x-api-key': key } },
  { name: 'leaves liveness open', path: '/health/liveness' },
]);

scenarios(
  'dispatch on all addresses',
  { ...stage, access: { bindHost: '0.0.0.0', hosts: ['box.lan'], origins: ['https://app.example'] } },
  [
    { name: 'serves any literal address', path: '/', headers: { host: '192.168.1.5:14345' } },
    { name: 'serves a configured name', path: '/', headers: { host: 'BOX.lan:14345' } },
    { name: 'refuses other names', path: '/', headers: { host: 'evil.example' }, status: 403 },
    {
      name: 'lets its own pages change things',
      method: 'DELETE',
      path: '/v1/things/a',
      headers: { host: 'box.lan:1', origin: 'http://box.lan:1' },
      status: 204,
    },
    {
      name: 'lets configured pages change things',
      method: 'DELETE',
      path: '/v1/things/a',
      headers: { origin: 'https://app.example' },
      status: 204,
    },
    {
      name: 'refuses a similar origin',
      method: 'DELETE',
      path: '/v1/things/a',
      headers: { origin: 'https://app.example.evil' },
      status: 403,
    },
  ],
);

describe('dispatch, sockets', () => {
  it('asks for the key before a socket is opened', () => {
    const listener = { open: () => {}, message: () => {}, closed: () => {} };
    const application = dispatch({
      endpoints: [],
      context: { calls: 0 },
      access: { bindHost: '127.0.0.1', apiKey: 'k' },
      sockets: [{ access: 'users', path: '/socket', open: () => listener }],
    });
    const ask = (headers: Record<string, string>) =>
      application.upgrade({
        path: '/socket',
        query: '',
        remoteAddress: '127.0.0.1',
        header: (name) => ({ host: 'localhost', ...headers })[name] ?? '',
      });
    assert.equal((ask({}) as { status?: number }).status, 401);
    assert.equal((ask({ 'x-api-key': 'other' }) as { status?: number }).status, 401);
    assert.equal(ask({ authorization: 'Bearer k' }), listener);
  });
});

describe('dispatch, timing', () => {
  const slow = (handler: Endpoint<Context>['handler'], timeLimitMs?: number) =>
    dispatch({
      endpoints: [endpoint({ ...common, access: 'users', method: 'GET', path: '/slow', id: 'slow', handler })],
      context: { calls: 0 },
      access: { bindHost: '127.0.0.1' },
      ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
    });

  it('answers 504 and aborts the signal when a request takes too long', async () => {
    let aborted!: () => void;
    const ended = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    const application = slow((_, { signal }) => {
      signal.addEventListener('abort', aborted);
      return new Promise(() => {});
    }, 20);
    assert.equal((await send(application, { path: '/slow' })).status, 504);
    await ended;
  });

  it('has room for so many large bodies at a time', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const application = dispatch({
      endpoints: [
        endpoint({
          ...common,
          access: 'users',
          method: 'POST',
          path: '/v1/large',
          id: 'large',
          body: 'common#Usage',
          bodyLimitBytes: 100 * 2 ** 20,
          handler: async () => {
            await gate;
            return { json: {} };
          },
        }),
      ],
      context: undefined,
      access: { bindHost: '127.0.0.1' },
    });
    const ask = (length: number | ''): RecordedExchange => {
      const headers = { 'content-length': String(length) };
      const exchange = new RecordedExchange({ method: 'POST', path: '/v1/large', body: usage, headers });
      application.request(exchange);
      return exchange;
    };
    const running = [ask(100 * 2 ** 20), ask(100 * 2 ** 20)];
    const refused = await ask(57 * 2 ** 20).done;
    assert.deepEqual(
      [refused.status, refused.headers['retry-after'], JSON.parse(refused.text).detail],
      [503, '1', 'The bodies of other requests take 200 MiB already. Try again later.'],
    );
    running.push(ask(1000), ask(''), ask(16 * 2 ** 20), ask(16 * 2 ** 20), ask(16 * 2 ** 20), ask(16 * 2 ** 20), ask(56 * 2 ** 20));
    open();
    for (const one of running) assert.equal((await one.done).status, 200);
    assert.equal((await ask(57 * 2 ** 20).done).status, 200);
  });

  it('returns the iterator of a stream whose client left while it waits', async () => {
    let free!: () => void;
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const application = slow((_, { signal }) => ({
      events: (async function* () {
        try {
          yield 'data: 1\n\n';
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          yield 'data: 2\n\n';
        } finally {
          free();
        }
      })(),
    }));
    const exchange = new RecordedExchange({ path: '/slow' });
    application.request(exchange);
    while (exchange.written === '') await nextTurn();
    exchange.leave();
    assert.deepEqual((await exchange.done).events, ['1']);
    await freed;
  });

  it('writes events of one turn together', async () => {
    const application = slow(() => ({
      events: (async function* () {
        yield 'data: 1\n\n';
        yield 'data: 2\n\n';
        yield 'data: 3\n\n';
      })(),
    }));
    const exchange = new RecordedExchange({ path: '/slow' });
    const writes: string[] = [];
    const stream = exchange.stream.bind(exchange);
    exchange.stream = (status, headers) => {
      const inner = stream(status, headers);
      return {
        ...inner,
        write: (text) => {
          writes.push(text);
          return inner.write(text);
        },
      };
    };
    application.request(exchange);
    await exchange.done;
    assert.deepEqual(writes, ['data: 1\n\ndata: 2\n\ndata: 3\n\n']);
  });
});
