import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { createTransport, type Listener } from '../../gateway/http/index.js';
import type { Exchange } from '../../gateway/http/transport.js';
import { selfSigned } from '../support/certificate.js';

const SHORT = { headerTimeoutMs: 500, bodyTimeoutMs: 1_000, idleTimeoutMs: 500, stallTimeoutMs: 1_000 };
const SLOW_MS = 1_200;
/** The limits of a daemon are longer. */
const USUAL_MS = 9_000;

describe('connections with TLS', () => {
  const identity = selfSigned();
  let listener: Listener;
  const open = async (): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port: listener.port, servername: 'localhost', ca: identity.cert });
    await once(socket, 'secureConnect');
    return socket.on('error', () => undefined);
  };
  const endOf = async (socket: NodeJS.EventEmitter): Promise<number> => {
    const started = performance.now();
    await once(socket, 'close');
    return performance.now() - started;
  };

  before(async () => {
    const application = {
      request: (exchange: Exchange) =>
        void sleep(exchange.path === '/slow' ? SLOW_MS : 0).then(() => exchange.reply(200, [], exchange.path)),
      upgrade: () => ({ status: 404, headers: [], body: '' }),
    };
    listener = await createTransport().listen({ host: '127.0.0.1', port: 0, application, limits: SHORT, tls: identity });
  });
  after(() => listener.drain(0));

  it('end where nothing is asked', async () => {
    const socket = await open();
    socket.resume();
    assert.ok((await endOf(socket)) < USUAL_MS);
  });

  it('end where no handshake comes', async () => {
    const socket = connectPlain(listener.port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    assert.ok((await endOf(socket)) < USUAL_MS);
  });

  it('stay while an answer is made that takes longer', async () => {
    const socket = await open();
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    assert.match(text, /^HTTP\/1\.1 200 OK.*\/slow$/s);
  });

  it('are told no plain http', async () => {
    const socket = connectPlain(listener.port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    await once(socket, 'close');
    assert.doesNotMatch(text, /200 OK/);
  });
});
