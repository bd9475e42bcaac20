import { dispatch } from '../../../gateway/http/dispatch.js';
import { createTransport } from '../../../gateway/http/index.js';
import { mcpEndpoint } from '../../../gateway/mcp/endpoint.js';
import { McpTransport } from '../../../gateway/mcp/transport.js';
import { setLogLevel } from '../../../runtime/base/log.js';
import { fixtureServer } from './fixture.js';

// A program: serves the fixture at /mcp by our own dispatch and transport, and prints its address.
setLogLevel('error');
const transport = new McpTransport(fixtureServer, new AbortController().signal);
const endpoint = {
  ...mcpEndpoint([]),
  handler: (_context: object, request: Parameters<McpTransport['answer']>[0]) => transport.answer(request),
};
const application = dispatch<object>({ endpoints: [endpoint], context: {}, access: { bindHost: '127.0.0.1' } });
const { port } = await createTransport().listen({ host: '127.0.0.1', port: 0, application });
process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
