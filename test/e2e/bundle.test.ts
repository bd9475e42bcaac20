import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';

const ROOT = join(import.meta.dirname, '../../..');
const BUNDLE = join(ROOT, 'build/bundle');

// What is packed differs from the compiled files in where modules lie and in which form of a package is loaded; the rest is tested elsewhere.
describe('the packed daemon', () => {
  const dataDir = emptyDataDir();
  let daemon: DaemonUnderTest;
  const start = async (): Promise<void> => {
    daemon = await startDaemon({ dataDir });
  };
  const send = (path: string, body?: object, headers: Record<string, string> = {}, method = body ? 'POST' : 'GET'): Promise<Response> =>
    fetch(`${daemon.core}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  after(() => daemon.end('SIGKILL'));

  it('finds its version, its change log, its schemas and its YAML library', async () => {
    await start();
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    assert.ok((await (await send('/info')).text()).includes(`"${version}"`));
    assert.equal((await send('/v1/system/version-check')).status, 200);
    assert.ok(Object.keys(((await (await send('/openapi.json')).json()) as { paths: object }).paths).length > 10);
    assert.equal((await send('/v1/projects/default/quickstart')).status, 200);
    assert.equal((await send('/v1/projects/default', { name: 7 })).status, 422);
  });

  it('starts engine hosts, and keeps sessions over a kill', async () => {
    const chat = '/v1/projects/default/quickstart/chat/completions';
    const session = { 'x-session-id': 'kept' };
    assert.equal((await send(chat, { messages: [{ role: 'user', content: 'Hello!' }] }, session)).status, 200);
    await daemon.end('SIGKILL');
    await start();
    const history = await (await send('/v1/projects/default/quickstart/chat/sessions/kept/history')).text();
    assert.match(history, /Hello!/);
  });

  it('finds its examples and its pages, and loads the packages that come late', async () => {
    assert.match(await (await send('/health')).text(), /the help has \d\d pages/);
    const made = { namespace: 'default', name: 'library', process: false };
    assert.equal((await send('/v1/examples/tool-library/import-project', made)).status, 200);
    const approved = await send('/v1/projects/default/library/mcp/servers/stock/approve', {});
    assert.match(await approved.text(), /"state":"ready".*find_things/);
    const wav = await send('/v1/default/library/audio/speech', { input: 'Hello.', response_format: 'flac' });
    assert.equal(wav.status, 200, await wav.text());
  });

  it('edits and parses large project files in worker threads', async () => {
    const path = '/v1/projects/default/quickstart';
    const { project } = (await (await send(path)).json()) as { project: { config: Record<string, unknown> } };
    const prompts = Array.from({ length: 300 }, (_, at) => ({
      name: `set_${at}`,
      messages: [{ role: 'system', content: 'x'.repeat(90) }],
    }));
    const replied = await send(path, { config: { ...project.config, prompts } }, {}, 'PUT');
    assert.equal(replied.status, 200, await replied.text());
    const file = join(dataDir, 'projects/default/quickstart/project.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('set_299', 'set_by_hand'));
    assert.match(await (await send(path)).text(), /set_by_hand/);
    assert.equal(await daemon.end(), 0);
  });

  it('loads the libraries of the Model Context Protocol by import, in pieces: one require of them holds the event loop for 140 ms', () => {
    const reached = new Set(['main.js']);
    for (const file of reached) {
      const source = readFileSync(join(BUNDLE, file), 'utf8');
      for (const [, next = ''] of source.matchAll(/(?:from |import ?\(?)"\.\/([^"]+\.js)"/g)) reached.add(next);
      assert.doesNotMatch(source, /require\w*\(["'](?:@modelcontextprotocol\/|zod)/, file);
    }
    const sources = [...reached].map((file) => readFileSync(join(BUNDLE, file), 'utf8'));
    for (const library of ['client', 'server'])
      assert.ok(
        sources.some((source) => source.includes(`import("@modelcontextprotocol/${library}")`)),
        library,
      );
  });

  it('tells source files in its source maps and holds no schema compiler', () => {
    const files = readdirSync(BUNDLE);
    const sources = files
      .filter((name) => name.endsWith('.js.map'))
      .flatMap((name) => (JSON.parse(readFileSync(join(BUNDLE, name), 'utf8')) as { sources: string[] }).sources);
    for (const file of ['cli/main.ts', 'gateway/daemon/daemon.ts'])
      assert.ok(
        sources.some((source) => source.endsWith(file)),
        file,
      );
    for (const file of files.filter((name) => name.endsWith('.js')))
      assert.doesNotMatch(readFileSync(join(BUNDLE, file), 'utf8'), /(?:from|require\w*\() ?["']ajv/, file);
  });
});
