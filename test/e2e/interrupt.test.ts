import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { emptyDataDir, MAIN } from '../support/daemon.js';

/** How a command line ended that got Ctrl+C, and what it asked of the daemon. */
interface Stopped {
  readonly signal: string | null;
  readonly stderr: string;
  readonly asked: readonly string[];
}

/** Runs a command line in a folder and sends it Ctrl+C when it asks for `until`; `answer` answers what it asks, and what it leaves stays open. */
async function stopped(
  args: readonly string[],
  folder: string,
  until: string,
  answer: (asked: string, response: ServerResponse) => unknown,
): Promise<Stopped> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    request.resume();
    const name = `${request.method} ${request.url}`;
    asked.push(name);
    response.setHeader('content-type', 'application/json');
    if (name === 'GET /health/liveness') return response.end('{}');
    answer(name, response);
    // Once: a second one ends the program at once.
    if (name === until && asked.filter((one) => one === until).length === 1) child.kill('SIGINT');
    return undefined;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, PORT: String(port), RUNTIME_PORT: String(port), DATA_DIR: folder, HOME: folder };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  server.closeAllConnections();
  server.close();
  return { signal, stderr, asked };
}

describe('Ctrl+C', { timeout: 240_000 }, () => {
  it('ends an answer on its way, and the program as a signal does', async () => {
    const { signal, stderr } = await stopped(['run', 'quern-tiny', 'hello'], emptyDataDir(), 'POST /v1/chat/completions', () => {});
    assert.deepEqual([signal, stderr], ['SIGINT', '']);
  });

  it('leaves the recording that was there before', async () => {
    const folder = emptyDataDir();
    writeFileSync(join(folder, 'speech.wav'), 'before');
    const { signal } = await stopped(['speak', 'hello'], folder, 'POST /v1/audio/speech', (_asked, response) => response.write('RIFF'));
    assert.equal(signal, 'SIGINT');
    assert.deepEqual(readdirSync(folder), ['speech.wav']);
    assert.equal(readFileSync(join(folder, 'speech.wav'), 'utf8'), 'before');
  });

  it('ends a transcription, of which nothing is kept', async () => {
    const folder = emptyDataDir();
    writeFileSync(join(folder, 'talk.wav'), 'RIFF');
    const { signal, stderr } = await stopped(['transcribe', 'talk.wav'], folder, 'POST /v1/audio/transcriptions', () => {});
    assert.deepEqual([signal, stderr, readdirSync(folder)], ['SIGINT', '', ['talk.wav']]);
  });

  it('cancels the work on a dataset', async () => {
    const task = '/v1/projects/lab/notes/tasks/one';
    const { signal, stderr, asked } = await stopped(
      ['datasets', 'process', 'docs', '-p', 'lab/notes'],
      emptyDataDir(),
      `GET ${task}`,
      (name, response) => response.end(JSON.stringify(name.startsWith('POST') ? { task_id: 'one' } : { state: 'STARTED', meta: {} })),
    );
    assert.equal(signal, 'SIGINT');
    assert.equal(asked.at(-1), `DELETE ${task}`);
    assert.match(stderr, /^quern: stopped; the daemon takes back what was done, and "quern datasets process docs" begins again$/m);
  });
});
