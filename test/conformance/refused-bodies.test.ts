import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { REFUSED_BODY_BYTES } from '../../gateway/http/incoming-body.js';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import type { Application } from '../../gateway/http/transport.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { endpoint } from '../../schemas/endpoint.js';

const MIB = 2 ** 20;
const PATIENCE_MS = 30_000;
const common = { method: 'POST', summary: '', tag: 'test' } as const;
const PIECE = Buffer.alloc(64 * 1024, 'a');
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]);
const END = '0\r\n\r\n';
const BOUNDARY = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
const ONE_BYTE = '1\r\na\r\n';
const SIDE = 'GET /side HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Longer than a refused body of a silent client holds its connection. */
const FORGOTTEN_MS = 2_500;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data; boundary=b';

let served = 0;
const endpoints = [
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/side',
    id: 'side',
    handler: () => {
      served += 1;
      return { json: {} };
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    path: '/large',
    id: 'large',
    body: 'common#Usage',
    bodyLimitBytes: 256 * MIB,
    handler: () => ({ json: {} }),
  }),
  endpoint({ ...common, access: 'users', path: '/json', id: 'json', body: 'common#Usage', handler: () => ({ json: {} }) }),
  endpoint({
    ...common,
    access: 'users',
    path: '/form',
    id: 'form',
    multipart: { form: 'core/datasets#UploadForm', maxFiles: 1, fileLimitBytes: MIB },
    handler: () => ({ json: {} }),
  }),
];

/** The status, and the body where all of it came. */
function read(text: string): { status: number; whole: boolean } {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]),
    whole: body.length === Number(/content-length: (\d+)/i.exec(head)?.[1]) && body.includes('"detail"'),
  };
}

for (const name of ['uws', 'node'] as const) {
  describe(`bodies that ${name} refuses`, () => {
    let listener: Listener;
    const listen = (application: Application): Promise<Listener> =>
      createTransport(name).listen({ host: '127.0.0.1', port: 0, application, limits: { stallTimeoutMs: 1_000 } });
    const listenAgain = (): Promise<Listener> => listen(dispatch({ endpoints, context: undefined, access: { bindHost: '127.0.0.1' } }));
    before(async () => {
      setLogLevel('error');
      listener = await listenAgain();
    });
    after(() => listener.drain(100));

    const opened = async (path: string, length: string, { port } = listener): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const type = path === '/form' ? FORM_TYPE : JSON_TYPE;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`);
      return socket;
    };
    const send = async (socket: Socket, what: Buffer | string): Promise<void> => {
      if (!socket.write(what) && !socket.destroyed)
        await new Promise((resolve) => {
          for (const event of ['drain', 'close']) socket.once(event, resolve);
        });
    };
    /** Reads from now on, until the answer is there or the connection ends. */
    const answer = async (socket: Socket): Promise<ReturnType<typeof read>> => {
      let text = '';
      const signal = AbortSignal.timeout(PATIENCE_MS);
      socket.on('data', (piece: Buffer) => {
        text += piece.toString('latin1');
        if (read(text).whole) socket.destroy();
      });
      // A reset after the answer is no failure.
      while (!socket.closed) await once(socket, 'close', { signal }).catch(() => signal.throwIfAborted());
      return read(text);
    };

    /** A client whose body of unknown length was refused: its answer has begun. */
    const refused = async (where = listener): Promise<Socket> => {
      const socket = await opened('/json', 'Transfer-Encoding: chunked', where);
      const begun = once(socket, 'readable', { signal: AbortSignal.timeout(PATIENCE_MS) });
      for (let sent = 0; sent <= 2 * MIB; sent += PIECE.length) await send(socket, CHUNK);
      await begun;
      return socket;
    };

    for (const path of ['/json', '/form'])
      it(`${path}: one that sends all of a body of unknown length before it reads sees the answer`, async () => {
        const socket = await opened(path, 'Transfer-Encoding: chunked');
        if (path === '/form') await send(socket, `${BOUNDARY.length.toString(16)}\r\n${BOUNDARY}\r\n`);
        for (let sent = 0; sent < 8 * MIB; sent += PIECE.length) await send(socket, CHUNK);
        await send(socket, END);
        assert.deepEqual(await answer(socket), { status: 413, whole: true });
      });

    it('one that announces too much and sends half before it reads sees the answer', async () => {
      const socket = await opened('/json', `Content-Length: ${2 * REFUSED_BODY_BYTES}`);
      for (let sent = 0; sent < REFUSED_BODY_BYTES / 2; sent += PIECE.length) await send(socket, PIECE);
      assert.deepEqual(await answer(socket), { status: 413, whole: true });
    });

    it('fetch with a stream as its body sees the answer', async () => {
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += PIECE.length;
          if (sent > 12 * MIB) controller.close();
          else controller.enqueue(PIECE);
        },
      });
      const reply = await fetch(`http://127.0.0.1:${listener.port}/json`, {
        method: 'POST',
        body,
        headers: { 'content-type': JSON_TYPE },
        duplex: 'half',
      } as RequestInit);
      assert.equal(reply.status, 413);
      assert.match(await reply.text(), /2097152 bytes/);
    });

    it('one that never ends is not read for ever, and sees the answer', async () => {
      const socket = await opened('/json', 'Transfer-Encoding: chunked');
      const answered = answer(socket);
      while (socket.writable && socket.bytesWritten < 10 * REFUSED_BODY_BYTES) await send(socket, CHUNK);
      assert.deepEqual(await answered, { status: 413, whole: true });
      assert.ok(socket.bytesWritten < 5 * REFUSED_BODY_BYTES, `${socket.bytesWritten} bytes were taken`);
    });

    it('one of unknown length is refused once there is no room for it, and finds room later', async () => {
      const other = await opened('/large', `Content-Length: ${250 * MIB}`);
      const late = await opened('/large', 'Transfer-Encoding: chunked');
      const answered = answer(late);
      while (late.writable && late.bytesWritten < 64 * MIB) await send(late, CHUNK);
      assert.deepEqual(await answered, { status: 503, whole: true });
      other.destroy();
      await once(other, 'close');
      const again = await opened('/large', 'Transfer-Encoding: chunked');
      for (let sent = 0; sent < 20 * MIB; sent += PIECE.length) await send(again, CHUNK);
      await send(again, END);
      assert.equal((await answer(again)).status, 422);
    });

    it('nothing that follows the last answer of a connection is served', async () => {
      served = 0;
      const socket = await refused();
      const answered = answer(socket);
      socket.write(END + SIDE);
      assert.deepEqual(await answered, { status: 413, whole: true });
      const blind = await opened('/json', 'Transfer-Encoding: chunked');
      for (let sent = 0; sent <= 2 * MIB; sent += PIECE.length) await send(blind, CHUNK);
      blind.write(END + SIDE);
      while (!blind.closed) {
        blind.resume().write(SIDE);
        await Promise.race([once(blind, 'close').catch(() => undefined), sleep(50)]);
      }
      assert.equal(served, 0);
    });

    it('one that goes on byte by byte sees the answer', async () => {
      const socket = await refused();
      for (let sent = 0; sent < 28; sent += 1) {
        await sleep(100);
        socket.write(ONE_BYTE);
      }
      assert.deepEqual(await answer(socket), { status: 413, whole: true });
    });

    it('a listener that drains ends the answers that wait', async () => {
      const draining = await listenAgain();
      const socket = await refused(draining);
      const answered = answer(socket);
      const dribble = setInterval(() => socket.writable && socket.write(ONE_BYTE), 200);
      await draining.drain(3_000);
      clearInterval(dribble);
      assert.deepEqual(await answered, { status: 413, whole: true });
    });

    it('a client that vanishes after the refusal leaves nothing', async () => {
      const own = await listenAgain();
      const socket = await refused(own);
      let failure: unknown;
      const failed = (error: unknown): void => {
        failure = error;
      };
      process.on('uncaughtException', failed);
      socket.resetAndDestroy();
      await sleep(FORGOTTEN_MS);
      process.off('uncaughtException', failed);
      assert.equal(failure, undefined);
      assert.equal((await fetch(`http://127.0.0.1:${own.port}/side`)).status, 200);
      const late = new AbortController();
      const drained = own.drain(2 * PATIENCE_MS).then(() => true);
      assert.ok(await Promise.race([drained, sleep(PATIENCE_MS, false, late)]), 'a request still counts as running');
      late.abort();
    });

    for (const [method, status] of [
      ['POST', 204],
      ['HEAD', 413],
    ] as const)
      it(`an answer without a body (${method}, ${status}) ends its connection`, async () => {
        const own = await listen({
          request: (exchange) => void exchange.bodyStream(1).on('error', () => exchange.reply(status, [], status === 204 ? '' : 'long')),
          upgrade: () => ({ status: 404, headers: [], body: '' }),
        });
        const socket = connect(own.port, '127.0.0.1');
        let text = '';
        socket
          .on('error', () => undefined)
          .on('data', (piece) => {
            text += piece.toString('latin1');
          });
        socket.write(`${method} / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${ONE_BYTE}${ONE_BYTE}`);
        // After a HEAD uWebSockets.js takes some 10 s for it.
        const ended = once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
        await (method === 'HEAD' ? Promise.race([ended, sleep(FORGOTTEN_MS)]) : ended);
        assert.match(text, new RegExp(`^HTTP/1.1 ${status} [^]*connection: close[^]*\r\n\r\n$`, 'i'));
        socket.destroy();
        await own.drain(100);
      });

    it('a connection whose refused body came whole serves the next request', async () => {
      const socket = await opened('/json', `Content-Length: ${3 * MIB}`);
      for (let sent = 0; sent < 3 * MIB; sent += PIECE.length) await send(socket, PIECE);
      let text = '';
      socket.on('data', (piece: Buffer) => {
        text += piece.toString('latin1');
      });
      socket.write('POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}');
      while (!text.includes('HTTP/1.1 415')) await once(socket, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) });
      assert.match(text, /^HTTP\/1.1 413 /);
      socket.destroy();
    });
  });
}
