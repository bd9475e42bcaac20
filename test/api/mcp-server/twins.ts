/** An operation as a tool and as a request; `{ns}` stands for the namespace, which is another one for each of the two. */
export interface Twin {
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
export const TWINS: readonly Twin[] = [
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
