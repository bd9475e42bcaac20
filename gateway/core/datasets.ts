import { PROCESSING_STARTED } from '../../runtime/library/datasets/processing.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ActionReply, ActionRequest, DatasetCreate } from '../../schemas/generated/core/datasets.js';
import type { CancelReply } from '../../schemas/generated/core/tasks.js';
import { DATASET, DATASETS, type DatasetContext, datasetFileEndpoints, datasetPlace } from './dataset-files.js';
import { placeOf } from './place.js';

async function act({ datasets }: DatasetContext, request: Request): Promise<ActionReply> {
  const { action_type: action, file_hash: hash, parser_overrides: overrides } = request.body as ActionRequest;
  const where = datasetPlace(request);
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
  const [namespace, project] = datasetPlace(request);
  datasets.find(...datasetPlace(request));
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
    handler: async ({ datasets }, request) => ({
      json: await datasets.removal.cleanUp(...datasetPlace(request), request.params.file_hash!),
    }),
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
      json: await datasets.processing.run(...datasetPlace(request), {
        wait: request.query.async_processing !== true,
        signal: request.signal,
      }),
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

/** Everything about datasets: the datasets themselves, their files, and the work on them. */
export const datasetEndpoints: Endpoint<DatasetContext>[] = [
  endpoint<DatasetContext>({
    method: 'GET',
    path: DATASETS,
    id: 'dataset_list',
    access: 'members',
    summary: 'List the datasets of a project',
    tag: 'datasets',
    tool: 'reads',
    query: 'core/datasets#ListQuery',
    response: 'core/datasets#DatasetList',
    handler: async ({ datasets }, { params, query }) => ({
      json: await datasets.list(...placeOf({ params }), { details: query.include_extra_details !== false }),
    }),
  }),
  endpoint<DatasetContext>({
    method: 'GET',
    path: `${DATASETS}/strategies`,
    id: 'dataset_strategies_list',
    access: 'members',
    summary: 'List the processing strategies and databases that a dataset may use',
    tag: 'datasets',
    tool: 'reads',
    response: 'core/datasets#Strategies',
    handler: ({ datasets }, request) => ({ json: datasets.strategies(...placeOf(request)) }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: DATASETS,
    id: 'dataset_create',
    access: 'writers',
    summary: 'Add a dataset to a project',
    tag: 'datasets',
    tool: 'adds',
    body: 'core/datasets#DatasetCreate',
    response: 'core/datasets#DatasetReply',
    handler: async ({ datasets }, { params, body }) => ({
      json: { dataset: await datasets.create(...placeOf({ params }), body as DatasetCreate) },
    }),
  }),
  endpoint<DatasetContext>({
    method: 'DELETE',
    path: `${DATASETS}/{dataset}`,
    id: 'dataset_delete',
    access: 'writers',
    summary: 'Remove a dataset from a project',
    tag: 'datasets',
    tool: 'removes',
    query: 'core/datasets#DatasetDeleteQuery',
    response: 'core/datasets#DatasetReply',
    handler: async ({ datasets }, request) => {
      const { remove_from_disk: files, delete_chunks: chunks } = request.query;
      return { json: { dataset: await datasets.delete(...datasetPlace(request), { files: files === true, chunks: chunks === true }) } };
    },
  }),
  ...datasetFileEndpoints,
  ...datasetWorkEndpoints,
];
