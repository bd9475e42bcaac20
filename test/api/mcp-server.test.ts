import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { MAX_RESULT_CHARS } from '../../gateway/mcp/tools.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { writeProject } from '../support/dataset-stage.js';
import { RecordedExchange } from '../support/exchange.js';
import { MCP_CLIENTS, type McpClient } from '../support/mcp-clients.js';
import { DOCUMENTS_PROJECT } from '../support/retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { type Scenario, scenarios, send } from '../support/scenario.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');
const URL_OF_MCP = new URL('http://localhost/mcp');
const PROMPTS = `${DOCUMENTS_PROJECT}`.replace(
  'prompts:\n',
  'prompts:\n  - {name: greet, messages: [{role: system, content: "You are {{role | a clerk}}."}, {role: assistant, content: "Hello {{name}}!"}, {role: user, content: "{{name}}, {{role}}"}]}\n',
);

let stage: RetrievalStage;
before(async () => {
  stage = await openRetrievalStage();
  writeProject(stage.dataDir, 'web', 'p', DOCUMENTS_PROJECT);
  writeProject(stage.dataDir, 'mcp', 'p', DOCUMENTS_PROJECT);
  writeProject(stage.dataDir, 'mcp', 'talk', PROMPTS.replaceAll('\n  - {name: docs,', '\n  - {name: papers,'));
  writeProject(stage.dataDir, 'mcp', 'broken', 'version: [');
  writeProject(
    stage.dataDir,
    'mcp',
    'wide',
    `version: v1\nruntime: {models: []}\nprompts: [{name: a, messages: [{role: user, content: "${'long '.repeat(60_000)}"}]}]\n`,
  );
});
after(() => stage.close());

/** Sends what a client asks to the stage; a request that is aborted closes its connection. */
async function inProcess(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const exchange = new RecordedExchange({
    method: init.method ?? 'GET',
    path: new URL(url).pathname + new URL(url).search,
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === 'string' ? { body: init.body } : {}),
  });
  stage.application.request(exchange);
  let leave!: (reason: unknown) => void;
  const left = new Promise<never>((_resolve, reject) => {
    leave = reject;
  });
  init.signal?.addEventListener('abort', () => {
    exchange.leave();
    leave(init.signal!.reason);
  });
  const { status, headers, text } = await Promise.race([exchange.done, left]);
  return new Response(status === 202 || status === 204 ? null : text, { status, headers });
}

const TOOLS = [
  'projects_list',
  'project_create',
  'project_get',
  'project_update',
  'project_delete',
  'models_list',
  'chat_completions',
  'dataset_list',
  'dataset_strategies_list',
  'dataset_create',
  'dataset_delete',
  'dataset_data_upload',
  'dataset_actions',
  'dataset_cleanup_file',
  'dataset_process_cancel',
  'task_get',
  'task_cancel',
  'rag_query',
  'database_create',
  'database_get',
  'database_update',
  'database_delete',
  'remember',
  'forget',
  'recall',
];

for (const [title, connect] of Object.entries(MCP_CLIENTS)) {
  describe(`${title} at /mcp`, () => {
    let client: McpClient;
    before(async () => {
      client = await connect(URL_OF_MCP, inProcess);
    });
    after(() => client.close());

    it('finds the operations that are marked as tools', async () => {
      assert.equal(client.getServerVersion()?.name, 'quern');
      assert.match(client.getInstructions() ?? '', /projects_list/);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        TOOLS,
      );
    });

    it('calls one, and gets what the API answers', async () => {
      const { structuredContent, content } = await client.callTool({ name: 'models_list', arguments: { namespace: 'mcp', project: 'p' } });
      assert.deepEqual(structuredContent, await stage.call('GET', '/v1/projects/mcp/p/models'));
      assert.deepEqual(JSON.parse(content[0]!.text), structuredContent);
    });

    it('asks a model, and sees the text while it is written', async () => {
      const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 110));
      stage.provider.say(() => [
        { type: 'text', text: 'One ' },
        pause(),
        { type: 'text', text: 'two ' },
        { type: 'text', text: 'three' },
        FINISH,
      ]);
      const seen: unknown[] = [];
      const asked = { namespace: 'mcp', project: 'p', messages: [{ role: 'user', content: 'Count' }], max_tokens: 9, rag_enabled: false };
      const answer = await client.callTool({ name: 'chat_completions', arguments: asked }, { onprogress: (step) => seen.push(step) });
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
        client.callTool({
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
      const { structuredContent } = await client.callTool(call, { onprogress: ({ message }) => steps.push(message) });
      assert.equal(structuredContent.query, 'volcano');
      assert.deepEqual(steps, ['Embedding the question', 'Searching']);
    });

    it('reads failures in words and as the API tells them', async () => {
      const call = { name: 'project_get', arguments: { namespace: 'mcp', project: 'nobody' } };
      const { isError, content, structuredContent } = await client.callTool(call);
      const told = await send(stage.application, { path: '/v1/projects/mcp/nobody' });
      const { request_id: _id, ...body } = JSON.parse(told.text);
      assert.equal(isError, true);
      assert.equal(content[0]!.text, body.message);
      const { request_id: _own, ...got } = structuredContent;
      assert.deepEqual(got, body);
    });

    it('is told of arguments that are missing, wrong or unknown', async () => {
      const text = async (name: string, args: Record<string, unknown>): Promise<string> => {
        const { isError, content } = await client.callTool({ name, arguments: args });
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
      assert.match(
        await text('dataset_list', { namespace: 'mcp', project: 'p', include_extra_details: 'perhaps' }),
        /include_extra_details/,
      );
      assert.match(await text('chat_completions', { namespace: 'mcp', project: 'p', messages: [], session_id: 1 }), /session_id/);
      assert.match(await text('project_get', { namespace: '..', project: 'p' }), /Not Found/);
      assert.match(await text('project_get', { namespace: '\ud800', project: 'p' }), /argument "namespace" must be a text/);
      assert.match(await text('project_get', { namespace: 'a'.repeat(20_000), project: 'p' }), /may have 16384 characters together/);
      assert.match(await text('dataset_data_upload', { namespace: 'mcp', project: 'p', dataset: 'docs', file: 'text' }), /object/);
    });

    it('refuses an unknown tool with the names of those that are', async () => {
      await assert.rejects(client.callTool({ name: 'dance' }), /no tool "dance"; known are: projects_list/);
    });

    it('ends the work of a call that it cancels', async () => {
      const left = stage.provider.left;
      let opened!: () => void;
      const isOpen = new Promise<void>((resolve) => {
        opened = resolve;
      });
      stage.provider.say(() => {
        opened();
        return [{ type: 'text', text: 'a' }, new Promise((resolve) => setTimeout(resolve, 150)), { type: 'text', text: 'b' }, FINISH];
      });
      const asked = { namespace: 'mcp', project: 'p', messages: [{ role: 'user', content: 'Count' }], rag_enabled: false };
      const controller = new AbortController();
      const call = client.callTool({ name: 'chat_completions', arguments: asked }, { signal: controller.signal });
      const refused = assert.rejects(call);
      await isOpen;
      controller.abort();
      await refused;
      await new Promise((resolve) => setTimeout(resolve, 250));
      assert.equal(stage.provider.left, left + 1);
    });

    it('finds projects, their documents and their texts', async () => {
      const { hash } = await uploaded('mcp', 'volcano größe.txt', 'Etna erupts.');
      const uris: string[] = [];
      for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
        const answer = await client.listResources(cursor === undefined ? {} : { cursor });
        uris.push(...answer.resources.map(({ uri }) => uri));
        cursor = answer.nextCursor;
      }
      const document = `quern://projects/mcp/p/docs/${hash}`;
      for (const uri of ['quern://projects/mcp/p', document, 'quern://projects/web/p'])
        assert.ok(uris.includes(uri), `${uri} in ${uris.join(' ')}`);
      assert.ok(!uris.some((uri) => uri.includes('broken')));
      for (const uri of [document, `quern://projects/mcp/p/docs/${encodeURIComponent('volcano größe.txt')}`])
        assert.deepEqual((await client.readResource({ uri })).contents, [{ uri, mimeType: 'text/plain', text: 'Etna erupts.' }]);
      const [project] = (await client.readResource({ uri: 'quern://projects/mcp/p' })).contents;
      assert.equal(JSON.parse(project!.text!).name, 'p');
      assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
    });

    it('completes the parts of an address', async () => {
      const ref = { type: 'ref/resource', uri: 'quern://projects/{namespace}/{project}/{dataset}/{document}' };
      const values = async (name: string, value: string, args: Record<string, string> = {}): Promise<string[]> =>
        (await client.complete({ ref, argument: { name, value }, context: { arguments: args } })).completion.values;
      assert.deepEqual(await values('namespace', 'M'), ['mcp']);
      assert.deepEqual(await values('project', '', { namespace: 'mcp' }), ['broken', 'p', 'talk', 'wide']);
      assert.deepEqual(await values('dataset', 'd', { namespace: 'mcp', project: 'p' }), ['docs']);
      assert.deepEqual(await values('document', 'vol', { namespace: 'mcp', project: 'p', dataset: 'docs' }), ['volcano größe.txt']);
      assert.deepEqual(await values('document', '', { namespace: '..', project: 'p', dataset: 'docs' }), []);
      assert.deepEqual(await values('dance', ''), []);
    });

    it('is told what is no address', async () => {
      for (const uri of [
        'quern://projects/mcp/p/docs/none.txt',
        'quern://projects/mcp',
        'quern://projects/mcp/..',
        'file:///etc/passwd',
        'quern://projects/mcp/%zz',
      ])
        await assert.rejects(client.readResource({ uri }), /none.txt|Nothing stands at/, uri);
      await assert.rejects(client.listResources({ cursor: 'bm9uZQ' }), /cursor/);
    });

    it('finds prompts and fills in their variables', async () => {
      const { prompts } = await client.listPrompts();
      const greet = prompts.find(({ name }) => name === 'mcp/talk/greet');
      assert.deepEqual(
        greet?.arguments?.map(({ name, required }) => [name, required]),
        [
          ['role', true],
          ['name', true],
        ],
      );
      const { messages } = await client.getPrompt({ name: 'mcp/talk/greet', arguments: { name: 'Ada', role: 'a poet' } });
      assert.deepEqual(
        messages.map(({ role, content }) => [role, content.text]),
        [
          ['user', 'You are a poet.'],
          ['assistant', 'Hello Ada!'],
          ['user', 'Ada, a poet'],
        ],
      );
      await assert.rejects(client.getPrompt({ name: 'mcp/talk/greet', arguments: {} }), /\{\{name\}\} has no value/);
      await assert.rejects(client.getPrompt({ name: 'mcp/talk/none' }), /no prompt "none"; it has: greet, base/);
      await assert.rejects(client.getPrompt({ name: 'none' }), /namespace\/project\/prompt/);
    });

    it('gets the beginning of a result that is too long for a model', async () => {
      const { content, structuredContent } = await client.callTool({
        name: 'project_get',
        arguments: { namespace: 'mcp', project: 'wide' },
      });
      assert.equal(content[0]!.text.length, MAX_RESULT_CHARS);
      assert.match(content[1]!.text, /The result has \d+ characters; these are the first 200000/);
      assert.equal(structuredContent, undefined);
    });
  });
}

async function uploaded(namespace: string, name: string, content: string): Promise<{ hash: string }> {
  const form = new FormData();
  form.append('file', new Blob([content], { type: 'text/plain' }), name);
  const sent = new Response(form);
  const headers = { 'content-type': sent.headers.get('content-type')! };
  const body = Buffer.from(await sent.arrayBuffer());
  const answer = await send(stage.application, { method: 'POST', path: `/v1/projects/${namespace}/p/datasets/docs/data`, headers, body });
  return JSON.parse(answer.text);
}

/** An operation as a tool and as a request; `{ns}` stands for the namespace, which is another one for each of the two. */
interface Twin {
  readonly tool: string;
  readonly given?: object;
  readonly request: readonly [method: string, path: string, body?: unknown];
}

const P = '/v1/projects/{ns}/p';
const HELLO = { messages: [{ role: 'user', content: 'Hello' }], rag_enabled: false };
const SPARE = {
  name: 'extra',
  type: 'NativeStore',
  embedding_strategies: [{ name: 'w', type: 'LexicalEmbedder' }],
  retrieval_strategies: [{ name: 'n', type: 'BM25Retriever', default: true }],
};
const HASH = '185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969';
/** In this order, each after what the ones before it have done; every tool once at least. */
const TWINS: readonly Twin[] = [
  { tool: 'projects_list', request: ['GET', '/v1/projects/{ns}'] },
  { tool: 'project_create', given: { name: 'new' }, request: ['POST', '/v1/projects/{ns}', { name: 'new' }] },
  { tool: 'project_create', given: { name: 'new' }, request: ['POST', '/v1/projects/{ns}', { name: 'new' }] },
  { tool: 'project_get', given: { project: 'p' }, request: ['GET', P] },
  { tool: 'models_list', given: { project: 'p' }, request: ['GET', `${P}/models`] },
  { tool: 'chat_completions', given: { project: 'p', ...HELLO }, request: ['POST', `${P}/chat/completions`, HELLO] },
  {
    tool: 'dataset_create',
    given: { project: 'p', name: 'more', database: 'first_db', data_processing_strategy: 'texts' },
    request: ['POST', `${P}/datasets`, { name: 'more', database: 'first_db', data_processing_strategy: 'texts' }],
  },
  {
    tool: 'dataset_data_upload',
    given: { project: 'p', dataset: 'more', file: { name: 'Grüße "1".txt', content: 'SGVsbG8=', encoding: 'base64' } },
    request: ['POST', `${P}/datasets/more/data`, ['Grüße "1".txt', 'Hello']],
  },
  { tool: 'dataset_list', given: { project: 'p' }, request: ['GET', `${P}/datasets`] },
  {
    tool: 'dataset_list',
    given: { project: 'p', include_extra_details: false },
    request: ['GET', `${P}/datasets?include_extra_details=false`],
  },
  { tool: 'dataset_strategies_list', given: { project: 'p' }, request: ['GET', `${P}/datasets/strategies`] },
  {
    tool: 'dataset_actions',
    given: { project: 'p', dataset: 'more', action_type: 'delete_dataset_chunks' },
    request: ['POST', `${P}/datasets/more/actions`, { action_type: 'delete_dataset_chunks' }],
  },
  {
    tool: 'dataset_actions',
    given: { project: 'p', dataset: 'more', action_type: 'dance' },
    request: ['POST', `${P}/datasets/more/actions`, { action_type: 'dance' }],
  },
  {
    tool: 'dataset_cleanup_file',
    given: { project: 'p', dataset: 'more', file_hash: HASH },
    request: ['POST', `${P}/datasets/more/cleanup/${HASH}`],
  },
  {
    tool: 'dataset_process_cancel',
    given: { project: 'p', dataset: 'more', task_id: 'none' },
    request: ['POST', `${P}/datasets/more/process/cancel?task_id=none`],
  },
  { tool: 'task_get', given: { project: 'p', task_id: 'none' }, request: ['GET', `${P}/tasks/none`] },
  { tool: 'task_cancel', given: { project: 'p', task_id: 'none' }, request: ['DELETE', `${P}/tasks/none`] },
  {
    tool: 'rag_query',
    given: { project: 'p', query: 'Hello', top_k: 2 },
    request: ['POST', `${P}/rag/query`, { query: 'Hello', top_k: 2 }],
  },
  { tool: 'database_create', given: { project: 'p', ...SPARE }, request: ['POST', `${P}/rag/databases`, SPARE] },
  { tool: 'database_get', given: { project: 'p', database_name: 'extra' }, request: ['GET', `${P}/rag/databases/extra`] },
  {
    tool: 'database_update',
    given: { project: 'p', database_name: 'extra', config: { m: 8 } },
    request: ['PATCH', `${P}/rag/databases/extra`, { config: { m: 8 } }],
  },
  {
    tool: 'database_delete',
    given: { project: 'p', database_name: 'extra', delete_collection: true },
    request: ['DELETE', `${P}/rag/databases/extra?delete_collection=true`],
  },
  {
    tool: 'dataset_delete',
    given: { project: 'p', dataset: 'more', remove_from_disk: true },
    request: ['DELETE', `${P}/datasets/more?remove_from_disk=true`],
  },
  { tool: 'project_update', given: { project: 'p', config: { version: 'v1' } }, request: ['PUT', P, { config: { version: 'v1' } }] },
  { tool: 'project_delete', given: { project: 'new', purge: true }, request: ['DELETE', '/v1/projects/{ns}/new?purge=true'] },
  {
    tool: 'remember',
    given: { project: 'p', data: 'My boat is called Kittiwake.', user_id: 'ann' },
    request: ['POST', `${P}/memory/add`, { data: 'My boat is called Kittiwake.', user_id: 'ann' }],
  },
  {
    tool: 'recall',
    given: { project: 'p', query: 'What is my boat called?' },
    request: ['POST', `${P}/memory/recall`, { query: 'What is my boat called?' }],
  },
  { tool: 'forget', given: { project: 'p', user_id: 'ann' }, request: ['POST', `${P}/memory/forget`, { user_id: 'ann' }] },
  { tool: 'forget', given: { project: 'p' }, request: ['POST', `${P}/memory/forget`, {}] },
];

/** An answer without what differs from call to call. */
function lasting(body: unknown): unknown {
  const text = JSON.stringify(body).replaceAll('"mcp2"', '"web"').replaceAll('mcp2/', 'web/');
  return JSON.parse(text, (name, value) =>
    /^(?:request_id|timestamp|created|id|processing_time_ms|last_modified|resolved_file_name|input|uuid|added_at|recency|score)$/.test(name)
      ? undefined
      : value,
  );
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

async function formOf(name: string, content: string): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  const sent = new Response(form);
  return { headers: { 'content-type': sent.headers.get('content-type')! }, body: Buffer.from(await sent.arrayBuffer()) };
}

const rpc = (code: number) => (body: { jsonrpc: string; id: unknown; error: { code: number } }) => {
  assert.equal(body.jsonrpc, '2.0');
  assert.equal(body.id, null);
  assert.equal(body.error.code, code);
};
const ACCEPT = { accept: 'application/json, text/event-stream' };
const post = (name: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/mcp',
  headers: ACCEPT,
  body,
  ...more,
});
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

scenarios('messages that are none', { endpoints: coreEndpoints, context: () => stage }, [
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
]);

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
