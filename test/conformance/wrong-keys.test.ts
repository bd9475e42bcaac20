import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { MAX_WRONG_KEYS } from '../../gateway/http/access.js';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { endpoint } from '../../schemas/endpoint.js';

const KEY = 'the-right-key-of-this-daemon';
/** Few enough for a busy machine to make all of them within the minute for which keys are counted. */
const ATTEMPTS = 150;
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

for (const name of ['uws', 'node'] as const) {
  describe(`wrong API keys, transport ${name}`, () => {
    let listener: Listener;
    before(async () => {
      setLogLevel('error');
      const listening = { open: () => {}, message: () => {}, closed: () => {} };
      const application = dispatch({
        endpoints: [
          endpoint({ access: 'users', method: 'GET', path: '/x', id: 'x', summary: '', tag: 't', handler: () => ({ json: {} }) }),
        ],
        sockets: [{ access: 'users', path: '/socket', open: () => listening }],
        context: undefined,
        access: { bindHost: '127.0.0.1', apiKey: KEY },
      });
      listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application });
    });
    after(() => listener.drain(100));

    const ask = (headers: Record<string, string>, path = '/x'): Promise<Response> =>
      fetch(`http://127.0.0.1:${listener.port}${path}`, { headers });

    /** The head of the answer to an upgrade. */
    const upgrade = (key: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(listener.port, '127.0.0.1', () =>
          socket.write(`GET /socket HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${UPGRADE}\r\n\r\n`),
        );
        socket.once('data', (chunk: Buffer) => {
          resolve(chunk.toString().split('\r\n\r\n')[0]!);
          socket.destroy();
        });
        socket.once('error', reject);
      });

    it(`are answered ${MAX_WRONG_KEYS} times with 401, then with 429 and the time to wait`, async () => {
      const statuses: number[] = [];
      for (let at = 0; at < ATTEMPTS; at += 1) {
        const answer = await ask(
          at % 2 === 0 ? { authorization: `Bearer wrong-${at}` } : { 'x-api-key': KEY.slice(0, -1) },
          at % 3 === 0 ? '/nowhere' : '/x',
        );
        statuses.push(answer.status);
        if (answer.status === 429) {
          assert.match(answer.headers.get('retry-after')!, /^([1-9]|[1-5]\d|60)$/);
          assert.equal(((await answer.json()) as { error: string }).error, 'TooManyWrongKeys');
        }
      }
      const expected = [...Array<number>(MAX_WRONG_KEYS).fill(401), ...Array<number>(ATTEMPTS - MAX_WRONG_KEYS).fill(429)];
      assert.deepEqual(statuses, expected);
    });

    it('do not stand in the way of the right key, of no key, and of open paths', async () => {
      assert.equal((await ask({ authorization: `Bearer ${KEY}` })).status, 200);
      assert.equal((await ask({})).status, 401);
      assert.equal(
        (await ask({ 'x-api-key': 'wrong' }, '/health/liveness')).status,
        404,
        'nothing is served there, and nobody is asked for a key',
      );
    });

    it('are counted for sockets too', async () => {
      assert.match(await upgrade('wrong'), /^HTTP\/1.1 429 .*retry-after: \d+/is);
      assert.match(await upgrade(KEY), /^HTTP\/1.1 101 /);
    });
  });
}
