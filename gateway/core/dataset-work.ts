import { PROCESSING_STARTED } from '../../runtime/library/datasets/processing.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ActionReply, ActionRequest } from '../../schemas/generated/core/datasets.js';
import type { CancelReply } from '../../schemas/generated/core/tasks.js';
import { DATASET, type DatasetContext, place } from './dataset-place.js';

async function act({ datasets }: DatasetContext, request: Request): Promise<ActionReply> {
  const { action_type: action, file_hash: hash, parser_overrides: overrides } = request.body as ActionRequest;
  const where = place(request);
  if (action === 'delete_dataset_chunks') {
    const { chunks, filesCleared, filesFailed } = await datasets.removal.datasetChunks(...where);
    return {
      message: `Deleted ${chunks} chunk(s) of ${filesCleared} file(s)`,
      total_deleted_chunks: chunks,
      total_files_cleared: filesCleared,
      total_files_failed: filesFailed,
    };
  }
  if (action === 'delete_file_chunks') {
    if (!hash) throw new Failure('bad_request', 'delete_file_chunks needs file_hash: the file whose chunks are to be removed.');
    const chunks = await datasets.removal.fileChunks(...where, hash);
    return { message: `Deleted ${chunks} chunk(s)`, file_hash: hash, deleted_chunks: chunks };
  }
  const id = await datasets.processing.start(...where, { ...(hash ? { hashes: [hash] } : {}), overrides });
  const [namespace, project] = where.map(encodeURIComponent);
  const uri = `http://${request.header('host') ?? 'localhost'}/v1/projects/${namespace}/${project}/tasks/${id}`;
  return { message: PROCESSING_STARTED, task_uri: uri, task_id: id };
}

async function cancel({ datasets, tasks }: DatasetContext, request: Request): Promise<CancelReply> {
  const [namespace, project] = place(request);
  datasets.find(...place(request));
  const id = request.query.task_id as string | undefined;
  if (id === undefined) throw new Failure('not_found', 'Name the task to cancel in the query: ?task_id=<id>.');
  const reply = await tasks.cancel(namespace, project, id);
  if (reply.already_completed) throw new Failure('bad_request', `Task ${id} cannot be cancelled: it is finished.`);
  return reply;
}

/** The endpoints for work on a dataset: actions, clean-up, and the older processing routes. */
export const datasetWorkEndpoints: Endpoint<DatasetContext>[] = [
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/actions`,
    id: 'dataset_actions',
    access: 'writers',
    summary: 'Process a dataset in a task, or remove chunks of it',
    tag: 'datasets',
    tool: 'removes',
    body: 'core/datasets#ActionRequest',
    response: 'core/datasets#ActionReply',
    handler: async (context, request) => ({ json: await act(context, request) }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/cleanup/{file_hash}`,
    id: 'dataset_cleanup_file',
    access: 'writers',
    summary: 'Remove every chunk of a file from the database of a dataset',
    tag: 'datasets',
    tool: 'removes',
    response: 'core/datasets#CleanupReply',
    handler: async ({ datasets }, request) => ({ json: await datasets.removal.cleanUp(...place(request), request.params.file_hash!) }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/process`,
    id: 'dataset_process',
    access: 'writers',
    summary: 'Process a dataset and wait for the end (older clients; use actions)',
    tag: 'datasets',
    query: 'core/datasets#ProcessQuery',
    response: 'core/datasets#ProcessReply',
    handler: async ({ datasets }, request) => ({
      json: await datasets.processing.run(...place(request), { wait: request.query.async_processing !== true, signal: request.signal }),
    }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/process/cancel`,
    id: 'dataset_process_cancel',
    access: 'writers',
    summary: 'Cancel the processing of a dataset (older clients; use DELETE on the task)',
    tag: 'datasets',
    tool: 'removes',
    query: 'core/datasets#CancelQuery',
    response: 'core/tasks#CancelReply',
    handler: async (context, request) => ({ json: await cancel(context, request) }),
  }),
];
