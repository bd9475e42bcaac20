import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { proxiesOf } from '../../../../runtime/net/proxies.js';
import { selfSigned } from '../../../support/certificate.js';

describe('the proxy of an address', () => {
  const cases: [what: string, env: Record<string, string>, url: string, expected: string | null][] = [
    ['none without variables', {}, 'https://hub.test/x', null],
    ['by the scheme', { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' }, 'http://hub.test/', 'http://q:2/'],
    ['that for https', { HTTPS_PROXY: 'https://p:1', HTTP_PROXY: 'http://q:2' }, 'https://hub.test/', 'https://p:1/'],
    ['small letters first', { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' }, 'https://hub.test/', 'http://q:2/'],
    ['that for all', { ALL_PROXY: 'http://p:1' }, 'https://hub.test/', 'http://p:1/'],
    ['one without a scheme', { HTTPS_PROXY: 'p.test:3128' }, 'https://hub.test/', 'http://p.test:3128/'],
    ['an empty variable is none', { HTTPS_PROXY: ' ' }, 'https://hub.test/', null],
    ['none to this machine', { HTTP_PROXY: 'http://p:1' }, 'http://127.0.0.1:8080/', null],
    ['none to localhost', { HTTP_PROXY: 'http://p:1' }, 'http://localhost:8080/', null],
    ['none to all', { HTTP_PROXY: 'http://p:1', NO_PROXY: '*' }, 'http://hub.test/', null],
    ['none to a listed name', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.test, hub.test' }, 'http://hub.test/', null],
    ['none below a listed name', { HTTP_PROXY: 'http://p:1', no_proxy: '.test' }, 'http://hub.test/', null],
    ['none below a name with a star', { HTTP_PROXY: 'http://p:1', no_proxy: '*.TEST' }, 'http://Hub.test/', null],
    ['one to a name that only ends alike', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'b.test' }, 'http://hub.test/', 'http://p:1/'],
    ['none to a listed address', { HTTP_PROXY: 'http://p:1', NO_PROXY: '10.0.0.1' }, 'http://10.0.0.1/', null],
    ['none to a listed address of IPv6', { HTTP_PROXY: 'http://p:1', NO_PROXY: '[fd00::1]' }, 'http://[fd00::1]/', null],
    ['none at a listed port', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'hub.test:8080' }, 'http://hub.test:8080/', null],
    ['one at another port', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'hub.test:8080' }, 'http://hub.test/', 'http://p:1/'],
  ];
  for (const [what, env, url, expected] of cases)
    it(`is ${what}`, () => assert.equal(proxiesOf(env)(new URL(url))?.href ?? null, expected));

  it('is refused where it cannot be used, without its password', () => {
    for (const value of ['socks5://ann:s3cret@p:1', 'http://ann:s3cret@p:none'])
      assert.throws(
        () => proxiesOf({ ALL_PROXY: value })(new URL('https://hub.test/')),
        ({ kind, message }) => kind === 'invalid' && /ALL_PROXY.*http:\/\/host:port/.test(message) && !message.includes('s3cret'),
      );
  });
});

describe('requests by a proxy', () => {
  const certificate = selfSigned(['hub.test']);
  /** What the proxy was asked: the first line of each request, and its credentials. */
  let asked: [line: string, credentials: string | undefined][] = [];
  let refusal = 0;
  const told = (incoming: IncomingMessage): void => {
    asked.push([`${incoming.method} ${incoming.url}`, incoming.headers['proxy-authorization']]);
  };
  const answer = (incoming: IncomingMessage): string => JSON.stringify([incoming.url, incoming.headers['proxy-authorization'] ?? null]);
  const plain = createServer((incoming, response) => response.end(answer(incoming)));
  const secure = createSecureServer(certificate, (incoming, response) => response.end(answer(incoming)));
  // Whatever name is asked for, it is on this machine.
  const proxy = createServer((incoming, response) => {
    told(incoming);
    if (refusal) return response.writeHead(refusal).end();
    const { port, pathname } = new URL(incoming.url!);
    const { 'proxy-authorization': _own, ...headers } = incoming.headers;
    return incoming.pipe(request({ port, path: pathname, headers }, (reply) => reply.pipe(response.writeHead(reply.statusCode!))));
  });
  proxy.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    told(incoming);
    if (refusal) return socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const onward = connect(Number(incoming.url!.split(':')[1]), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const one of [socket, onward]) one.on('error', () => undefined);
    return socket.pipe(onward).pipe(socket);
  });
  const servers: Server[] = [plain, secure as unknown as Server, proxy];
  // Another for each test, because tunnels are kept open.
  let outbound: Outbound;
  const portOf = (server: unknown): number => ((server as Server).address() as AddressInfo).port;
  const ask = async (url: string): Promise<unknown> => {
    const by = new URL(`http://ann:s3cret@127.0.0.1:${portOf(proxy)}`);
    return JSON.parse(await (await outbound.request({ url, policy: 'request', proxy: by })).text());
  };
  const CREDENTIALS = `Basic ${Buffer.from('ann:s3cret').toString('base64')}`;

  before(async () => {
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => {
    [asked, refusal] = [[], 0];
    outbound = new Outbound({ tls: { ca: certificate.cert } });
  });
  afterEach(() => outbound.close());
  after(() => {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
  });

  it('name the whole address to it where the host speaks http', async () => {
    const url = `http://hub.test:${portOf(plain)}/file`;
    assert.deepEqual(await ask(url), ['/file', null]);
    assert.deepEqual(asked, [[`GET ${url}`, CREDENTIALS]]);
  });

  it('go through its tunnel where the host speaks https, and the host gets nothing of its credentials', async () => {
    assert.deepEqual(await ask(`https://hub.test:${portOf(secure)}/file`), ['/file', null]);
    assert.deepEqual(asked, [[`CONNECT hub.test:${portOf(secure)}`, CREDENTIALS]]);
  });

  it('end with what it says', async () => {
    for (const [status, remedy] of [
      [407, /\(407\): give its user and password/],
      [403, /\(403\): ask those who run it/],
    ] as const) {
      refusal = status;
      await assert.rejects(ask(`https://hub.test:${portOf(secure)}/other-${status}`), { code: 'ProxyRefused', message: remedy });
    }
    refusal = 407;
    await assert.rejects(ask(`http://hub.test:${portOf(plain)}/file`), { code: 'ProxyRefused', message: /407/ });
  });

  it('are refused where the address itself is one that is not permitted', async () => {
    await assert.rejects(ask('http://169.254.169.254/latest'), { code: 'AddressRefused' });
    await assert.rejects(ask('http://10.0.0.1/'), { code: 'AddressRefused' });
    assert.deepEqual(asked, []);
  });
});
