import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { coreEndpoints } from '../../gateway/core/index.js';
import { type DaemonUnderTest, MAIN, runToEnd, startDaemon } from '../support/daemon.js';
import { MCP_CLIENTS, type McpClient } from '../support/mcp-clients.js';
import { freePort } from '../support/ports.js';

const KEY = 'a key of this test';
const STORY = { namespace: 'default', project: 'quickstart', messages: [{ role: 'user', content: 'Tell me a story' }], max_tokens: 60 };
/** Calls that are begun at most until one of them is stopped. */
const STOPS = 50;

let daemon: DaemonUnderTest;
before(async () => {
  daemon = await startDaemon({ args: ['--api-key', KEY] });
});
after(() => daemon.end());

/** What a desktop client starts. */
function command(key = KEY): { command: string; args: string[]; env: Record<string, string> } {
  const { port } = new URL(daemon.core);
  return {
    command: process.execPath,
    args: [MAIN, 'mcp', 'serve', '--port', port],
    env: { PATH: process.env.PATH ?? '', QUERN_API_KEY: key },
  };
}

const STDIO_CLIENTS: Readonly<Record<string, () => Promise<McpClient>>> = {
  'the client of SDK 1': async () => {
    const client = new FirstClient({ name: 'test', version: '1.0.0' });
    await client.connect(new FirstStdioTransport(command()));
    const callTool = client.callTool.bind(client);
    return Object.assign(client, {
      callTool: (call: Parameters<typeof callTool>[0], options?: object) => callTool(call, undefined, options),
    }) as unknown as McpClient;
  },
  'the client of SDK 2 as it comes': async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport(command()));
    return client as unknown as McpClient;
  },
  'the client of SDK 2 that asks for 2026': async () => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport(command()));
    return client as unknown as McpClient;
  },
};

/** Calls a model and reads a resource, as every client can. */
async function use(client: McpClient): Promise<void> {
  const seen: string[] = [];
  const { content, isError } = await client.callTool(
    { name: 'chat_completions', arguments: STORY },
    { onprogress: ({ message }) => seen.push(message ?? '') },
  );
  assert.equal(isError ?? false, false);
  assert.ok(content[0]!.text.length > 10);
  // A client may drop the progress that comes in one piece with the result.
  assert.ok(content[0]!.text.startsWith(seen.join('')));
  const uri = 'quern://projects/default/quickstart';
  assert.equal((await client.readResource({ uri })).contents[0]!.uri, uri);
  await assert.rejects(client.callTool({ name: 'größe' }), /no tool "größe"/);
}

describe('clients of a daemon over HTTP', () => {
  for (const [title, connect] of Object.entries(MCP_CLIENTS))
    it(title, async () => {
      const withKey = (url: string | URL, init?: RequestInit): Promise<Response> => {
        const headers = new Headers(init?.headers);
        headers.set('authorization', `Bearer ${KEY}`);
        return fetch(url, { ...init, headers });
      };
      const client = await connect(new URL(`${daemon.core}/mcp`), withKey);
      await use(client);
      await client.close();
      await assert.rejects(connect(new URL(`${daemon.core}/mcp`)), /401|API key/i);
    });
});

describe('quern mcp serve', () => {
  for (const [title, connect] of Object.entries(STDIO_CLIENTS))
    it(`serves ${title}`, async () => {
      const client = await connect();
      // One that stays open would keep this process.
      try {
        await use(client);
        // A stop at the first words; where the whole answer had come with them, the next one is stopped.
        let isStopped = false;
        for (let tries = 0; !isStopped && tries < STOPS; tries += 1) {
          const controller = new AbortController();
          const asked = { name: 'chat_completions', arguments: { ...STORY, max_tokens: 2000 } };
          isStopped = await client.callTool(asked, { signal: controller.signal, onprogress: () => controller.abort() }).then(
            () => false,
            () => controller.signal.aborted,
          );
        }
        assert.ok(isStopped, 'no call was stopped');
        const offered = coreEndpoints.filter(({ tool }) => tool !== undefined).length;
        assert.equal((await client.listTools()).tools.length, offered);
      } finally {
        await client.close();
      }
    });

  it('offers what its flags say', async () => {
    const { args, ...rest } = command();
    const client = new FirstClient({ name: 'test', version: '1.0.0' });
    await client.connect(
      new FirstStdioTransport({
        ...rest,
        args: [...args, '--read-only', '--project=default/quickstart', '--tools', 'models_list,project_delete'],
      }),
    );
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['models_list'],
    );
    assert.equal((await client.callTool({ name: 'models_list' })).isError ?? false, false);
    await client.close();
    assert.match((await runToEnd([...args.slice(1), '--project'], { QUERN_API_KEY: KEY })).output, /--project needs a value/);
  });

  it('answers a pipe that ends at once, and what is no message', async () => {
    const { command: file, args, env } = command();
    const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const lines: { id: unknown; result?: unknown; error?: { code: number } }[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
    child.stdin.write(`not json\n\n{"jsonrpc":"2.0","id":"a","method":"ping"}\n${'a'.repeat(3_000_000)}\n{"id":3}\n`);
    child.stdin.end('{"jsonrpc":"2.0","id":"last","method":"ping"}');
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
    assert.deepEqual(
      lines.map(({ id, error }) => [id, error?.code]).sort(),
      [
        [3, -32600],
        ['a', undefined],
        ['last', undefined],
        [null, -32600],
        [null, -32700],
      ].sort(),
    );
  });

  it('says what is missing', async () => {
    const port = String(await freePort());
    const alone = await runToEnd(['mcp', 'serve', '--port', port]);
    assert.equal(alone.code, 5);
    assert.match(alone.output, /no daemon answers at .*run "quern start" first, or add --start/);
    const { args } = command();
    const wrong = await runToEnd(args.slice(1), { QUERN_API_KEY: 'wrong' });
    assert.equal(wrong.code, 4);
    assert.match(wrong.output, /wants a key/);
    const unknown = await runToEnd(['mcp', 'dance']);
    assert.match(unknown.output, /unknown command "mcp dance": .*serve/);
  });
});
