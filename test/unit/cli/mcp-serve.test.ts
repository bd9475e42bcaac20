import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { StdioBridge } from '../../../cli/mcp/serve.js';
import { Outbound } from '../../../runtime/net/outbound.js';

const line = (id: number, method: string): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method })}\n`);

it('answers what was asked before the input ended, however late, and ends subscriptions with the input', async () => {
  const arrivals = new EventEmitter();
  const [call, subscription] = ['call', 'subscription'].map(async (name) => (await once(arrivals, name))[0] as ServerResponse);
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isCall = body.includes('tools/call');
      response.writeHead(200, { 'content-type': isCall ? 'application/json' : 'text/event-stream' }).flushHeaders();
      arrivals.emit(isCall ? 'call' : 'subscription', response);
    });
  });
  // The call is answered when the subscription is over.
  void subscription!.then(async (response) => {
    await once(response, 'close');
    (await call!).end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  async function* input(): AsyncGenerator<Buffer> {
    yield line(1, 'tools/call');
    yield line(2, 'subscriptions/listen');
    await Promise.all([call, subscription]);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outbound = new Outbound();
  const output = new PassThrough();
  const written = text(output);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    await new StdioBridge({ outbound, url, headers: {}, output }).run(Readable.from(input()));
    output.end();
    assert.deepEqual(JSON.parse(await written), { jsonrpc: '2.0', id: 1, result: {} });
  } finally {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  }
});
