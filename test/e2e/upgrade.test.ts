import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isKept } from '../../gateway/daemon/backup/manifest.js';
import { writeUpgradeNote } from '../../gateway/daemon/handover.js';
import { isAlive, type Owner, readOwner } from '../../runtime/hosts/processes.js';
import { type DaemonUnderTest, emptyDataDir, MAIN, runToEnd, startDaemon } from '../support/daemon.js';
import { childrenOf } from '../support/processes.js';
import { until } from '../support/until.js';

const CHAT = '/v1/projects/default/quickstart/chat/completions';

/**
 * What Node is given to run a daemon that stops on its way when it takes over: before it says `stage` to the daemon before, it writes `held` into a folder and waits
 * there for `go`. Whatever else it does goes on.
 */
function heldAt(stage: 'loaded' | 'serving', folder: string): string[] {
  const [held, go] = [join(folder, 'held'), join(folder, 'go')];
  const code = `
    import { existsSync, writeFileSync } from 'node:fs';
    const send = process.send?.bind(process);
    if (send) process.send = (said, ...more) => {
      if (said !== ${JSON.stringify(stage)} || existsSync(${JSON.stringify(go)})) return send(said, ...more);
      writeFileSync(${JSON.stringify(held)}, '');
      const look = setInterval(() => {
        if (!existsSync(${JSON.stringify(go)})) return;
        clearInterval(look);
        if (process.connected) send(said, ...more);
      }, 5);
    };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`, MAIN];
}

/** The status of a request on a connection of its own; the error's code where there is none. */
function ask(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    request(url, { agent: false }, (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)))
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'))
      .end();
  });
}

describe('a daemon that hands over', () => {
  let daemon: DaemonUnderTest;
  /** Who has the data directory; nobody has it for a moment of the handover. */
  const owner = (): Owner => readOwner(join(daemon.dataDir, 'quern.lock')) ?? { pid: 0, started: '' };
  const where = (): string[] => [
    '--port',
    new URL(daemon.core).port,
    '--runtime-port',
    new URL(daemon.runtime).port,
    '--data-dir',
    daemon.dataDir,
  ];
  /** Has the daemon hand over to one that stops at `stage`; resolves to both when it has. */
  const handOver = async (stage: 'loaded' | 'serving'): Promise<{ folder: string; first: number; next: number }> => {
    const folder = emptyDataDir();
    const { pid: first } = owner();
    writeUpgradeNote(daemon.dataDir, { program: [process.execPath, ...heldAt(stage, folder)] });
    process.kill(first, 'SIGUSR2');
    await until(() => existsSync(join(folder, 'held')), `the next one has ${stage}`);
    const [next] = childrenOf(first, daemon.dataDir);
    assert.ok(next);
    return { folder, first, next };
  };

  beforeEach(async () => {
    daemon = await startDaemon();
  });
  afterEach(async () => {
    const last = owner();
    await runToEnd(['stop', ...where()]);
    const isLeft = last.pid > 0 && isAlive(last);
    // Nothing of a test that failed may hold the pipes of this process open.
    if (isLeft) process.kill(last.pid, 'SIGKILL');
    daemon.child.kill('SIGKILL');
    assert.equal(isLeft, false);
  });

  it('refuses no connection, lets a stream end and keeps what was said', async () => {
    const first = owner();
    let isDone = false;
    const seen = new Map<number | string, number>();
    const asking = Array.from({ length: 4 }, async () => {
      for (; !isDone; await sleep(5)) {
        const status = await ask(`${daemon.core}/health/liveness`);
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    });
    const folder = emptyDataDir();
    const upgraded = runToEnd(['upgrade', '--json', ...where()], {}, heldAt('loaded', folder));
    // What a second one asks meanwhile.
    await until(() => existsSync(join(folder, 'held')), 'the next one has loaded');
    const note = join(daemon.dataDir, 'upgrade.json');
    writeFileSync(note, '{}');
    process.kill(first.pid, 'SIGUSR2');
    // A stream that has begun when the first one is to close: for its end there are seconds, in which no model is loaded.
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Tell me a long story.' }], stream: true, max_tokens: 24 });
    const headers = { 'content-type': 'application/json', 'x-session-id': 'before' };
    const answer = await fetch(`${daemon.core}${CHAT}`, { method: 'POST', headers, body });
    const pieces = answer.body!.pipeThrough(new TextDecoderStream()).values();
    let streamed = (await pieces.next()).value ?? '';
    writeFileSync(join(folder, 'go'), '');
    for await (const piece of pieces) streamed += piece;
    const { code, output } = await upgraded;
    isDone = true;
    await Promise.all(asking);
    assert.equal(code, 0, output);
    assert.equal(existsSync(note), false);
    const said = JSON.parse(output.slice(output.indexOf('{'))) as { from: number; to: number };
    assert.deepEqual([said.from, said.to], [first.pid, owner().pid]);
    assert.deepEqual([...seen.keys()], [200], JSON.stringify([...seen]));
    assert.match(streamed, /data: \[DONE\]\s*$/);
    const history = (await (await fetch(`${daemon.core}/v1/projects/default/quickstart/chat/sessions/before/history`)).json()) as {
      messages: unknown[];
    };
    assert.equal(history.messages.length, 2);
  });

  it('goes on where the next program does not start, and says why', async () => {
    const first = owner();
    writeFileSync(join(daemon.dataDir, 'upgrade.json'), JSON.stringify({ program: [process.execPath, '-e', 'process.exit(3)'] }));
    daemon.child.kill('SIGUSR2');
    await until(() => daemon.output().includes('this one goes on'));
    assert.deepEqual([await ask(`${daemon.core}/health`), owner().pid], [200, first.pid]);
    const note = join(daemon.dataDir, 'upgrade.json');
    // It is written behind the line in the log.
    await until(() => existsSync(note), 'it says why');
    assert.match(readFileSync(note, 'utf8'), /"failed":".*did not load/);
  });

  it('leaves one of both serving when either is killed', async () => {
    // The next one, before it has said that it can take over.
    let { folder, first, next } = await handOver('loaded');
    process.kill(next, 'SIGKILL');
    assert.equal(await ask(`${daemon.core}/health`), 200);
    await until(() => daemon.output().includes('this one goes on'));
    // The next one, once it has the data directory: another is started, and clients wait for it.
    ({ folder, next } = await handOver('serving'));
    assert.equal(owner().pid, next);
    process.kill(next, 'SIGKILL');
    writeFileSync(join(folder, 'go'), '');
    assert.equal(await ask(`${daemon.core}/health`), 200);
    // The first one, while the next one waits for the data directory.
    ({ first, next } = await handOver('loaded'));
    assert.equal(owner().pid, first);
    process.kill(first, 'SIGKILL');
    await until(() => owner().pid === next, 'the next one has the data directory');
    assert.equal(await ask(`${daemon.core}/health`), 200);
  });
});

describe('the note of an upgrade', () => {
  it('belongs to the owner of the data directory, follows no link and is in no backup', () => {
    const [dataDir, elsewhere] = [emptyDataDir(), join(emptyDataDir(), 'kept')];
    writeFileSync(elsewhere, 'as it was');
    symlinkSync(elsewhere, join(dataDir, 'upgrade.json.part'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(dataDir, 900, 900);
    writeUpgradeNote(dataDir, { program: ['quern'] });
    const note = join(dataDir, 'upgrade.json');
    assert.equal(readFileSync(elsewhere, 'utf8'), 'as it was');
    assert.deepEqual(JSON.parse(readFileSync(note, 'utf8')), { program: ['quern'] });
    assert.equal(statSync(note).uid, isRoot ? 900 : process.getuid?.());
    assert.deepEqual(['upgrade.json', 'upgrade.json.part', 'projects'].map(isKept), [false, false, true]);
  });
});

describe('sockets that a service manager has opened', () => {
  const listen = async (where: number | string, host = '127.0.0.1'): Promise<Server> => {
    const server = createServer();
    await new Promise<void>((resolve) => (typeof where === 'string' ? server.listen(where, resolve) : server.listen(where, host, resolve)));
    return server;
  };
  /** Starts a daemon with the sockets; LISTEN_PID names the process that reads it. */
  const start = (servers: readonly Server[], { count = String(servers.length), args = '' } = {}) => {
    const descriptors = servers.map((server) => (server as unknown as { _handle: { fd: number } })._handle.fd);
    const dataDir = emptyDataDir();
    const script = `LISTEN_PID=$$ LISTEN_FDS=${count} exec "${process.execPath}" "${MAIN}" start --data-dir "${dataDir}" ${args}`;
    const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe', ...descriptors] });
    for (const server of servers) server.close();
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, dataDir, output: () => output, ended };
  };

  it('are served, and stay open behind the daemon', async () => {
    const servers = [await listen(0), await listen(0)];
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const { child, dataDir, output, ended } = start(servers);
    // What asks a daemon that still starts for something waits.
    await until(() => existsSync(join(dataDir, 'quern.lock')));
    child.kill('SIGHUP');
    await until(() => output().includes('Try it'));
    assert.ok(
      ports.every((port) => output().includes(`:${port}`)),
      output(),
    );
    assert.deepEqual(await Promise.all(ports.map((port) => ask(`http://127.0.0.1:${port}/health`))), [200, 200]);
    await until(() => output().includes('nothing is read again'));
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
  });

  it('are refused where they or the other port are open to the network without a key, and where they are none', async () => {
    const unix = join(emptyDataDir(), 'socket');
    const cases: [servers: Server[], more: { count?: string; args?: string }, said: RegExp, code: number][] = [
      [
        [await listen(0, '0.0.0.0'), await listen(0)],
        {},
        /given for the core API listens on 0\.0\.0\.0.*\/etc\/quern\.env.*ListenStream/,
        4,
      ],
      [[await listen(0), await listen(0, '0.0.0.0')], {}, /given for the runtime API listens on 0\.0\.0\.0/, 4],
      [[await listen(0)], { args: '--runtime-host 0.0.0.0 --runtime-port 0' }, /--runtime-host 0\.0\.0\.0 would open/, 4],
      [[await listen(unix)], {}, /does not listen on a TCP port.*ListenStream/, 2],
      [[await listen(0)], { count: '2' }, /descriptor 4,.* is no open socket/, 2],
      [[await listen(0)], { count: '1.5' }, /systemd gave 1\.5 sockets/, 2],
    ];
    await Promise.all(
      cases.map(async ([servers, more, said, code]) => {
        const { child, output, ended } = start(servers, more);
        const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
        assert.equal(await ended, code, output());
        clearTimeout(late);
        assert.match(output(), said);
        assert.doesNotMatch(output(), /\n\s+at |The option is/);
      }),
    );
  });
});
