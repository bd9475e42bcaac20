import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCEPT, inProcess, PING, stage } from '../../support/mcp/server-stage.js';
import { MCP_CLIENTS, type McpClient } from '../../support/mcp-clients.js';
import { send } from '../../support/scenario.js';

/** An address that offers a part of the projects and tools. */
export function holdsScopes(): void {
  describe('an address of /mcp with a scope', () => {
    const connect = (query: string): Promise<McpClient> =>
      MCP_CLIENTS['the client of SDK 1']!(new URL(`http://localhost/mcp?${query}`), inProcess);

    it('offers one project, whose name its tools know', async () => {
      const client = await connect('project=mcp/talk');
      const { tools } = await client.listTools();
      assert.ok(!tools.some(({ name }) => /^projects?_(?:list|create)$/.test(name)));
      const query = tools.find(({ name }) => name === 'rag_query')!;
      assert.deepEqual(query.inputSchema.required, ['query']);
      assert.ok(!('namespace' in (query.inputSchema.properties as object)));
      const { structuredContent } = await client.callTool({ name: 'project_get' });
      assert.equal(structuredContent.project.name, 'talk');
      const { isError } = await client.callTool({ name: 'project_get', arguments: { namespace: 'mcp', project: 'p' } });
      assert.equal(isError, true);
      await assert.rejects(client.callTool({ name: 'projects_list', arguments: { namespace: 'mcp' } }), /no tool/);
      const { resources } = await client.listResources();
      assert.ok(resources.every(({ uri }) => uri.startsWith('quern://projects/mcp/talk')));
      await assert.rejects(client.readResource({ uri: 'quern://projects/mcp/p' }), /for the project mcp\/talk only/);
      assert.deepEqual(
        (await client.listPrompts()).prompts.map(({ name }) => name),
        ['mcp/talk/base', 'mcp/talk/greet'],
      );
      await assert.rejects(client.getPrompt({ name: 'mcp/p/base' }), /for the project mcp\/talk only/);
      const ref = { type: 'ref/resource', uri: 'quern://projects/{namespace}/{project}' };
      assert.deepEqual(
        (await client.complete({ ref, argument: { name: 'project', value: '' }, context: { arguments: { namespace: 'mcp' } } })).completion
          .values,
        ['talk'],
      );
      await client.close();
    });

    it('offers the tools that it names, or those that only read', async () => {
      const some = await connect('tools=rag_query,chat_completions');
      assert.deepEqual(
        (await some.listTools()).tools.map(({ name }) => name),
        ['chat_completions', 'rag_query'],
      );
      await assert.rejects(
        some.callTool({ name: 'project_get', arguments: { namespace: 'mcp', project: 'p' } }),
        /known are: chat_completions, rag_query/,
      );
      const reading = await connect('read_only=yes');
      const { tools } = await reading.listTools();
      assert.ok(tools.length >= 7 && tools.every(({ annotations }) => annotations?.readOnlyHint === true));
      await assert.rejects(reading.callTool({ name: 'project_delete', arguments: { namespace: 'mcp', project: 'p' } }), /no tool/);
      await assert.rejects((await connect('tools=dance')).listTools(), /no tool "dance"; known are: projects_list/);
    });

    it('must be one', async () => {
      for (const query of ['project=p', 'project=a/b/c', 'read_only=perhaps']) {
        const answer = await send(stage.application, { method: 'POST', path: `/mcp?${query}`, headers: ACCEPT, body: PING });
        assert.equal(answer.status, 400, query);
        assert.match(answer.text, /project|read_only/);
      }
    });
  });
}
