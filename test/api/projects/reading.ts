import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BASE, dataDir, fileOf } from '../../support/projects-stage.js';
import type { Scenario } from '../../support/scenario.js';

const TRAVERSALS = [
  '..',
  '../..',
  'a/../../b',
  '/etc',
  '.',
  '.hidden',
  'a..b',
  '..\\..',
  'C:\\x',
  '\\\\host\\share',
  'a\0b',
  'nul',
  '%2e%2e',
  '．．',
  'x'.repeat(129),
  ' ',
  'ns:p',
  '~',
  '*',
];

/** Which file is a project, lists of projects, and names that climb. */
export const reading: Scenario[] = [
  {
    name: '1 the .yaml file is chosen',
    path: '/v1/projects/files/order',
    contains: ['from-yaml'],
    json: () => rmSync(fileOf('files', 'order')),
  },
  {
    name: '1 then the .yml file',
    path: '/v1/projects/files/order/',
    contains: ['from-yml'],
    json: () => rmSync(fileOf('files', 'order', 'project.yml')),
  },
  {
    name: '1 then the .toml file',
    path: '/v1/projects/files/order',
    contains: ['from-toml'],
  },
  { name: "1 the file of LlamaFarm's command line", path: '/v1/projects/files/farm', contains: ['from-farm'] },
  { name: '2 broken TOML', path: '/v1/projects/files/toml', status: 422, contains: ['not valid TOML', 'ProjectConfigError'] },
  { name: '2 an empty file', path: '/v1/projects/files/empty', status: 422, contains: ['it is empty'] },
  { name: '2 broken YAML', path: '/v1/projects/files/broken', status: 422, contains: ['not valid YAML', 'line 1'] },
  { name: '2 a directory without a file', path: '/v1/projects/files/nothing', status: 422, contains: ['no configuration file found in'] },
  {
    name: '2 no directory',
    path: '/v1/projects/files/absent',
    status: 404,
    contains: ['ProjectNotFound', 'Project files/absent not found', 'directory does not exist'],
  },
  {
    name: '13 an unknown namespace is empty',
    path: '/v1/projects/nobody',
    json: (body) => assert.deepEqual(body, { total: 0, projects: [] }),
  },
  {
    name: '14 one invalid configuration among several',
    path: '/v1/projects/many',
    json: ({ total, projects }) => {
      assert.equal(total, 2);
      assert.deepEqual([projects[0].name, projects[0].config.keep, projects[0].config.name], ['bad', 1, undefined]);
      assert.match(projects[0].validation_error, /^runtime\.models\[0\]\.name: is required; .*\(and 9 more errors\)$/);
      assert.deepEqual(projects[1].config, { ...BASE, name: 'good', namespace: 'many' });
      assert.equal(projects[1].validation_error, null);
      assert.equal(new Date(projects[1].last_modified).toISOString(), projects[1].last_modified);
    },
  },
  { name: '15 one invalid configuration alone', path: '/v1/projects/many/bad', contains: ['"validation_error":"runtime.models[0]'] },
  {
    name: '15 its models',
    path: '/v1/projects/many/bad/models',
    status: 422,
    contains: ['ProjectConfigError', 'runtime provider is required'],
  },
  ...TRAVERSALS.flatMap((name): Scenario[] => {
    const encoded = encodeURIComponent(name).replaceAll('.', '%2e');
    const refused = { status: 404, lacks: ['secret-canary', dataDir] } as const;
    return [
      { name: `18 namespace ${JSON.stringify(name.slice(0, 20))}`, path: `/v1/projects/${encoded}`, ...refused },
      { name: `18 project ${JSON.stringify(name.slice(0, 20))}`, path: `/v1/projects/many/${encoded}`, ...refused },
      {
        name: `18 project to replace ${JSON.stringify(name.slice(0, 20))}`,
        method: 'PUT',
        path: `/v1/projects/many/${encoded}`,
        body: { config: BASE },
        ...refused,
      },
      {
        name: `18 project to purge ${JSON.stringify(name.slice(0, 20))}`,
        method: 'DELETE',
        path: `/v1/projects/many/${encoded}?purge=true`,
        ...refused,
      },
      {
        name: `18 new project ${JSON.stringify(name.slice(0, 20))}`,
        method: 'POST',
        path: '/v1/projects/many',
        body: { name },
        ...refused,
        status: 422,
      },
    ];
  }),
  {
    name: '18 nothing outside was touched',
    path: '/v1/projects/many',
    json: () =>
      assert.deepEqual(
        [readdirSync(dataDir).sort(), readFileSync(join(dataDir, 'outside.yaml'), 'utf8')],
        [['outside.yaml', 'projects'], 'secret-canary'],
      ),
  },
];
