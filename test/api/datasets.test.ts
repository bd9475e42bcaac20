import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { datasetEndpoints } from '../../gateway/core/datasets.js';
import { taskEndpoints } from '../../gateway/core/tasks.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { openApiDocument } from '../../schemas/openapi.js';
import { type DatasetStage, formOf, hashOf, openDatasetStage, PROJECT, writeProject } from '../support/dataset-stage.js';
import { type Scenario, scenarios, send } from '../support/scenario.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-datasets-'));
const P = '/v1/projects/ns/p/datasets';
const HELLO = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
const FIVE = 'a\nb\nc\nd\ne';
const folder = (dataset: string, ...rest: string[]): string => join(dataDir, 'projects/ns/p/lf_data/datasets', dataset, ...rest);
writeProject(dataDir, 'ns', 'p', PROJECT);
writeProject(dataDir, 'ns', 'plain', 'version: v1\nruntime: {models: [{name: m, provider: universal, model: x}]}\n');
writeProject(dataDir, 'ns', 'older', PROJECT.replace('{name: docs, ', `{name: docs, files: ["${hashOf('older')}", "${'0'.repeat(64)}"], `));
for (const [kind, text] of [
  ['raw', 'older'],
  [
    'meta',
    JSON.stringify({
      original_file_name: 'o.txt',
      resolved_file_name: 'o_1.txt',
      timestamp: 1.5,
      size: 5,
      mime_type: 'text/plain',
      hash: hashOf('older'),
    }),
  ],
] as const) {
  const place = join(dataDir, 'projects/ns/older/lf_data', kind);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, kind === 'raw' ? hashOf('older') : `${hashOf('older')}.json`), text);
}
let stage: DatasetStage;
let taskId = '';
let listed: unknown;

const upload = (dataset: string, name: string, content: string, fields: Record<string, string> = {}, query = '') => ({
  method: 'POST',
  path: `${P}/${dataset}/data${query}`,
  ...formOf([['file', name, content]], fields),
});
const overrides = (name: string, value: string, status = 400): Scenario => ({
  name: `59 parser_overrides: ${name} -> ${status}`,
  ...upload('docs', 'o.txt', `overrides ${name}`, { parser_overrides: value }),
  status,
  ...(status === 400 ? { contains: ['parser_overrides'] } : {}),
});

const TABLE: Scenario[] = [
  {
    name: '48 a new dataset is empty',
    method: 'POST',
    path: P,
    body: { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db' },
    json: ({ dataset }) => {
      assert.deepEqual(dataset, { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db', auto_process: false, files: [] });
      const text = readFileSync(join(dataDir, 'projects/ns/p/project.yaml'), 'utf8');
      assert.match(text, /# documents/);
      assert.match(text, /name: fresh/);
    },
  },
  {
    name: '48 a name that is taken',
    method: 'POST',
    path: `${P}/`,
    body: { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db' },
    status: 400,
    contains: ['already exists', 'fresh'],
  },
  {
    name: '48 an unknown strategy is named, with the known ones',
    method: 'POST',
    path: P,
    body: { name: 'x', data_processing_strategy: 'nope', database: 'main_db' },
    status: 400,
    contains: ['nope', 'texts'],
  },
  {
    name: '48 an unknown database is named, with the known ones',
    method: 'POST',
    path: P,
    body: { name: 'x', data_processing_strategy: 'universal_rag', database: 'nope' },
    status: 400,
    contains: ['nope', 'main_db'],
  },
  { name: '48 a missing field', method: 'POST', path: P, body: { name: 'x' }, status: 422, contains: ['database'] },
  {
    name: '48 a name with path parts',
    method: 'POST',
    path: P,
    body: { name: '../x', data_processing_strategy: 'texts', database: 'main_db' },
    status: 422,
  },
  { name: 'an unknown project', path: '/v1/projects/ns/none/datasets', status: 404, contains: ['ProjectNotFound'] },
  {
    name: '50 the names that a dataset may use',
    path: `${P}/strategies`,
    json: (body) => assert.deepEqual(body, { data_processing_strategies: ['texts'], databases: ['main_db', 'other_db'] }),
  },
  {
    name: '50 no names without a rag section',
    path: '/v1/projects/ns/plain/datasets/strategies',
    json: (body) => assert.deepEqual(body, { data_processing_strategies: [], databases: [] }),
  },
  {
    name: '51 an upload is stored, and not processed',
    ...upload('docs', 'test.pdf', 'hello world'),
    json: (body) => {
      assert.deepEqual(body, { filename: 'test.pdf', hash: HELLO, processed: false, skipped: false, task_id: null, status: 'uploaded' });
      assert.equal(readFileSync(folder('docs', 'raw', HELLO), 'utf8'), 'hello world');
      const meta = JSON.parse(readFileSync(folder('docs', 'meta', `${HELLO}.json`), 'utf8'));
      assert.equal(meta.mime_type, 'application/pdf');
      assert.equal(meta.size, 11);
      const [link] = readdirSync(folder('docs', 'index/by_name'));
      assert.match(link!, /^test_\d+(\.\d+)?\.pdf$/);
      assert.equal(meta.resolved_file_name, link);
      assert.equal(readlinkSync(folder('docs', 'index/by_name', link!)), `../../raw/${HELLO}`);
    },
  },
  {
    name: '49 the list has both forms of details',
    path: `${P}/`,
    json: (body) => {
      const { total, datasets } = body;
      listed = body;
      assert.equal(total, 5);
      assert.deepEqual(
        datasets.map(({ name }: { name: string }) => name),
        ['docs', 'twin', 'empty', 'eager', 'fresh'],
      );
      const [docs] = datasets;
      assert.deepEqual(docs.files, [HELLO]);
      assert.deepEqual([docs.details.total_files, docs.details.total_size_bytes], [1, 11]);
      const { timestamp, ...detail } = docs.details.file_details[0];
      assert.deepEqual(detail, { hash: HELLO, original_filename: 'test.pdf', size: 11 });
      assert.ok(Math.abs(timestamp - Date.now() / 1000) < 60);
      assert.equal(docs.details.files_metadata[0].original_file_name, 'test.pdf');
    },
  },
  {
    name: '84 without the slash behind the collection the list is the same',
    path: P,
    json: (body) => assert.deepEqual(body, listed),
  },
  {
    name: '84 an upload with a slash behind is no redirect',
    ...upload('docs', 'again.pdf', 'hello world'),
    path: `${P}/docs/data/`,
    json: (body) => assert.deepEqual([body.hash, body.skipped], [HELLO, true]),
  },
  {
    name: '84 a new dataset with a slash behind is checked as without',
    method: 'POST',
    path: `${P}/`,
    body: { name: 'docs', data_processing_strategy: 'texts', database: 'main_db' },
    status: 400,
    contains: ['already exists'],
  },
  {
    name: '49 no details when they are not wanted',
    path: `${P}?include_extra_details=false`,
    json: ({ datasets }) => assert.ok(datasets.every((one: object) => !('details' in one))),
  },
  {
    name: '52 the same bytes under another name are skipped',
    ...upload('docs', 'again.pdf', 'hello world'),
    json: (body) => {
      assert.deepEqual([body.hash, body.skipped, body.processed, body.status], [HELLO, true, false, 'skipped']);
      assert.equal(readdirSync(folder('docs', 'index/by_name')).length, 1);
    },
  },
  {
    name: '52 the same bytes in another dataset are stored',
    ...upload('twin', 'test', 'hello world'),
    json: (body) => {
      assert.equal(body.skipped, false);
      assert.match(readdirSync(folder('twin', 'index/by_name'))[0]!, /^test_\d+(\.\d+)?$/);
    },
  },
  {
    name: '53 of a path only the last part is kept',
    ...upload('docs', 'a/b/c.txt', FIVE),
    json: (body) => {
      assert.equal(body.filename, 'c.txt');
      assert.ok(readdirSync(folder('docs', 'index/by_name')).some((name) => name.startsWith('c_')));
    },
  },
  { name: '51 an unknown dataset', ...upload('none', 'x', 'x'), status: 404, contains: ['none', 'docs'] },
  { name: 'an upload without a file', method: 'POST', path: `${P}/docs/data`, ...formOf([], { parser_overrides: '{}' }), status: 422 },
  { name: 'an upload as JSON', method: 'POST', path: `${P}/docs/data`, body: {}, status: 415 },
  {
    name: 'two files where one is taken',
    method: 'POST',
    path: `${P}/docs/data`,
    ...formOf([
      ['file', 'a', 'a'],
      ['file', 'b', 'b'],
    ]),
    status: 400,
  },
  overrides('not JSON', '{'),
  overrides('too long', JSON.stringify({ '*': { note: 'x'.repeat(10_001) } })),
  overrides('chunk_size 0', '{"*":{"chunk_size":0}}'),
  overrides('overlap as large as size', '{"TextParser":{"chunk_size":10,"chunk_overlap":10}}'),
  overrides('size below the overlap of the strategy', '{"*":{"chunk_size":50}}'),
  overrides('an unknown parser', '{"NoParser":{}}'),
  overrides('an array', '[]'),
  overrides('a good one', '{"*":{"chunk_size":500}}', 200),
  {
    name: '60 bulk upload',
    method: 'POST',
    path: `${P}/docs/data/bulk`,
    ...formOf([
      ['files', 'one.txt', 'bulk one'],
      ['files[]', 'two.txt', 'bulk two'],
      ['files', 'same.txt', 'bulk one'],
    ]),
    json: (body) => {
      assert.deepEqual([body.uploaded, body.skipped, body.failed, body.task_id, body.status], [2, 1, 0, null, 'uploaded']);
    },
  },
  {
    name: '60 bulk upload of too many files',
    method: 'POST',
    path: `${P}/docs/data/bulk`,
    ...formOf(Array.from({ length: 101 }, (_, at) => ['files', `${at}`, `${at}`] as const)),
    status: 400,
    contains: ['100 files'],
  },
  {
    name: 'an eager dataset processes what it stores',
    ...upload('eager', 'e.txt', 'line', { parser_overrides: '{"__all__":{"chunk_size":500}}' }),
    json: async (body) => {
      assert.equal(body.status, 'processing');
      const task = await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal);
      assert.equal(task.state, 'SUCCESS');
      assert.deepEqual(stage.ingest.requests.at(-1)!.overrides, { '*': { chunk_size: 500 } });
      assert.equal(await stage.ingest.chunks('other_db', hashOf('line')), 1);
    },
  },
  {
    name: 'an eager dataset can be told not to',
    ...upload('eager', 'f.txt', 'another', {}, '?auto_process=false'),
    json: (body) => assert.equal(body.status, 'uploaded'),
  },
  { name: '55 an unknown action', method: 'POST', path: `${P}/docs/actions`, body: { action_type: 'burn' }, status: 422 },
  { name: '55 an unknown dataset', method: 'POST', path: `${P}/none/actions`, body: { action_type: 'process' }, status: 404 },
  {
    name: '55 an unknown file',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'process', file_hash: '0'.repeat(64) },
    status: 404,
  },
  {
    name: '55 processing starts a task',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'process', parser_overrides: { '*': { chunk_size: 500 } } },
    json: async (body) => {
      taskId = body.task_id;
      assert.equal(body.task_uri, `http://localhost/v1/projects/ns/p/tasks/${taskId}`);
      const task = await stage.tasks.finished('ns', 'p', taskId, new AbortController().signal);
      assert.equal(task.state, 'SUCCESS', JSON.stringify(task));
      assert.equal(await stage.ingest.chunks('main_db', hashOf(FIVE)), 5);
    },
  },
  {
    name: '57 processing again skips everything',
    method: 'POST',
    path: `${P}/docs/actions/`,
    body: { action_type: 'ingest' },
    json: async (body) => {
      const task = await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal);
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
      const result = task.result as any;
      assert.deepEqual([task.state, result.processed_files, result.skipped_files, result.stored_count], ['SUCCESS', 0, 5, 0]);
      assert.deepEqual([result.details[0][0], result.details[0][1].reason], [true, 'duplicate']);
      assert.equal(await stage.ingest.chunks('main_db', hashOf(FIVE)), 5);
    },
  },
  {
    name: '56 processing an empty dataset is done at once',
    method: 'POST',
    path: `${P}/empty/actions`,
    body: { action_type: 'process' },
    json: (body) => {
      const task = stage.tasks.get('ns', 'p', body.task_id);
      assert.equal(task.state, 'SUCCESS');
      const { message, ...result } = task.result as Record<string, unknown>;
      assert.deepEqual(result, { namespace: 'ns', project: 'p', dataset: 'empty', strategy: 'texts', files: [], total_files: 0 });
      assert.ok(message);
    },
  },
  {
    name: '63 cleanup removes the chunks of a file',
    method: 'POST',
    path: `${P}/docs/cleanup/${hashOf(FIVE)}`,
    json: (body) => {
      assert.deepEqual([body.deleted_count, body.file_hash, body.errors], [5, hashOf(FIVE), null]);
      assert.equal(body.message, `Deleted 5 chunk(s) for file ${hashOf(FIVE).slice(0, 12)}...`);
    },
  },
  {
    name: '63 cleanup again removes nothing',
    method: 'POST',
    path: `${P}/docs/cleanup/${hashOf(FIVE)}`,
    json: (body) => assert.equal(body.deleted_count, 0),
  },
  { name: '63 cleanup of an unknown dataset', method: 'POST', path: `${P}/none/cleanup/${HELLO}`, status: 404 },
  {
    name: '63 cleanup when the store fails hides why',
    method: 'POST',
    path: `${P}/docs/cleanup/${HELLO}`,
    headers: () => {
      stage.ingest.locked.add('main_db');
      return {};
    },
    status: 500,
    contains: ['Cleanup failed: '],
    lacks: ['somebody'],
    json: () => {
      stage.ingest.locked.clear();
    },
  },
  { name: 'file chunks need a file', method: 'POST', path: `${P}/docs/actions`, body: { action_type: 'delete_file_chunks' }, status: 400 },
  {
    name: 'file chunks are removed, and the file stays',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'delete_file_chunks', file_hash: HELLO },
    json: (body) => assert.deepEqual([body.file_hash, body.deleted_chunks], [HELLO, 1]),
  },
  {
    name: 'all chunks of a dataset are removed',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'delete_dataset_chunks' },
    json: (body) => assert.deepEqual([body.total_deleted_chunks, body.total_files_cleared, body.total_files_failed], [3, 5, 0]),
  },
  {
    name: 'the older route processes and waits',
    method: 'POST',
    path: `${P}/docs/process`,
    json: (body) => {
      assert.deepEqual([body.processed_files, body.skipped_files, body.failed_files], [5, 0, 0]);
      assert.deepEqual([body.strategy, body.database, body.details.length], ['texts', 'main_db', 5]);
      assert.deepEqual([body.details[0].hash, body.details[0].status, body.details[0].embedder], [HELLO, 'processed', 'LexicalEmbedder']);
    },
  },
  {
    name: 'the older route answers at once when asked to',
    method: 'POST',
    path: `${P}/docs/process?async_processing=true`,
    json: async (body) => {
      assert.equal(body.details[0].status, 'pending');
      assert.equal((await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal)).state, 'SUCCESS');
      taskId = body.task_id;
    },
  },
  { name: 'the older cancel needs a task', method: 'POST', path: `${P}/docs/process/cancel`, status: 404 },
  {
    name: 'the older cancel refuses what is finished',
    method: 'POST',
    path: () => `${P}/docs/process/cancel?task_id=${taskId}`,
    status: 400,
  },
  { name: '54 an unknown file', method: 'DELETE', path: `${P}/docs/data/${'0'.repeat(64)}`, status: 404 },
  {
    name: '54 bytes that another dataset needs stay',
    method: 'DELETE',
    path: `${P}/docs/data/${HELLO}?remove_from_disk=true`,
    status: 400,
    contains: ['twin'],
  },
  {
    name: '54 a file leaves the list; its bytes stay unless asked',
    method: 'DELETE',
    path: `${P}/docs/data/${HELLO}`,
    json: (body) => {
      assert.deepEqual(body, { file_hash: HELLO, deleted_chunks: 0 });
      assert.ok(existsSync(folder('docs', 'raw', HELLO)));
      assert.ok(!existsSync(folder('docs', 'meta', `${HELLO}.json`)));
    },
  },
  {
    name: '54 a file leaves the disk when asked, with its chunks',
    method: 'DELETE',
    path: `${P}/docs/data/${hashOf(FIVE)}?remove_from_disk=true`,
    json: (body) => {
      assert.deepEqual(body, { file_hash: hashOf(FIVE), deleted_chunks: 5 });
      assert.ok(!existsSync(folder('docs', 'raw', hashOf(FIVE))));
      assert.ok(!readdirSync(folder('docs', 'index/by_name')).some((name) => name.startsWith('c_')));
      writeFileSync(folder('docs', 'meta', `${'1'.repeat(64)}.json`), '{"torn');
    },
  },
  {
    name: '49 a torn entry does not fail the list',
    path: P,
    json: ({ datasets }) => assert.deepEqual(datasets[0].details.total_files, 3),
  },
  {
    name: 'bytes that are gone are named before anything is queued',
    method: 'POST',
    path: () => {
      rmSync(folder('docs', 'raw', hashOf('bulk one')));
      return `${P}/docs/actions`;
    },
    body: { action_type: 'process' },
    status: 404,
    contains: ['one.txt'],
  },
  { name: 'an unknown dataset cannot be removed', method: 'DELETE', path: `${P}/none`, status: 404 },
  {
    name: 'a removed dataset keeps its files out of the way',
    method: 'DELETE',
    path: `${P}/docs`,
    json: ({ dataset }) => {
      assert.equal(dataset.name, 'docs');
      assert.ok(!existsSync(folder('docs')));
      assert.equal(readdirSync(join(dataDir, 'projects/ns/p/lf_data/deleted')).length, 1);
    },
  },
  {
    name: 'files of older projects are found where these kept them',
    path: '/v1/projects/ns/older/datasets',
    json: async ({ datasets: [docs] }) => {
      assert.deepEqual(docs.files, [hashOf('older'), '0'.repeat(64)]);
      assert.equal(docs.details.total_files, 1);
      const id = await stage.datasets.processing.start('ns', 'older', 'docs', {});
      assert.equal((await stage.tasks.finished('ns', 'older', id, new AbortController().signal)).state, 'SUCCESS');
    },
  },
  {
    name: 'of folders that lead upwards only those that are left',
    ...upload('twin', 'a/../../b/./kept/d.txt', 'a text of its own for this folder'),
    json: ({ hash }) => assert.equal(JSON.parse(readFileSync(folder('twin', 'meta', `${hash}.json`), 'utf8')).original_folder, 'b/kept'),
  },
];

scenarios(
  'datasets',
  {
    endpoints: [...datasetEndpoints, ...taskEndpoints],
    context: async () => {
      stage = await openDatasetStage({ dataDir });
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  TABLE,
);

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
