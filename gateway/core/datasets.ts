import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import type { DatasetCreate } from '../../schemas/generated/core/datasets.js';
import { datasetFileEndpoints } from './dataset-files.js';
import { DATASETS, type DatasetContext, place } from './dataset-place.js';
import { datasetWorkEndpoints } from './dataset-work.js';

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
      json: await datasets.list(params.namespace!, params.project!, { details: query.include_extra_details !== false }),
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
    handler: ({ datasets }, { params }) => ({ json: datasets.strategies(params.namespace!, params.project!) }),
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
      json: { dataset: await datasets.create(params.namespace!, params.project!, body as DatasetCreate) },
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
      return { json: { dataset: await datasets.delete(...place(request), { files: files === true, chunks: chunks === true }) } };
    },
  }),
  ...datasetFileEndpoints,
  ...datasetWorkEndpoints,
];
