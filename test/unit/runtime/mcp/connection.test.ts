import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../../runtime/mcp/connection.js';
import { Outbound } from '../../../../runtime/net/outbound.js';

/** A server of 2025 without sessions, which knows its path for POST only. */
const server = createServer((request, response) => {
  if (request.method !== 'POST') return response.writeHead(404).end('Cannot GET /mcp');
  let body = '';
  request.on('data', (text) => (body += text));
  request.on('end', () => {
    const { id, method } = JSON.parse(body);
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'plain', version: '1' } },
      'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'Hello!' }] },
    };
    if (id === undefined) return response.writeHead(202).end();
    const outcome = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'There is no such method.' } };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  });
  return undefined;
});

it('keeps a server that has no stream of events and says so with 404', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A failing test must not wait for it.
  server.unref();
  const outbound = new Outbound();
  const lost: string[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const { signal } = new AbortController();
  const connection = await Connection.open(
    { name: 'plain', transport: 'http', base_url: url },
    process.cwd(),
    { outbound, version: '0.0.0' },
    { toolsChanged: () => undefined, lost: ({ message }) => lost.push(message) },
    signal,
  );
  assert.equal((await connection.tools()).length, 1);
  await sleep(100);
  assert.deepEqual((await connection.call('hello', {}, { signal })).content, [{ type: 'text', text: 'Hello!' }]);
  assert.deepEqual(lost, []);
  await connection.close();
  await outbound.close();
  server.close();
});
