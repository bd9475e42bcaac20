import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type Endpoint, endpoint } from '../../../schemas/endpoint.js';
import { openApiDocument } from '../../../schemas/openapi.js';

const handler = (): { json: null } => ({ json: null });
const list: Endpoint<never>[] = [
  endpoint<never>({
    access: 'users',
    method: 'GET',
    path: '/a/{name}',
    id: 'a_get',
    summary: 'One',
    tag: 'a',
    response: 'common#Message',
    handler,
  }),
  endpoint<never>({
    access: 'users',
    method: 'POST',
    path: '/a/{name}',
    id: 'a_post',
    summary: 'Change',
    tag: 'a',
    body: 'common#Message',
    streams: true,
    status: 201,
    handler,
  }),
  endpoint<never>({
    access: 'users',
    method: 'GET',
    path: '/models/{id+}',
    id: 'model',
    summary: 'Model',
    tag: 'b',
    query: 'common#Usage',
    handler,
  }),
  endpoint<never>({ access: 'users', method: 'GET', path: '/secret', id: 'secret', summary: '', tag: 'c', hidden: true, handler }),
  endpoint<never>({
    access: 'users',
    method: 'POST',
    path: '/project',
    id: 'project',
    summary: 'Project',
    tag: 'b',
    body: 'config/project#ProjectConfig',
    handler,
  }),
];

describe('openApiDocument', () => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is looked into at every depth
  const document = openApiDocument({ title: 'Test', version: '1' }, list) as any;

  it('passes an independent validator', async () => {
    const result = await new Validator().validate(structuredClone(document));
    assert.deepEqual(result.errors ?? [], []);
    assert.equal(result.valid, true);
  });

  it('holds a component for every reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"/]+)"/g)].map((match) => match[1]!);
    assert.ok(references.includes('ToolCall'));
    assert.deepEqual(
      references.filter((name) => !Object.hasOwn(document.components.schemas, name)),
      [],
    );
    assert.ok(!/"\$ref":"[^#]/.test(JSON.stringify(document)));
  });

  it('tells what handlers check themselves as if the schema said it', () => {
    const endpoints = [
      endpoint<never>({
        access: 'users',
        method: 'POST',
        path: '/b',
        id: 'b',
        summary: '',
        tag: 'a',
        body: 'universal/buffers#CreateRequest',
        handler,
      }),
      endpoint<never>({
        access: 'users',
        method: 'POST',
        path: '/c',
        id: 'c',
        summary: '',
        tag: 'a',
        body: 'universal/cache#PrepareRequest',
        handler,
      }),
    ];
    const text = JSON.stringify(openApiDocument({ title: 'Test', version: '1' }, endpoints));
    assert.doesNotMatch(text, /x-checked/);
    assert.match(text, /"buffer_id":\{[^}]*"\$ref":"#\/components\/schemas\/BufferName"/);
    assert.match(text, /"BufferName":\{[^}]*"maxLength":128[^}]*"pattern"/);
    assert.match(text, /"tools":\{[^}]*"maxItems":128/);
  });

  it('tells what a name in a path may be, where its endpoint says so', () => {
    const record = {
      method: 'GET',
      path: '/b/{one}/{two}',
      id: 'b',
      access: 'users',
      summary: '',
      tag: 'a',
      names: { two: 'common#BufferName' },
      handler,
    } as const;
    const { paths } = openApiDocument({ title: 'Test', version: '1' }, [endpoint<never>(record)]) as {
      paths: Record<string, { get: { parameters: object[] } }>;
    };
    assert.deepEqual(paths['/b/{one}/{two}']!.get.parameters, [
      { name: 'one', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'two', in: 'path', required: true, schema: { $ref: '#/components/schemas/BufferName' } },
    ]);
  });

  it('has no null for a text of a form', () => {
    const multipart = { form: 'universal/images#EditForm' as const, maxFiles: 1, fileLimitBytes: 1 };
    const one = endpoint<never>({ access: 'users', method: 'POST', path: '/b', id: 'b', summary: '', tag: 'a', multipart, handler });
    const { components } = openApiDocument({ title: 'Test', version: '1' }, [one]) as {
      components: { schemas: Record<string, { allOf?: object[]; properties?: Record<string, { type: unknown }> }> };
    };
    assert.equal(components.schemas.ImageOptionsForm!.properties!.project!.type, 'string');
  });

  it('tells which texts of a form are booleans, and leaves JSON as it is', () => {
    const multipart = { form: 'universal/images#EditForm' as const, maxFiles: 1, fileLimitBytes: 1 };
    const both = endpoint<never>({
      access: 'users',
      method: 'POST',
      path: '/b',
      id: 'b',
      summary: '',
      tag: 'a',
      body: 'universal/images#EditRequest',
      multipart,
      handler,
    });
    // biome-ignore lint/suspicious/noExplicitAny: the document is looked into at every depth
    const { schemas } = (openApiDocument({ title: 'Test', version: '1' }, [both]) as any).components;
    assert.deepEqual(schemas.EditForm.allOf, [{ $ref: '#/components/schemas/ImageOptionsForm' }]);
    const texts = ['t', 'yes', 'y', 'on', 1, 'f', 'no', 'n', 'off', 0];
    assert.deepEqual(schemas.ImageOptionsForm.properties.stream.enum, [true, false, ...texts, null]);
    assert.deepEqual(schemas.ImageOptions.properties.stream.type, ['boolean', 'null']);
  });

  it('describes parameters, bodies, streams and failures', () => {
    const change = document.paths['/a/{name}'].post;
    assert.deepEqual(change.parameters, [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }]);
    assert.deepEqual(Object.keys(change.responses), ['201', 'default']);
    assert.ok('text/event-stream' in change.responses['201'].content);
    assert.equal(document.paths['/models/{id}'].get.parameters[1].in, 'query');
    assert.equal(document.paths['/secret'], undefined);
    assert.deepEqual(
      document.tags.map((tag: { name: string }) => tag.name),
      ['a', 'b'],
    );
  });
});
