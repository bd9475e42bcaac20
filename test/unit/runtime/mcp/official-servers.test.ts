import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { McpServer } from '../../../../schemas/generated/config/project.js';
import { call, openToolStage, type ToolStage } from '../../../support/mcp/tool-stage.js';
import { freePort } from '../../../support/ports.js';
import { until } from '../../../support/until.js';

setLogLevel('error');
const PACKAGES = join(import.meta.dirname, '../../../../../node_modules/@modelcontextprotocol');
const EVERYTHING = join(PACKAGES, 'server-everything/dist/index.js');
const never = new AbortController().signal;

/** The official server of everything over HTTP, and what it printed. */
async function listening(transport: string, port: number): Promise<{ child: ChildProcess; said(): string }> {
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
  await until(() => /listening|running|on port/i.test(said), 'the server listens');
  return { child, said: () => said };
}

describe('official servers of the protocol', () => {
  let stage: ToolStage;
  before(async () => {
    stage = await openToolStage();
  });
  after(() => stage.close());

  const use = async (server: McpServer): Promise<void> => {
    const toolbox = await stage.open(stage.configure(server));
    assert.deepEqual(toolbox.notes, []);
    assert.ok(toolbox.tools.length >= 10, String(toolbox.tools.length));
    assert.deepEqual(await call(toolbox, 'echo', { message: 'hi' }), { text: 'Echo: hi', failed: false });
    assert.match((await call(toolbox, 'get-sum', { a: 2, b: 'x' })).text, /invalid/i);
    assert.match((await call(toolbox, 'get-structured-content', { location: 'Chicago' })).text, /"temperature":/);
    assert.match((await call(toolbox, 'get-tiny-image')).text, /\[image of type image\/png, \d+ bytes, which is not shown\]/);
    const told: unknown[] = [];
    const long = toolbox.tools.find(({ tool }) => tool === 'trigger-long-running-operation')!.name;
    const options = { signal: never, onProgress: ({ progress }: { progress: number }) => told.push(progress) };
    assert.match((await toolbox.call(long, { duration: 0.2, steps: 2 }, options)).text, /completed/);
    // The last report may come together with the answer.
    assert.equal(told[0], 1);
    const wanted = [
      { server: server.name, resource: 'demo://resource/static/document/architecture.md' },
      { server: server.name, prompt: 'args-prompt', arguments: { city: 'Bern' } },
    ];
    const [document, prompt] = await stage.servers.read(stage.configure(server), wanted, never);
    assert.match(document!, /Architecture/);
    assert.match(prompt!, /weather in Bern/);
    await assert.rejects(stage.servers.read(stage.configure(server), [{ server: server.name, resource: 'demo://none' }], never), {
      code: 'ContextUnreadable',
    });
  };

  it('everything, over standard streams', () =>
    use({ name: 'stdio', transport: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'] }));

  it('everything, over streamable HTTP, with a session that is ended, and found again when the server comes back', async () => {
    const port = await freePort();
    let { child, said } = await listening('streamableHttp', port);
    const server: McpServer = { name: 'http', transport: 'http', base_url: `http://127.0.0.1:${port}/mcp` };
    try {
      await use(server);
      const toolbox = await stage.open(stage.configure(server));
      child.kill('SIGKILL');
      await new Promise((ended) => child.once('exit', ended));
      ({ child, said } = await listening('streamableHttp', port));
      await until(async () => !(await call(toolbox, 'echo', { message: 'x' })).failed, 'the server is found again');
      assert.deepEqual(await call(toolbox, 'echo', { message: 'back' }), { text: 'Echo: back', failed: false });
      await stage.servers.revoke('ns', 'p', 'http');
      await until(() => /termination request/.test(said()), 'its session is ended');
      child.kill('SIGKILL');
      await new Promise((ended) => child.once('exit', ended));
      await stage.servers.approve('ns', 'p', 'http', undefined, never);
      assert.match((await call(toolbox, 'echo', { message: 'lost' })).text, /cannot be reached: No connection/);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('everything, over events', async () => {
    const port = await freePort();
    const { child } = await listening('sse', port);
    try {
      await use({ name: 'sse', transport: 'sse', base_url: `http://127.0.0.1:${port}/sse` });
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('filesystem, which reads its folder and nothing beside it', async () => {
    mkdirSync(join(stage.directory, 'shared'));
    writeFileSync(join(stage.directory, 'shared/note.txt'), 'In the folder.');
    writeFileSync(join(stage.directory, 'secret.txt'), 'Outside.');
    const server: McpServer = {
      name: 'files',
      transport: 'stdio',
      command: process.execPath,
      args: [join(PACKAGES, 'server-filesystem/dist/index.js'), 'shared'],
      tools: ['read_text_file', 'list_directory'],
    };
    const toolbox = await stage.open(stage.configure(server));
    assert.deepEqual(toolbox.tools.map(({ name, readOnly }) => [name, readOnly]).sort(), [
      ['files__list_directory', true],
      ['files__read_text_file', true],
    ]);
    assert.deepEqual(await call(toolbox, 'read_text_file', { path: 'note.txt' }), { text: 'In the folder.', failed: false });
    const outside = await call(toolbox, 'read_text_file', { path: '../secret.txt' });
    assert.equal(outside.failed, true);
    assert.match(outside.text, /Access denied/);
  });
});
