import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { datasetEndpoints } from '../../gateway/core/datasets.js';
import { taskEndpoints } from '../../gateway/core/tasks.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { openApiDocument } from '../../schemas/openapi.js';
import { openDatasetStage, PROJECT, writeProject } from '../support/dataset-stage.js';
import { STAGE, upload } from '../support/datasets-stage.js';
import { scenarios, send } from '../support/scenario.js';
import { NAMES } from './datasets/names.js';
import { PROCESSING } from './datasets/processing.js';
import { REMOVALS } from './datasets/removals.js';
import { UPLOADS } from './datasets/uploads.js';

scenarios('datasets', STAGE, [...NAMES, ...UPLOADS, ...PROCESSING, ...REMOVALS]);

describe('the dataset and task endpoints', () => {
  it('keep their operation ids, which clients of generated code call', () => {
    assert.deepEqual(
      [...datasetEndpoints, ...taskEndpoints].map(({ id }) => id),
      [
        'dataset_list',
        'dataset_strategies_list',
        'dataset_create',
        'dataset_delete',
        'dataset_data_read',
        'dataset_data_page',
        'dataset_data_chunks',
        'dataset_data_upload',
        'dataset_data_upload_bulk',
        'dataset_data_delete',
        'dataset_actions',
        'dataset_cleanup_file',
        'dataset_process',
        'dataset_process_cancel',
        'tasks_open',
        'task_get',
        'task_cancel',
      ],
    );
  });
});

describe('the form of an upload', () => {
  it('is in the OpenAPI document', () => {
    const { paths, components } = openApiDocument({ title: 't', version: '1' }, datasetEndpoints as never) as never as {
      paths: Record<string, { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }>;
      components: { schemas: Record<string, { required: string[]; properties: Record<string, { format?: string }> }> };
    };
    const { content } = paths['/v1/projects/{namespace}/{project}/datasets/{dataset}/data']!.post.requestBody;
    assert.deepEqual(content, { 'multipart/form-data': { schema: { $ref: '#/components/schemas/UploadForm' } } });
    assert.deepEqual(components.schemas.UploadForm!.required, ['file']);
    assert.equal(components.schemas.UploadForm!.properties.file!.format, 'binary');
  });
});

describe('datasets under load and limits', () => {
  it('takes 50 uploads at once, half of them the same', async () => {
    const busy = await openDatasetStage();
    writeProject(busy.dataDir, 'ns', 'p', PROJECT);
    const application = dispatch({ endpoints: datasetEndpoints, context: busy, access: { bindHost: '127.0.0.1' } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => send(application, upload('docs', `${at}.txt`, `content ${at % 25}`))),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200], answers.find(({ status }) => status !== 200)?.text);
    const added = answers.filter(({ text }) => JSON.parse(text).skipped === false).length;
    assert.equal(added, 25);
    const raw = readdirSync(join(busy.dataDir, 'projects/ns/p/lf_data/datasets/docs/raw'));
    assert.equal(raw.length, 25);
    await busy.close();
  });

  it('keeps datasets made at the same time', async () => {
    const busy = await openDatasetStage();
    writeProject(busy.dataDir, 'ns', 'p', PROJECT);
    const names = Array.from({ length: 8 }, (_, at) => `made-${at}`);
    await Promise.all(
      names.map((name) => busy.datasets.create('ns', 'p', { name, database: 'main_db', data_processing_strategy: 'texts' })),
    );
    const { datasets } = await busy.datasets.list('ns', 'p', { details: false });
    assert.deepEqual(
      datasets.slice(4).map(({ name }) => name),
      names,
    );
    await busy.close();
  });

  it('refuses what is over the quota, and keeps nothing of it', async () => {
    const small = await openDatasetStage({ quotaBytes: 20 });
    writeProject(small.dataDir, 'ns', 'p', PROJECT);
    const application = dispatch({ endpoints: datasetEndpoints, context: small, access: { bindHost: '127.0.0.1' } });
    assert.equal((await send(application, upload('docs', 'a', '0123456789'))).status, 200);
    const refused = await send(application, upload('docs', 'b', '01234567890'));
    assert.equal(refused.status, 413);
    assert.match(refused.text, /DatasetFull/);
    assert.equal(readdirSync(join(small.dataDir, 'projects/ns/p/lf_data/datasets/docs/raw')).length, 1);
    assert.equal((await send(application, upload('docs', 'c', '9876543210'))).status, 200);
    await small.close();
  });
});
