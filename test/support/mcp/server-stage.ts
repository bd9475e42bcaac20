// What the tests of test/api/mcp-server share: projects, the address of the MCP server, and messages to it.
import assert from 'node:assert/strict';
import { setLogLevel } from '../../../runtime/base/log.js';
import { writeProject } from '../dataset-stage.js';
import { RecordedExchange } from '../exchange.js';
import { DOCUMENTS_PROJECT } from '../retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from '../retrieval-stage.js';

setLogLevel('error');
export const URL_OF_MCP = new URL('http://localhost/mcp');
const PROMPTS = `${DOCUMENTS_PROJECT}`.replace(
  'prompts:\n',
  'prompts:\n  - {name: greet, messages: [{role: system, content: "You are {{role | a clerk}}."}, {role: assistant, content: "Hello {{name}}!"}, {role: user, content: "{{name}}, {{role}}"}]}\n',
);

export let stage: RetrievalStage;
/** Opens the stage with the projects that the tests read. */
export async function openProjects(): Promise<void> {
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
}

/** Sends what a client asks to the stage; a request that is aborted closes its connection. */
export async function inProcess(url: string | URL, init: RequestInit = {}): Promise<Response> {
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

/** The names of the tools, in the order in which they are listed. */
export const TOOLS = [
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

/** A file as a form: the headers and the body of a request. */
export async function formOf(name: string, content: string, type = ''): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const form = new FormData();
  form.append('file', new Blob([content], { type }), name);
  const sent = new Response(form);
  return { headers: { 'content-type': sent.headers.get('content-type')! }, body: Buffer.from(await sent.arrayBuffer()) };
}

/** Headers of a client that reads streams. */
export const ACCEPT = { accept: 'application/json, text/event-stream' };
/** The shortest message that is answered. */
export const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
/** Checks that a body is an error of JSON-RPC with this code, which answers no message of its own. */
export const rpc = (code: number) => (body: { jsonrpc: string; id: unknown; error: { code: number } }) => {
  assert.equal(body.jsonrpc, '2.0');
  assert.equal(body.id, null);
  assert.equal(body.error.code, code);
};

/** An answer without what differs from call to call. */
export function lasting(body: unknown): unknown {
  const text = JSON.stringify(body).replaceAll('"mcp2"', '"web"').replaceAll('mcp2/', 'web/');
  return JSON.parse(text, (name, value) =>
    /^(?:request_id|timestamp|created|id|processing_time_ms|last_modified|resolved_file_name|input|uuid|added_at|recency|score)$/.test(name)
      ? undefined
      : value,
  );
}
