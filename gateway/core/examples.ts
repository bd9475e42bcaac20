import type { Examples } from '../../runtime/examples/examples.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import type { ImportData, ImportDataset, ImportProject } from '../../schemas/generated/core/examples.js';

const EXAMPLES = '/v1/examples';
const tag = 'examples';

/** What the example endpoints work on. */
export interface ExamplesContext {
  readonly examples: Examples;
}

/** Example projects: what there is, and their import. */
export const exampleEndpoints: Endpoint<ExamplesContext>[] = [
  endpoint<ExamplesContext>({
    method: 'GET',
    path: EXAMPLES,
    id: 'examples_list',
    access: 'users',
    summary: 'List the example projects',
    tag,
    response: 'core/examples#ExampleList',
    handler: async ({ examples }) => ({ json: { examples: await examples.list() } }),
  }),
  endpoint<ExamplesContext>({
    method: 'GET',
    path: `${EXAMPLES}/datasets`,
    id: 'examples_datasets',
    access: 'users',
    summary: 'List the datasets of all example projects',
    tag,
    response: 'core/examples#ExampleDatasetList',
    handler: async ({ examples }) => ({ json: { datasets: await examples.datasets() } }),
  }),
  endpoint<ExamplesContext>({
    method: 'GET',
    path: `${EXAMPLES}/{example_id}/datasets`,
    id: 'example_datasets',
    access: 'users',
    summary: 'List the datasets of an example project',
    tag,
    response: 'core/examples#ExampleDatasetList',
    handler: async ({ examples }, { params }) => ({ json: { datasets: await examples.datasets(params.example_id!) } }),
  }),
  endpoint<ExamplesContext>({
    method: 'POST',
    path: `${EXAMPLES}/{example_id}/import-project`,
    id: 'example_import_project',
    access: 'founders',
    summary: 'Make a project of an example',
    tag,
    body: 'core/examples#ImportProject',
    response: 'core/examples#ImportReply',
    handler: async ({ examples }, { params, body }) => ({ json: await examples.importProject(params.example_id!, body as ImportProject) }),
  }),
  endpoint<ExamplesContext>({
    method: 'POST',
    path: `${EXAMPLES}/{example_id}/import-data`,
    id: 'example_import_data',
    access: 'writers',
    summary: 'Add the datasets of an example to a project',
    tag,
    body: 'core/examples#ImportData',
    response: 'core/examples#ImportReply',
    handler: async ({ examples }, { params, body }) => ({ json: await examples.importData(params.example_id!, body as ImportData) }),
  }),
  endpoint<ExamplesContext>({
    method: 'POST',
    path: `${EXAMPLES}/{example_id}/import-dataset`,
    id: 'example_import_dataset',
    access: 'writers',
    summary: 'Add one dataset of an example to a project',
    tag,
    body: 'core/examples#ImportDataset',
    response: 'core/examples#ImportDatasetReply',
    handler: async ({ examples }, { params, body }) => ({ json: await examples.importDataset(params.example_id!, body as ImportDataset) }),
  }),
];
