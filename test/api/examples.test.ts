import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from '../support/dataset-stage.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-examples-'));
const BUILT_IN = ['cold-store', 'concierge', 'phrases', 'receipts', 'support-desk', 'tool-library', 'weather-station'];
let stage: RetrievalStage;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(dataDir, path)), { recursive: true });
  writeFileSync(join(dataDir, path), text);
};
const database = (name: string, dimension: number): string =>
  `{name: ${name}, type: NativeStore, embedding_strategies: [{name: e, type: LexicalEmbedder, config: {dimension: ${dimension}}}], retrieval_strategies: [{name: r, type: BasicSimilarityStrategy}]}`;
const projectFile = (databases: string[]): string =>
  `version: v1\nname: x\nnamespace: y\nruntime: {models: [{name: m, provider: universal, model: tiny}]}\nrag:\n  databases: [${databases.join(', ')}]\n  data_processing_strategies: [{name: texts, parsers: [{type: auto}]}]\n`;
const dataset = (name: string, ...globs: string[]): string =>
  `{name: ${name}, strategy: texts, database: own, ingest: [${globs.map((glob) => JSON.stringify(glob)).join(', ')}]}`;
const manifest = (datasets: string[], more = 'config: {yaml_path: conf/project.yaml}'): string =>
  `version: 1\n${more}\ndatasets: [${datasets.join(', ')}]\n`;

write('secret.txt', 'outside');
write(
  'examples/mine/manifest.yaml',
  manifest(
    [dataset('notes', 'files/**/*.{md,txt}'), dataset('shots', 'examples/mine/files/*.png')],
    'id: mine\ntitle: My notes\ntags: [a, b]\nprimaryModel: tiny\nconfig: {yaml_path: conf/project.yaml}',
  ),
);
write('examples/mine/conf/project.yaml', projectFile([database('own', 64), database('more', 64)]));
write('examples/mine/files/one.md', '# One\n\nThe first note.\n');
write('examples/mine/files/deep/er/one.md', '# Another\n\nA note of the same name.\n');
write('examples/mine/files/two.txt', 'The second note.');
symlinkSync(join(dataDir, 'secret.txt'), join(dataDir, 'examples/mine/files/link.txt'));
symlinkSync(dataDir, join(dataDir, 'examples/mine/files/loop'));
symlinkSync(join(dataDir, 'examples/mine'), join(dataDir, 'examples/linked'));
write('examples/plain_files/files/a.txt', 'x'.repeat(3_482));
write('examples/plain_files/project.yaml', projectFile([database('own', 64)]));
write('examples/broken/manifest.yaml', 'id: [');
write('examples/wrong/manifest.yaml', 'datasets: text');
write(
  'examples/bomb/manifest.yaml',
  `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]\n`,
);
write('examples/huge/manifest.yaml', `id: huge\ndescription: ${'x'.repeat(70_000)}\n`);
write('examples/nothing/readme.txt', 'no example');
write('examples/no-config/manifest.yaml', manifest([dataset('notes', 'files/*')], ''));
write('examples/lost-config/manifest.yaml', manifest([dataset('notes', 'files/*')]));
write('examples/incomplete/manifest.yaml', manifest(['{name: notes}']));
write('examples/incomplete/conf/project.yaml', projectFile([database('own', 64)]));
const OUTSIDE = ['../../../secret.txt', '/etc/passwd', 'examples/../../secret.txt', 'files/../../../*', 'a\\\\b'];
for (const [at, glob] of OUTSIDE.entries()) {
  write(`examples/outside-${at}/manifest.yaml`, manifest([dataset('notes', glob)]));
  write(`examples/outside-${at}/conf/project.yaml`, projectFile([database('own', 64)]));
}
write('examples/stars/manifest.yaml', manifest([dataset('notes', '**/*a*a*a*a*a*a*a*a*')]));
write('examples/stars/conf/project.yaml', projectFile([database('own', 64)]));
write('examples/away-config/manifest.yaml', manifest([], 'config: {yaml_path: ../../secret.txt}'));
write('examples/bad-config/manifest.yaml', manifest([]));
write('examples/bad-config/conf/project.yaml', 'version: v1\nruntime: {models: 7}\n');
// A name that a pattern with many stars could be compared with in very many ways.
write('examples/slow/manifest.yaml', manifest([dataset('notes', 'files/*a*a*a*a*a*a*a*.md')]));
write('examples/slow/conf/project.yaml', projectFile([database('own', 64)]));
write(`examples/slow/files/${'a'.repeat(240)}.txt`, 'x');
write('examples/braces/manifest.yaml', manifest([dataset('notes', `files/${'{a,b}'.repeat(20)}`)]));
write('examples/braces/conf/project.yaml', projectFile([database('own', 64)]));
// A file of eleven gigabytes that takes no room.
write('examples/giant/manifest.yaml', manifest([dataset('notes', 'files/*')]));
write('examples/giant/conf/project.yaml', projectFile([database('own', 64)]));
write('examples/giant/files/giant.txt', '');
truncateSync(join(dataDir, 'examples/giant/files/giant.txt'), 11 * 2 ** 30);
// What is no file: a pipe, and a link to a device.
write('examples/pipes/manifest.yaml', manifest([dataset('notes', 'files/*')]));
write('examples/pipes/conf/project.yaml', projectFile([database('own', 64)]));
write('examples/pipes/files/plain.txt', 'A file among pipes.');
execFileSync('sh', ['-c', 'mkfifo "$0"', join(dataDir, 'examples/pipes/files/pipe.txt')]);
symlinkSync('/dev/zero', join(dataDir, 'examples/pipes/files/zero.txt'));
// Parts of the project, and what must not become one.
write('examples/parts/manifest.yaml', manifest([]));
write('examples/parts/conf/project.yaml', projectFile([database('own', 64)]));
write('examples/parts/schemas/deep/answer.json', '{"type":"object"}');
write('examples/parts/tools/run.mjs', 'process.exit();');
write('examples/parts/project.yaml', 'name: not-this');
symlinkSync(join(dataDir, 'secret.txt'), join(dataDir, 'examples/parts/tools/link.txt'));
write('examples/heavy/manifest.yaml', manifest([]));
write('examples/heavy/conf/project.yaml', projectFile([database('own', 64)]));
write('examples/heavy/tools/heavy.bin', '');
truncateSync(join(dataDir, 'examples/heavy/tools/heavy.bin'), 17 * 2 ** 20);
writeProject(dataDir, 'ns', 'p', projectFile([database('own', 32)]));
writeProject(dataDir, 'ns', 'bare', 'version: v1\nruntime: {models: []}\n');

const post = (name: string, path: string, body: object, more: Partial<Scenario>): Scenario => ({
  name,
  method: 'POST',
  path: path,
  body,
  ...more,
});
const refused = (id: string, contains: string[], status = 400): Scenario[] => [
  post(
    `${id} makes no project`,
    `/v1/examples/${id}/import-project`,
    { namespace: 'ns', name: `of-${id}` },
    { status, contains, lacks: ['outside\n'] },
  ),
  { name: `and leaves none of ${id}`, path: `/v1/projects/ns/of-${id}`, status: 404 },
];

const LISTS: Scenario[] = [
  {
    name: 'all examples, those that come with the program and those of the user, without the damaged',
    path: '/v1/examples',
    json: ({ examples }) => {
      const ids = examples.map(({ id }: { id: string }) => id);
      for (const id of [...BUILT_IN, 'mine', 'plain_files', 'no-config', 'incomplete', 'outside-0']) assert.ok(ids.includes(id), id);
      for (const id of ['broken', 'wrong', 'bomb', 'huge', 'nothing', 'linked']) assert.ok(!ids.includes(id), id);
      const mine = examples.find(({ id }: { id: string }) => id === 'mine');
      assert.match(mine.updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
      assert.deepEqual(
        [mine.title, mine.slug, mine.primaryModel, mine.tags, mine.dataset_count, mine.data_size_bytes, mine.data_size_human],
        ['My notes', null, 'tiny', ['a', 'b'], 2, 75, '75B'],
      );
      assert.ok(mine.project_size_bytes > 300 && mine.project_size_human.endsWith('B'));
      const plain = examples.find(({ id }: { id: string }) => id === 'plain_files');
      assert.deepEqual(
        [plain.title, plain.dataset_count, plain.data_size_human, plain.primaryModel, plain.tags],
        ['Plain files', null, '3.4KB', 'tiny', []],
      );
      assert.deepEqual(examples.find(({ id }: { id: string }) => id === 'no-config').data_size_human, null);
    },
  },
  { name: 'the same with a slash at the end', path: `/v1/examples/`, contains: ['"mine"'] },
  {
    name: 'the datasets of one',
    path: `/v1/examples/mine/datasets`,
    json: ({ datasets }) => {
      const [notes, shots] = datasets;
      assert.deepEqual(notes, {
        example_id: 'mine',
        example_title: 'My notes',
        name: 'notes',
        strategy: 'texts',
        database: 'own',
        kind: null,
        ingest: ['files/**/*.{md,txt}'],
        size_bytes: 75,
        size_human: '75B',
      });
      assert.deepEqual([shots.kind, shots.size_bytes, shots.size_human], ['images', null, null]);
    },
  },
  {
    name: 'the datasets of all',
    path: `/v1/examples/datasets`,
    json: ({ datasets }) => {
      const kinds = Object.fromEntries(
        datasets.map((one: { example_id: string; name: string; kind: string }) => [`${one.example_id} ${one.name}`, one.kind]),
      );
      assert.deepEqual(
        ['support-desk policies', 'cold-store readings', 'mine notes', 'incomplete notes'].map((name) => kinds[name]),
        ['markdown', 'csv', null, null],
      );
    },
  },
  { name: 'an unknown example', path: `/v1/examples/nope/datasets`, status: 404, contains: ["Example 'nope' not found"] },
  { name: 'one without a manifest', path: `/v1/examples/plain_files/datasets`, status: 404, contains: ["Example 'plain_files' not found"] },
  ...['%2e%2e', '..%2f..%2fprojects', '.'].map(
    (id): Scenario => ({ name: `${id} is none`, path: `/v1/examples/${id}/datasets`, status: 404 }),
  ),
];

const PROJECTS: Scenario[] = [
  post(
    'a project is made with its datasets',
    '/v1/examples/mine/import-project',
    { namespace: 'ns', name: 'made' },
    {
      json: async (body) => {
        assert.deepEqual([body.project, body.namespace, body.datasets], ['made', 'ns', ['notes', 'shots']]);
        assert.equal(body.task_ids.length, 2);
        for (const id of body.task_ids) {
          const task = await stage.tasks.finished('ns', 'made', id, new AbortController().signal);
          assert.equal(task.state, 'SUCCESS');
        }
      },
    },
  ),
  {
    name: 'under its new name, with files of one name and without what is linked',
    path: '/v1/projects/ns/made/datasets',
    json: ({ datasets }) => {
      assert.deepEqual(
        datasets[0].details.files_metadata.map((file: { original_file_name: string; chunk_count: number }) => [
          file.original_file_name,
          file.chunk_count,
        ]),
        [
          ['one.md', 1],
          ['one.md', 1],
          ['two.txt', 1],
        ],
      );
      assert.deepEqual(datasets[1].details.files_metadata, []);
    },
  },
  {
    name: 'its configuration has the new name',
    path: '/v1/projects/ns/made',
    json: ({ project }) => assert.deepEqual([project.config.name, project.config.namespace], ['made', 'ns']),
  },
  post('it is not made twice', '/v1/examples/mine/import-project', { namespace: 'ns', name: 'made' }, { status: 409, contains: ['made'] }),
  post(
    'without processing there are no tasks',
    '/v1/examples/mine/import-project',
    { namespace: 'ns', name: 'idle', process: false },
    { json: (body) => assert.deepEqual(body.task_ids, []) },
  ),
  post(
    'a reserved namespace',
    '/v1/examples/mine/import-project',
    { namespace: 'llamafarm', name: 'x' },
    { status: 400, contains: ['reserved'] },
  ),
  post('a name that is none', '/v1/examples/mine/import-project', { namespace: 'ns', name: '../x' }, { status: 422, contains: ['name'] }),
  post('no name', '/v1/examples/mine/import-project', { namespace: 'ns' }, { status: 422, contains: ['name'] }),
  ...refused('nope', ["Example 'nope' not found"], 404),
  ...refused('broken', ["Example 'broken' not found"], 404),
  ...refused('no-config', ['Manifest missing config.yaml_path']),
  ...refused('lost-config', ['conf/project.yaml']),
  ...refused('incomplete', ['Dataset entry incomplete in manifest (name/strategy/database)']),
  ...refused('away-config', ['Path outside examples directory']),
  ...refused('bad-config', ['runtime.models'], 422),
  ...refused('stars', ['stars']),
  ...refused('braces', ['too many alternatives; at most 64']),
  ...refused('giant', ['giant.txt', 'bytes'], 413),
  ...refused('heavy', ['schemas and tools', 'heavy']),
  post(
    'a pattern that could be slow is not',
    '/v1/examples/slow/import-project',
    { namespace: 'ns', name: 'slow', process: false },
    { json: (body) => assert.deepEqual(body.datasets, ['notes']) },
  ),
  post(
    'pipes and devices are passed over',
    '/v1/examples/pipes/import-dataset',
    { namespace: 'ns', project: 'made', dataset: 'notes', target_dataset: 'pipes', process: false },
    { json: (body) => assert.equal(body.file_count, 1) },
  ),
  post(
    'schemas and tools become parts of the project, and nothing else',
    '/v1/examples/parts/import-project',
    { namespace: 'ns', name: 'parts' },
    {
      json: () => {
        const folder = join(dataDir, 'projects/ns/parts');
        assert.equal(readFileSync(join(folder, 'schemas/deep/answer.json'), 'utf8'), '{"type":"object"}');
        assert.equal(readFileSync(join(folder, 'tools/run.mjs'), 'utf8'), 'process.exit();');
        assert.equal(existsSync(join(folder, 'tools/link.txt')), false);
        assert.match(readFileSync(join(folder, 'project.yaml'), 'utf8'), /name: parts/);
      },
    },
  ),
  ...OUTSIDE.flatMap((_, at) => refused(`outside-${at}`, ['Path outside examples directory'])),
];

const DATA: Scenario[] = [
  post(
    'data for a project that is not there',
    '/v1/examples/mine/import-data',
    { namespace: 'ns', project: 'nope' },
    { status: 404, contains: ['ns/nope'] },
  ),
  post(
    'an example that is not there',
    '/v1/examples/nope/import-data',
    { namespace: 'ns', project: 'p' },
    { status: 404, contains: ["Example 'nope' not found"] },
  ),
  post(
    'without its databases a project cannot take it',
    '/v1/examples/mine/import-data',
    { namespace: 'ns', project: 'bare', include_strategies: false },
    { status: 400, contains: ['Unsupported'] },
  ),
  post(
    'data for a project with a database of that name',
    '/v1/examples/mine/import-data',
    { namespace: 'ns', project: 'p' },
    {
      json: (body) => assert.deepEqual([body.datasets, body.task_ids.length], [['notes', 'shots'], 2]),
    },
  ),
  {
    name: 'which stays as it was, and the other one is added',
    path: '/v1/projects/ns/p',
    json: ({ project: { config } }) => {
      assert.deepEqual(
        config.rag.databases.map(({ name }: { name: string }) => name),
        ['own', 'more'],
      );
      assert.equal(config.rag.databases[0].embedding_strategies[0].config.dimension, 32);
      assert.equal(config.rag.data_processing_strategies.length, 1);
      assert.equal(config.name, 'p');
    },
  },
  post(
    'a second time its datasets are there already',
    '/v1/examples/mine/import-data',
    { namespace: 'ns', project: 'p', process: false },
    { json: (body) => assert.deepEqual(body.task_ids, []) },
  ),
  post(
    'one dataset under another name',
    '/v1/examples/mine/import-dataset',
    { namespace: 'ns', project: 'bare', dataset: 'notes', target_dataset: 'mine' },
    {
      json: ({ task_id: id, ...body }) => {
        assert.deepEqual(body, { project: 'bare', namespace: 'ns', dataset: 'mine', file_count: 3 });
        assert.equal(typeof id, 'string');
      },
    },
  ),
  post(
    'one dataset that is not processed',
    '/v1/examples/mine/import-dataset',
    { namespace: 'ns', project: 'bare', dataset: 'notes', process: false },
    {
      json: (body) => assert.deepEqual([body.dataset, body.file_count, body.task_id], ['notes', 3, null]),
    },
  ),
  post(
    'a dataset that is not there',
    '/v1/examples/mine/import-dataset',
    { namespace: 'ns', project: 'bare', dataset: 'none' },
    { status: 404, contains: ["Dataset 'none' not found in example 'mine'"] },
  ),
  post(
    'a dataset of an unknown example',
    '/v1/examples/nope/import-dataset',
    { namespace: 'ns', project: 'bare', dataset: 'none' },
    { status: 404, contains: ["Example 'nope' not found"] },
  ),
  post(
    'a dataset that leads out',
    '/v1/examples/outside-0/import-dataset',
    { namespace: 'ns', project: 'p', dataset: 'notes' },
    { status: 400, contains: ['Path outside examples directory'] },
  ),
];

scenarios<Runtime>(
  'examples',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [...LISTS, ...PROJECTS, ...DATA],
);
