import { ACCEPT, PING, rpc } from '../../support/mcp/server-stage.js';
import type { Scenario } from '../../support/scenario.js';

const post = (name: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/mcp',
  headers: ACCEPT,
  body,
  ...more,
});

/** Requests to the address of the MCP server that are none, or that no client of today sends. */
export const MESSAGES: readonly Scenario[] = [
  { name: 'there is no stream to listen to', path: '/mcp', status: 405, headers: ACCEPT, answerHeaders: { allow: /POST/ } },
  { name: 'there is no session to end', method: 'DELETE', path: '/mcp', status: 405, headers: ACCEPT, answerHeaders: { allow: /POST/ } },
  post('text that is not JSON', '{"jsonrpc": ', {
    status: 400,
    headers: { ...ACCEPT, 'content-type': 'application/json' },
    json: rpc(-32700),
  }),
  post('bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {
    status: 400,
    headers: { ...ACCEPT, 'content-type': 'application/json' },
    json: rpc(-32700),
  }),
  post('nothing', '', { status: 400, headers: { ...ACCEPT, 'content-type': 'application/json' }, json: rpc(-32600) }),
  post('JSON that is no message', '7', { status: 400, headers: { ...ACCEPT, 'content-type': 'application/json' }, json: rpc(-32600) }),
  post('lists in lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, {
    status: 400,
    headers: { ...ACCEPT, 'content-type': 'application/json' },
    json: rpc(-32700),
  }),
  post(
    'ten thousand messages',
    Array.from({ length: 10_000 }, () => PING),
    { status: 400, json: rpc(-32600) },
  ),
  post('a message that is too long', { ...PING, params: { text: 'a'.repeat(3_000_000) } }, { status: 413, json: rpc(-32000) }),
  post(
    'thousands of arguments',
    {
      ...PING,
      method: 'tools/call',
      params: { name: 'project_get', arguments: Object.fromEntries(Array.from({ length: 5_000 }, (_none, at) => [`n${at}`, at])) },
    },
    { status: 400, json: rpc(-32600) },
  ),
  post('a text of another type', JSON.stringify(PING), {
    status: 415,
    headers: { ...ACCEPT, 'content-type': 'text/plain' },
    json: rpc(-32000),
  }),
  post('a client that cannot read streams', PING, { status: 406, headers: { accept: 'text/html' } }),
  post('a page of another origin', PING, { status: 403, headers: { ...ACCEPT, origin: 'https://evil.example' }, json: rpc(-32000) }),
  post('a name that was rebound', PING, { status: 403, headers: { ...ACCEPT, host: 'evil.example' }, json: rpc(-32000) }),
  post('a method that there is not', { ...PING, method: 'dance' }, { contains: ['-32601'] }),
  post('a message before any agreement', PING, { contains: ['"result":{}'] }),
  post('several messages of an old client', [PING, { ...PING, id: 2 }], { contains: ['"id":1', '"id":2'] }),
  post('a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }, { status: 202 }),
];
