import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MAX_RESULT_CHARS } from '../../../gateway/mcp/tools.js';
import { lasting, stage, TOOLS } from '../../support/mcp/server-stage.js';
import type { McpClient } from '../../support/mcp-clients.js';
import { send } from '../../support/scenario.js';
import { until } from '../../support/until.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** A client that lists the tools and calls them. */
export function callsTools(title: string, client: () => McpClient): void {
  it('finds the operations that are marked as tools', async () => {
    assert.equal(client().getServerVersion()?.name, 'quern');
    assert.match(client().getInstructions() ?? '', /projects_list/);
    const { tools } = await client().listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      TOOLS,
    );
  });

  it('calls one, and gets what the API answers', async () => {
    const { structuredContent, content } = await client().callTool({ name: 'models_list', arguments: { namespace: 'mcp', project: 'p' } });
    assert.deepEqual(lasting(structuredContent), lasting(await stage.call('GET', '/v1/projects/mcp/p/models')));
    assert.deepEqual(JSON.parse(content[0]!.text), structuredContent);
  });

  it('asks a model, and sees the text while it is written', async ({ mock }) => {
    let now = performance.now();
    mock.method(performance, 'now', () => now);
    const pause = (): void => {
      now += 1_000;
    };
    stage.provider.say(() => [
      { type: 'text', text: 'One ' },
      pause,
      { type: 'text', text: 'two ' },
      { type: 'text', text: 'three' },
      FINISH,
    ]);
    const seen: unknown[] = [];
    const asked = { namespace: 'mcp', project: 'p', messages: [{ role: 'user', content: 'Count' }], max_tokens: 9, rag_enabled: false };
    const answer = await client().callTool({ name: 'chat_completions', arguments: asked }, { onprogress: (step) => seen.push(step) });
    assert.equal(answer.content[0]!.text, 'One two three');
    assert.equal(answer.structuredContent.choices[0].message.content, 'One two three');
    assert.deepEqual(seen, [
      { progress: 2, total: 9, message: 'One two ' },
      { progress: 3, total: 9, message: 'three' },
    ]);
  });

  it('keeps a conversation under the id that it gives', async () => {
    stage.provider.say(() => [{ type: 'text', text: 'Yes.' }, FINISH]);
    const ask = (content: string, more: object = {}): Promise<unknown> =>
      client().callTool({
        name: 'chat_completions',
        arguments: { namespace: 'mcp', project: 'p', messages: [{ role: 'user', content }], rag_enabled: false, ...more },
      });
    const session = { session_id: `talk-${title.length}` };
    await ask('first', session);
    await ask('second', session);
    const { messages } = await stage.call('GET', `/v1/projects/mcp/p/chat/sessions/${session.session_id}/history`);
    assert.equal(messages.length, 4);
    const before = stage.provider.asked.length;
    await ask('alone');
    assert.equal(stage.provider.asked[before]!.request.messages.filter(({ role }) => role === 'user').length, 1);
  });

  it('is told the steps of a search', async () => {
    const steps: (string | undefined)[] = [];
    const call = { name: 'rag_query', arguments: { namespace: 'mcp', project: 'p', query: 'volcano' } };
    const { structuredContent } = await client().callTool(call, { onprogress: ({ message }) => steps.push(message) });
    assert.equal(structuredContent.query, 'volcano');
    assert.deepEqual(steps, ['Embedding the question', 'Searching']);
  });

  it('reads failures in words and as the API tells them', async () => {
    const call = { name: 'project_get', arguments: { namespace: 'mcp', project: 'nobody' } };
    const { isError, content, structuredContent } = await client().callTool(call);
    const told = await send(stage.application, { path: '/v1/projects/mcp/nobody' });
    const { request_id: _id, ...body } = JSON.parse(told.text);
    assert.equal(isError, true);
    assert.equal(content[0]!.text, body.message);
    const { request_id: _own, ...got } = structuredContent;
    assert.deepEqual(got, body);
  });

  it('is told of arguments that are missing, wrong or unknown', async () => {
    const text = async (name: string, args: Record<string, unknown>): Promise<string> => {
      const { isError, content } = await client().callTool({ name, arguments: args });
      assert.equal(isError, true);
      return content[0]!.text;
    };
    assert.match(await text('project_get', { namespace: 'mcp' }), /argument "project" must be a text/);
    assert.match(await text('project_get', { namespace: 'mcp', project: 7 }), /argument "project" must be a text/);
    assert.match(
      await text('project_get', { namespace: 'mcp', project: 'p', name: 'p' }),
      /no argument "name"; it has: namespace, project/,
    );
    assert.match(await text('rag_query', { namespace: 'mcp', project: 'p', query: 'a', top_k: 'many' }), /top_k/);
    assert.match(await text('dataset_list', { namespace: 'mcp', project: 'p', include_extra_details: 'perhaps' }), /include_extra_details/);
    assert.match(await text('chat_completions', { namespace: 'mcp', project: 'p', messages: [], session_id: 1 }), /session_id/);
    assert.match(await text('project_get', { namespace: '..', project: 'p' }), /Nothing answers at GET /);
    assert.match(await text('project_get', { namespace: '\ud800', project: 'p' }), /argument "namespace" must be a text/);
    assert.match(await text('project_get', { namespace: 'a'.repeat(20_000), project: 'p' }), /may have 16384 characters together/);
    assert.match(await text('dataset_data_upload', { namespace: 'mcp', project: 'p', dataset: 'docs', file: 'text' }), /object/);
  });

  it('refuses an unknown tool with the names of those that are', async () => {
    await assert.rejects(client().callTool({ name: 'dance' }), /no tool "dance"; known are: projects_list/);
  });

  it('ends the work of a call that it cancels', async () => {
    const left = stage.provider.left;
    let opened!: () => void;
    const isOpen = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve());
        opened();
      });
    stage.provider.say(() => [{ type: 'text', text: 'a' }, untilAborted, { type: 'text', text: 'b' }, FINISH]);
    const asked = { namespace: 'mcp', project: 'p', messages: [{ role: 'user', content: 'Count' }], rag_enabled: false };
    const controller = new AbortController();
    const call = client().callTool({ name: 'chat_completions', arguments: asked }, { signal: controller.signal });
    const refused = assert.rejects(call);
    await isOpen;
    controller.abort();
    await refused;
    await until(() => stage.provider.left > left);
    assert.equal(stage.provider.left, left + 1);
  });

  it('gets the beginning of a result that is too long for a model', async () => {
    const { content, structuredContent } = await client().callTool({
      name: 'project_get',
      arguments: { namespace: 'mcp', project: 'wide' },
    });
    assert.equal(content[0]!.text.length, MAX_RESULT_CHARS);
    assert.match(content[1]!.text, /The result has \d+ characters; these are the first 200000/);
    assert.equal(structuredContent, undefined);
  });
}
