import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { DEFAULT_BODY_BYTES } from '../http/body.js';
import type { Visitor } from '../http/visitor.js';
import type { McpTransport } from './transport.js';

/**
 * `POST /mcp`, where clients of the Model Context Protocol find the operations as tools, documents and prompts. There is no stream to listen to and no
 * session to end, so that GET and DELETE are not allowed, as the protocol has it for such servers.
 */
export function mcpEndpoint(operations: readonly Endpoint<Runtime>[]): Endpoint<Runtime> {
  const transports = new WeakMap<Runtime, Promise<McpTransport>>();
  const open = (runtime: Runtime): Promise<McpTransport> => {
    const opened = transports.get(runtime) ?? import('./server.js').then(({ openMcp }) => openMcp(runtime, operations));
    transports.set(runtime, opened);
    return opened;
  };
  return endpoint<Runtime>({
    method: 'POST',
    path: '/mcp',
    id: 'mcp',
    access: 'users',
    summary: 'Serve a client of the Model Context Protocol',
    tag: 'mcp',
    query: 'core/mcp#Scope',
    body: 'core/mcp#Post',
    // No operation takes a smaller body, so that no call gets past the limit of its own.
    bodyLimitBytes: DEFAULT_BODY_BYTES,
    streams: true,
    errorShape: 'json-rpc',
    // It speaks JSON-RPC, which the document of the API has no words for.
    hidden: true,
    handler: async (runtime, request) => (await open((request.visitor as Visitor<Runtime> | undefined)?.whole ?? runtime)).answer(request),
  });
}
