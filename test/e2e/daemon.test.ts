import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FIRST_MODEL } from '../../models/built-in.js';
import { type DaemonUnderTest, emptyDataDir, runToEnd, startDaemon } from '../support/daemon.js';
import { childrenOf, isGone } from '../support/processes.js';
import { until } from '../support/until.js';

/** What the command line of a host of a language model says. */
const HOST = 'engines/language';
const QUESTION = { messages: [{ role: 'user', content: 'Hello!' }] };

function chat(daemon: DaemonUnderTest, body: object = QUESTION, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${daemon.core}/v1/projects/default/quickstart/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Lines of an answer that explains why the program ended; must be exactly one. */
function complaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith('quern: '));
  assert.equal(lines.length, 1, output);
  return lines[0]!;
}

describe('the daemon', () => {
  const running: DaemonUnderTest[] = [];
  const started = async (...args: Parameters<typeof startDaemon>): Promise<DaemonUnderTest> => {
    const daemon = await startDaemon(...args);
    running.push(daemon);
    return daemon;
  };
  after(async () => {
    for (const daemon of running) await daemon.end('SIGKILL');
  });

  it('makes a first project and prints a curl line that works', async () => {
    const daemon = await started();
    assert.ok(existsSync(join(daemon.dataDir, 'projects/default/quickstart/project.yaml')));
    const line = daemon
      .output()
      .split('\n')
      .find((text) => text.includes('curl '));
    assert.ok(line, daemon.output());
    const url = /https?:\/\/\S+?completions/.exec(line)?.[0];
    const body = /-d '([^']+)'/.exec(line)?.[1];
    assert.ok(url && body, line);
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    assert.equal(response.status, 200);
    const answer = (await response.json()) as { choices: { message: { content: string } }[] };
    assert.match(answer.choices[0]!.message.content, /^(Hello|Hi)\b/);
    assert.match(daemon.output(), /better models are one command away/i);
  });

  it('says in its health which model is built in, and what it is', async () => {
    const daemon = await started();
    const health = (await (await fetch(`${daemon.core}/health`)).json()) as {
      status: string;
      components: { name: string; message: string }[];
    };
    assert.equal(health.status, 'healthy');
    assert.ok(
      health.components.some(({ message }) => message.includes(`${FIRST_MODEL.name} (${FIRST_MODEL.description})`)),
      JSON.stringify(health),
    );
  });

  it('refuses a second daemon on the same data directory, and a dead owner does not block the next', async () => {
    const daemon = await started();
    const second = await runToEnd(['start', '--port', '0', '--runtime-port', '0', '--data-dir', daemon.dataDir]);
    assert.equal(second.code, 5);
    assert.match(complaint(second.output), new RegExp(`pid ${daemon.child.pid}.*--data-dir`));
    await daemon.end('SIGKILL');
    const next = await started({ dataDir: daemon.dataDir });
    assert.equal((await chat(next)).status, 200);
  });

  it('names a busy port and the remedy', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, output } = await runToEnd(['start', '--port', String(port), '--runtime-port', '0', '--data-dir', emptyDataDir()]);
    server.close();
    assert.equal(code, 5);
    assert.match(complaint(output), new RegExp(`${port}.*--port`));
  });

  it('names an unwritable data directory', async (t) => {
    const file = join(emptyDataDir(), 'file');
    writeFileSync(file, '');
    const { code, output } = await runToEnd(['start', '--port', '0', '--runtime-port', '0', '--data-dir', join(file, 'below')]);
    assert.equal(code, 5);
    assert.match(complaint(output), /cannot write to the data directory .*--data-dir/);
    if (process.getuid?.() === 0) return t.diagnostic('root ignores permissions: the read-only folder was not tried');
    const folder = emptyDataDir();
    chmodSync(folder, 0o500);
    assert.equal((await runToEnd(['start', '--data-dir', folder])).code, 5);
  });

  it('refuses an open bind without a key, and unknown options', async () => {
    for (const [status, args, pattern] of [
      [4, ['start', '--host', '0.0.0.0'], /--api-key.*--open-to-network/],
      [4, ['runtime', '--runtime-host', '::'], /--api-key.*--open-to-network/],
      [2, ['start', '--port', 'http'], /--port must be a port/],
      [2, ['runtime', '--port', '9000'], /--port is for the core API.*use --runtime-port/],
      [2, ['runtime', '--host=127.0.0.1'], /use --runtime-host/],
      [2, ['start', '--no-such'], /no-such.*help/],
      [2, ['dance'], /unknown command "dance"/],
    ] as const) {
      const { code, output } = await runToEnd([...args, ...(args[0] === 'dance' ? [] : ['--data-dir', emptyDataDir()])]);
      assert.equal(code, status, output);
      assert.match(complaint(output), pattern);
    }
  });

  it('prints its commands, its options and its version', async () => {
    for (const word of ['help', '--help', '-h']) {
      const { code, output } = await runToEnd([word]);
      assert.equal(code, 0, output);
      for (const says of [/quern runtime/, /--data-dir +\w+/]) assert.match(output, says);
    }
    for (const word of ['version', '--version']) assert.match((await runToEnd([word])).output, /^quern \d+\.\d+\.\d+\n$/);
  });

  it('asks for the key when one is set', async () => {
    const daemon = await started({ args: ['--api-key', 'canary-key-1'] });
    assert.equal((await chat(daemon)).status, 401);
    assert.equal((await chat(daemon, QUESTION, { authorization: 'Bearer canary-key-1' })).status, 200);
    assert.equal((await fetch(`${daemon.core}/health/liveness`)).status, 200);
    assert.ok(!daemon.output().includes('canary-key-1'));
  });

  it('goes on when nobody reads its output any more', async () => {
    const daemon = await started();
    for (const output of [daemon.child.stdout, daemon.child.stderr]) output?.destroy();
    // Loading a model writes to the log.
    assert.equal((await chat(daemon)).status, 200);
    assert.equal((await chat(daemon)).status, 200);
    assert.equal(await daemon.end('SIGTERM'), 0);
  });

  it('drains on SIGTERM: a running stream ends whole, then the process ends with 0', async () => {
    const daemon = await started();
    // The time of draining is for the stream, and not for the loading of a model.
    assert.equal((await chat(daemon)).status, 200);
    const response = await chat(daemon, { ...QUESTION, stream: true });
    const text = response.text();
    const code = await daemon.end('SIGTERM');
    assert.equal(code, 0, daemon.output());
    assert.match(await text, /data: \[DONE\]/);
  });

  it('keeps every acknowledged turn through kill -9 at random points', async () => {
    let daemon = await started();
    const { dataDir } = daemon;
    const session = { 'x-session-id': 'survivor' };
    let acknowledged = 0;
    for (let round = 0; round < 6; round++) {
      // The first answer of each life waits until the model is loaded.
      assert.equal((await chat(daemon, QUESTION, session)).status, 200);
      acknowledged++;
      const killAfterMs = 20 + Math.floor(Math.random() * 250);
      const until = Date.now() + killAfterMs;
      const asking = (async () => {
        for (;;) {
          try {
            const response = await chat(daemon, QUESTION, session);
            await response.json();
            if (response.status === 200) acknowledged++;
          } catch {
            return;
          }
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - Date.now())));
      await daemon.end('SIGKILL');
      await asking;
      daemon = await started({ dataDir });
      const history = (await (await fetch(`${daemon.core}/v1/projects/default/quickstart/chat/sessions/survivor/history`)).json()) as {
        messages: { role: string }[];
      };
      const roles = history.messages.map(({ role }) => role);
      assert.ok(roles.length / 2 >= acknowledged, `${acknowledged} turns were acknowledged, the history has ${roles.length} messages`);
      roles.forEach((role, index) => {
        assert.equal(role, index % 2 === 0 ? 'user' : 'assistant');
      });
    }
    assert.ok(acknowledged > 0, 'no turn was ever acknowledged: the test proved nothing');
  });

  it('answers again after its engine host is killed', async () => {
    const daemon = await started();
    assert.equal((await chat(daemon)).status, 200);
    const hostsOf = (): number[] => childrenOf(daemon.child.pid!, HOST);
    const hosts = hostsOf();
    assert.equal(hosts.length, 1);
    const pending = chat(daemon, { messages: [{ role: 'user', content: 'Hello!' }], stream: false });
    process.kill(hosts[0]!, 'SIGKILL');
    assert.ok([200, 503].includes((await pending).status));
    await until(async () => (await chat(daemon)).status === 200, 'it answers again');
    // Asked before the end: afterwards its children have another parent.
    const left = hostsOf();
    assert.equal(left.length, 1);
    await daemon.end('SIGKILL');
    await until(() => left.every(isGone), 'its host is gone');
  });
});
