import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createTransport } from '../../gateway/http/index.js';
import type { Exchange } from '../../gateway/http/transport.js';
import { setLogLevel } from '../../runtime/base/log.js';

const MIB = 1024 * 1024;
const BODY_BYTES = 64 * MIB;
/** Node reads up to 32 times 64 KiB of a connection before others have their turn. */
const TURN_BYTES = 4 * MIB;

/** Sends a long body as fast as it is taken, from a thread of its own, as a program on the same machine does. */
const SENDER = `
import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';
const piece = Buffer.alloc(4 * ${MIB});
const socket = connect(workerData, '127.0.0.1');
socket.resume().on('error', () => {});
socket.write('POST /x HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: ${BODY_BYTES}\\r\\n\\r\\n');
for (let sent = 0; sent < ${BODY_BYTES}; sent += piece.length) socket.write(piece) || (await new Promise((resolve) => socket.once('drain', resolve)));
`;

for (const name of ['uws', 'node'] as const)
  describe(`a fast sender over ${name}`, () => {
    it('leaves others their turns, and stops when its body is not read', async () => {
      setLogLevel('error');
      let asked: (exchange: Exchange) => void = () => undefined;
      const application = { request: (exchange: Exchange) => asked(exchange), upgrade: () => ({ status: 404, headers: [], body: '' }) };
      const listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application });
      let [received, ofTurn, most] = [0, 0, 0];
      const counting = new Promise<number>((resolve) => {
        asked = (exchange) => {
          const body = exchange.bodyStream(BODY_BYTES);
          const turn = (): void => {
            ofTurn = 0;
            if (received < BODY_BYTES / 2) setImmediate(turn);
          };
          turn();
          body.on('data', (piece: Buffer) => {
            received += piece.length;
            ofTurn += piece.length;
            most = Math.max(most, ofTurn);
            if (received < BODY_BYTES / 2 || body.isPaused()) return;
            body.pause();
            setTimeout(() => resolve(body.readableLength), 300);
          });
        };
      });
      const sender = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SENDER)}`), { workerData: listener.port });
      const unread = await counting;
      await sender.terminate();
      await listener.drain(100);
      assert.ok(most <= TURN_BYTES, `${most} bytes were read in one turn`);
      assert.ok(unread <= MIB, `${unread} bytes were taken that nobody read`);
    });
  });
