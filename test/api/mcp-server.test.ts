import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { writeProject } from '../support/dataset-stage.js';
import { ACCEPT, formOf, inProcess, lasting, openProjects, PING, rpc, stage, TOOLS, URL_OF_MCP } from '../support/mcp/server-stage.js';
import { MCP_CLIENTS, type McpClient } from '../support/mcp-clients.js';
import { DOCUMENTS_PROJECT } from '../support/retrieval-project.js';
import { scenarios, send } from '../support/scenario.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';
import { callsTools } from './mcp-server/calls.js';
import { MESSAGES } from './mcp-server/messages.js';
import { readsResources } from './mcp-server/resources.js';
import { holdsScopes } from './mcp-server/scopes.js';
import { TWINS } from './mcp-server/twins.js';

before(openProjects);
after(() => stage.close());

for (const [title, connect] of Object.entries(MCP_CLIENTS)) {
  describe(`${title} at /mcp`, () => {
    let client: McpClient;
    before(async () => {
      client = await connect(URL_OF_MCP, inProcess);
    });
    after(() => client.close());
    callsTools(title, () => client);
    readsResources(() => client);
  });
}

describe('a tool of /mcp', () => {
  let client: McpClient;
  let tools: Awaited<ReturnType<McpClient['listTools']>>['tools'];
  const validators = new Map<string, ValidateFunction>();
  before(async () => {
    client = await MCP_CLIENTS['the client of SDK 2 that asks for 2026']!(URL_OF_MCP, inProcess);
    ({ tools } = await client.listTools());
    for (const { name, inputSchema } of tools)
      validators.set(name, new Ajv2020({ strict: false, validateFormats: false }).compile(inputSchema));
    const remembering = `${DOCUMENTS_PROJECT}\nmemory: {stores: [{name: main, working_memory: {}, graph: {}}]}\n`;
    writeProject(stage.dataDir, 'web2', 'p', remembering);
    writeProject(stage.dataDir, 'mcp2', 'p', remembering);
    stage.provider.say(() => [{ type: 'text', text: 'Yes.' }, FINISH]);
  });
  after(() => client.close());

  it('takes arguments by a schema that clients can compile, under a name that models can call', async () => {
    for (const { name, inputSchema, annotations } of tools) {
      assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
      assert.equal(inputSchema.type, 'object');
      assert.equal(typeof annotations?.readOnlyHint, 'boolean', name);
    }
    assert.deepEqual(new Set(TWINS.map(({ tool }) => tool)), new Set(TOOLS));
  });

  for (const { tool, given, request } of TWINS) {
    it(`answers as ${request[0]} ${request[1]} does: ${tool}`, async () => {
      const [method, path, body] = request;
      const args = { namespace: 'mcp2', ...given };
      const validate = validators.get(tool)!;
      const answer = await client.callTool({ name: tool, arguments: args });
      const sent = Array.isArray(body) ? await formOf(body[0], body[1]) : body === undefined ? {} : { body };
      const told = await send(stage.application, {
        method,
        path: path.replace('{ns}', 'web2'),
        ...sent,
        headers: { 'x-no-session': '1', ...('headers' in sent ? (sent.headers as object) : {}) },
      });
      const text = told.text.replaceAll('"web2"', '"web"').replaceAll('web2/', 'web/');
      assert.deepEqual(lasting(answer.structuredContent), lasting(JSON.parse(text)));
      assert.equal(answer.isError ?? false, told.status >= 400);
      // A schema says yes wherever the API does.
      if (told.status < 400) assert.ok(validate(args), JSON.stringify(validate.errors));
    });
  }
});

holdsScopes();
scenarios('messages that are none', { endpoints: coreEndpoints, context: () => stage }, MESSAGES);

describe('/mcp of a daemon with a key', () => {
  it('wants the key, in words of the protocol', async () => {
    const application = dispatch({ endpoints: coreEndpoints, context: stage, access: { bindHost: '127.0.0.1', apiKey: 'k3y' } });
    const ask = (headers: Record<string, string>): ReturnType<typeof send> =>
      send(application, { method: 'POST', path: '/mcp', headers: { ...ACCEPT, ...headers }, body: PING });
    const refused = await ask({});
    assert.equal(refused.status, 401);
    rpc(-32000)(JSON.parse(refused.text));
    assert.equal((await ask({ authorization: 'Bearer k3y' })).status, 200);
  });
});
