import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { selfSigned } from '../support/certificate.js';
import { type DaemonUnderTest, emptyDataDir, runToEnd, startDaemon } from '../support/daemon.js';
import { until } from '../support/until.js';

const NAME = 'quern.example';

describe('a daemon with a certificate', () => {
  const folder = emptyDataDir();
  const [first, second] = [selfSigned([NAME]), selfSigned([NAME, 'new.example'])];
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  let daemon: DaemonUnderTest;
  const place = ({ cert, key }: typeof first): void => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  /** The status of a request to the daemon by the name in its certificate, which is checked. */
  const ask = async (base: string, path: string, ca: string, body?: string, name = NAME): Promise<{ status: number; text: string }> => {
    const { port } = new URL(base);
    const headers = {
      host: `${name}:${port}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
    };
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      servername: NAME,
      ca,
      headers,
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
    });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode ?? 0, text };
  };
  const where = (): string[] => [
    '--port',
    new URL(daemon.core).port,
    '--runtime-port',
    new URL(daemon.runtime).port,
    '--data-dir',
    daemon.dataDir,
  ];

  before(async () => {
    place(first);
    daemon = await startDaemon({ ca: first.cert, args: ['--tls-cert', files.cert, '--tls-key', files.key] });
  });
  after(() => daemon.end());

  it('speaks https on both ports, by the names in it', async () => {
    assert.equal((await ask(daemon.core, '/health', first.cert)).status, 200);
    assert.equal((await ask(daemon.runtime, '/health', first.cert)).status, 200);
    const trust = `--cacert '${files.cert}' --resolve ${NAME}:${new URL(daemon.core).port}:127.0.0.1 https://${NAME}:`;
    assert.ok(daemon.output().includes(trust), daemon.output());
    assert.match(daemon.output(), /core API {11}https:\/\/127\.0\.0\.1:/);
  });

  it('reads chunked bodies and streams answers', async () => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello!' }], stream: true, max_tokens: 8 });
    const { status, text } = await ask(daemon.core, '/v1/projects/default/quickstart/chat/completions', first.cert, body);
    assert.equal(status, 200);
    assert.match(text, /^data: \{.*data: \[DONE\]\s*$/s);
  });

  it('speaks wss', async () => {
    const socket = new WebSocket(`${daemon.core.replace('https', 'wss')}/v1/default/quickstart/voice/chat`, [], {
      ca: first.cert,
      checkServerIdentity: () => false,
    });
    await once(socket, 'open');
    socket.terminate();
  });

  it('refuses plain http and clients that do not trust it', async () => {
    await assert.rejects(fetch(daemon.core.replace('https', 'http')));
    await assert.rejects(fetch(daemon.core));
  });

  it('is asked by commands that know its certificate', async () => {
    for (const trust of [
      ['--ca', files.cert],
      ['--tls-cert', files.cert, '--tls-key', files.key],
    ]) {
      const { code, output } = await runToEnd(['status', ...where(), ...trust]);
      assert.deepEqual([code, output.includes(`answers at ${daemon.core}`)], [0, true], output);
    }
    const stranger = join(folder, 'stranger.pem');
    writeFileSync(stranger, second.cert);
    const { code, output } = await runToEnd(['status', ...where(), '--ca', stranger]);
    assert.deepEqual([code, /No secure connection .*--ca FILE/.test(output)], [5, true], output);
    const plain = await runToEnd(['status', ...where()]);
    assert.deepEqual([plain.code, /is asked with --ca FILE/.test(plain.output)], [5, true], plain.output);
  });

  it('takes a new certificate at SIGHUP, and keeps the old one where that is wrong', async () => {
    writeFileSync(files.key, second.key);
    daemon.child.kill('SIGHUP');
    await until(() => /the certificate in use stays.*does not belong.*\n/.test(daemon.output()));
    assert.doesNotMatch(daemon.output(), /\n\s+at /);
    assert.equal((await ask(daemon.core, '/health', first.cert)).status, 200);
    assert.equal((await ask(daemon.core, '/health', first.cert, undefined, 'new.example')).status, 403);
    place(second);
    daemon.child.kill('SIGHUP');
    await until(() => daemon.output().includes('were read again'));
    assert.equal((await ask(daemon.core, '/health', second.cert)).status, 200);
    assert.equal((await ask(daemon.core, '/health', second.cert, undefined, 'new.example')).status, 200);
    await assert.rejects(ask(daemon.core, '/health', first.cert), /self-signed/);
  });
});
