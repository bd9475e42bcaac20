import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { call, openToolStage, type ToolStage } from '../../../support/mcp/tool-stage.js';

setLogLevel('error');

/** The session that a server over HTTP knows, and how often it was greeted; both change when it forgets. */
let session = 1;
let greetings = 0;
/** What it answers to a session that it does not know. */
let unknown: [status: number, text: string] = [404, 'Session not found'];
const seen: string[] = [];

type Answer = (reply: (result: object) => void, response: ServerResponse) => void;
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });
const TOOLS: Readonly<Record<string, Answer>> = {
  hello: (reply) => reply(text('Hello!')),
  bigger: (reply) => reply(text('x'.repeat(10_000_000))),
  /** One event without end. */
  endless: (_reply, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => void (response.destroyed || response.write(`data: ${'y'.repeat(100_000)}\n`, more));
    more();
  },
  /** Events without end. */
  flood: (_reply, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'z'.repeat(100_000) } })}\n\n`;
    const more = (): void => void (response.destroyed || response.write(event, more));
    more();
  },
  /** An answer that breaks off. */
  breaks: (_reply, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"jsonrpc":');
    setTimeout(() => response.destroy(), 20);
  },
  leaves: (_reply, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n'),
  moved: (_reply, response) => response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  html: (_reply, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
  forbidden: (_reply, response) => response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no key"}'),
};

function take(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.method === 'DELETE') {
    seen.push(`DELETE ${request.headers['mcp-session-id']}`);
    response.writeHead(204).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const { id, method, params } = JSON.parse(body) as { id?: unknown; method: string; params?: { name?: string } };
  const reply = (result: object): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': String(session) });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
  if (method === 'initialize') {
    greetings += 1;
    reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } });
  } else if (method === 'server/discover') {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } }));
  } else if (request.headers['mcp-session-id'] !== String(session)) {
    response.writeHead(unknown[0]).end(unknown[1]);
  } else if (id === undefined) {
    response.writeHead(202).end();
  } else if (method === 'tools/list') {
    reply({ tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) });
  } else {
    TOOLS[params!.name!]!(reply, response);
  }
}

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => take(request, response, body));
});

describe('tool servers over HTTP', () => {
  let stage: ToolStage;
  const open = async () => {
    const { port } = server.address() as AddressInfo;
    return stage.open(stage.configure({ name: 'web', transport: 'http', base_url: `http://127.0.0.1:${port}/mcp` }));
  };
  before(async () => {
    stage = await openToolStage();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
  });
  after(async () => {
    await stage.close();
    server.closeAllConnections();
    server.close();
  });

  for (const forgotten of [
    [404, 'Session not found'],
    [400, '{"error":{"message":"Bad Request: No valid session ID provided"}}'],
  ] as const) {
    it(`are greeted again, and asked once more, when they forget the session with ${forgotten[0]}`, async () => {
      unknown = [...forgotten];
      const toolbox = await open();
      assert.deepEqual(toolbox.notes, []);
      const before = greetings;
      session += 1;
      assert.deepEqual(await call(toolbox, 'hello'), { text: 'Hello!', failed: false });
      assert.equal(greetings, before + 1);
    });
  }

  it('fail a call by their own errors only, and take the next', async () => {
    const toolbox = await open();
    const expected: readonly [tool: string, message: RegExp][] = [
      ['bigger', /sent a message of \d+ bytes or more; at most 2097152 are read\.$/],
      ['endless', /^Error: tool server 'web' /],
      ['breaks', /The connection to http:\/\/127\.0\.0\.1:\d+\/mcp broke/],
      ['leaves', /ended its answer before it was complete\.$/],
      ['moved', /redirect/i],
      ['html', /Unexpected content type: text\/html/],
      ['forbidden', /no key/],
    ];
    for (const [tool, message] of expected) {
      const { text: said, failed } = await call(toolbox, tool);
      assert.equal(failed, true, tool);
      assert.match(said, message, tool);
      assert.equal((await call(toolbox, 'hello')).text, 'Hello!', `after ${tool}`);
    }
  });

  it('are ended when they flood', async () => {
    const toolbox = await open();
    const { text: said, failed } = await call(toolbox, 'flood');
    assert.equal(failed, true);
    assert.match(said, /^Error: tool server 'web' /);
    assert.equal((await call(await open(), 'hello')).text, 'Hello!');
  });

  it('are told when their session ends', async () => {
    await open();
    await stage.servers.revoke('ns', 'p', 'web');
    assert.deepEqual(seen, [`DELETE ${session}`]);
  });
});
