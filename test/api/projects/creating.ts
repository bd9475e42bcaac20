import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataDir } from '../../support/projects-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** New projects, templates and removal. */
export const creating: Scenario[] = [
  {
    name: 'POST makes a project',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'a' },
    json: ({ project }) => assert.deepEqual([project.name, project.namespace, project.validation_error], ['a', 'made', null]),
  },
  {
    name: 'its models: the default marked, absent fields null',
    path: '/v1/projects/made/a/models',
    contains: ['"total":1', '"base_url":null', '"default":true', '"name":"default"'],
    json: ({ object, data, models }) => {
      assert.equal(object, 'list');
      assert.deepEqual(
        data.map(({ id, object: kind, owned_by: owner }: { id: string; object: string; owned_by: string }) => [id, kind, owner]),
        models.map(({ name, provider }: { name: string; provider: string }) => [name, 'model', provider]),
      );
      assert.ok(Number.isInteger(data[0].created));
    },
  },
  {
    name: 'POST of what exists',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'a' },
    status: 409,
    contains: ['Project made/a already exists'],
  },
  {
    name: 'POST from the rag template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'r', config_template: 'rag' },
    contains: ['main_database'],
  },
  {
    name: 'POST from the server template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 's', config_template: 'server' },
    lacks: ['main_database'],
  },
  {
    name: '19 an unknown template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 't', config_template: 'zzz' },
    status: 404,
    contains: ['ConfigTemplateNotFound', 'zzz', 'templates'],
  },
  {
    name: '19 a template that climbs',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 't', config_template: '../outside' },
    status: 404,
    lacks: ['secret-canary'],
  },
  {
    name: '19 the reserved namespace',
    method: 'POST',
    path: '/v1/projects/llamafarm',
    body: { name: 't' },
    status: 400,
    contains: ['ReservedNamespace', 'llamafarm'],
  },
  { name: 'POST without a name', method: 'POST', path: '/v1/projects/made', body: {}, status: 422, contains: ['name'] },
  {
    name: 'the list is sorted',
    path: '/v1/projects/made',
    json: ({ projects }) =>
      assert.deepEqual(
        projects.map((one: { name: string }) => one.name),
        ['a', 'r', 's'],
      ),
  }, // prettier-ignore
  {
    name: 'a setting without an effect is told, with the reason',
    method: 'PUT',
    path: '/v1/projects/made/s',
    body: { config: { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'x', instructor_mode: 'tools' }] } } },
    json: ({ project }) => assert.match(project.notes.join(), /^instructor_mode of model 'm' has no effect/),
  },
  { name: 'also to who reads it', path: '/v1/projects/made/s', contains: ['"notes":["instructor_mode of model'] },
  {
    name: 'a prompt format that is none',
    method: 'PUT',
    path: '/v1/projects/made/s',
    body: { config: { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'x', prompt_format: 'alpaca' }] } } },
    status: 422,
    contains: ['prompt_format', 'unstructured'],
  },
  { name: '20 DELETE returns the project', method: 'DELETE', path: '/v1/projects/made/a', contains: ['"name":"a"'] },
  { name: '20 and keeps it', path: '/v1/projects/made/a' },
  { name: '20 DELETE with purge=false keeps it', method: 'DELETE', path: '/v1/projects/made/a?purge=false' },
  { name: '20 DELETE with a purge that is no boolean', method: 'DELETE', path: '/v1/projects/made/a?purge=maybe', status: 422 },
  {
    name: '20 DELETE with purge',
    method: 'DELETE',
    path: '/v1/projects/made/a?purge=true',
    contains: ['"name":"a"'],
    json: () => assert.equal(existsSync(join(dataDir, 'projects/made/a')), false),
  },
  { name: '20 it is gone', path: '/v1/projects/made/a', status: 404, contains: ['not found'] },
  { name: '20 and cannot be purged twice', method: 'DELETE', path: '/v1/projects/made/a?purge=true', status: 404, contains: ['not found'] },
  { name: 'models of an unknown project', path: '/v1/projects/made/a/models', status: 404 },
];
