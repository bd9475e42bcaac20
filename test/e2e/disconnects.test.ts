import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { randomOf } from '../support/retrieval-corpus.js';

/** Clients that vanish; the full figure of the acceptance run is 10,000 (`DISCONNECTS=10000`). */
const DISCONNECTS = Number(process.env.DISCONNECTS ?? 400);
const AT_ONCE = 20;
const LONGEST_STAY_MS = 60;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = randomOf(SEED);

const body = (stream: boolean, n = 1): string =>
  JSON.stringify({ stream, n, max_tokens: 64, messages: [{ role: 'user', content: 'help' }] });
const CHAT = '/v1/projects/default/quickstart/chat/completions';

/** Requests of all kinds, as bytes on the wire. */
function requests(host: string): string[] {
  const post = (path: string, content: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;
  return [
    post(CHAT, body(true)),
    post(CHAT, body(false)),
    post(CHAT, body(true, 4)),
    post(CHAT, body(false, 4)),
    `GET /v1/projects/default HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    `GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    `${post('/v1/projects/default', '{"name":"quickstart"}')}${post(CHAT, body(true))}`,
  ];
}

/** One client that sends part or all of a request and vanishes at a random moment, politely or not. */
function vanish(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (): void => {
      if (random() < 0.5) socket.resetAndDestroy();
      else socket.destroy();
      resolve();
    };
    socket.on('error', () => resolve());
    socket.on('connect', () => {
      const part = random() < 0.3 ? bytes.slice(0, Math.floor(random() * bytes.length)) : bytes;
      socket.write(part);
      setTimeout(done, random() * LONGEST_STAY_MS);
    });
    socket.resume();
  });
}

describe('clients that vanish', () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon();
  });
  after(() => daemon.end('SIGKILL'));

  it(`${DISCONNECTS} at random points end neither the daemon nor its engine, and leave no work behind`, async (test) => {
    test.diagnostic(`seed ${SEED}`);
    const { host, port } = new URL(daemon.core);
    const kinds = requests(host);
    for (let done = 0; done < DISCONNECTS; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => vanish(Number(port), kinds[Math.floor(random() * kinds.length)]!)));
    assert.deepEqual([daemon.child.exitCode, daemon.child.signalCode], [null, null], daemon.output());
    const answer = await fetch(daemon.core + CHAT, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(false) });
    assert.equal(answer.status, 200, await answer.text());
    assert.ok(!/unhandled|crash|error /i.test(daemon.output()), daemon.output());
  });
});
