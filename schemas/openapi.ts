import type { Endpoint, SchemaName } from './endpoint.js';
import { type JsonSchema, resolveReference, schemaFile } from './files.js';
import { NO, YES } from './validate.js';

/** What the document says about itself. */
export interface ApiTitle {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

const ERROR: SchemaName = 'common#ErrorBody';

/** Derives an OpenAPI 3.1 document from an endpoint list; its components are the schemas that the list refers to. */
export function openApiDocument(about: ApiTitle, endpoints: readonly Endpoint<never>[]): JsonSchema {
  const components = new Components();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of endpoints) {
    if (endpoint.hidden) continue;
    const path = endpoint.path.replaceAll('+}', '}');
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operation(endpoint, components);
  }
  const tags = [...new Set(endpoints.filter((one) => !one.hidden).map((one) => one.tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info: { ...about },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    tags,
    paths,
    components: {
      schemas: components.all(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
    security: [{}, { bearer: [] }, { apiKey: [] }],
  };
}

function operation(endpoint: Endpoint<never>, components: Components): JsonSchema {
  const json = (schema: JsonSchema | undefined): JsonSchema => ({ 'application/json': schema === undefined ? {} : { schema } });
  const success: JsonSchema =
    endpoint.response || !endpoint.mediaTypes ? json(endpoint.response && components.reference(endpoint.response)) : {};
  for (const type of endpoint.mediaTypes ?? []) success[type] = { schema: { type: 'string' } };
  if (endpoint.streams) success['text/event-stream'] = { schema: { description: 'Server-sent events.' } };
  const parameters = [...pathParameters(endpoint.path), ...queryParameters(endpoint.query, components)];
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    tags: [endpoint.tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(endpoint, components),
    responses: {
      [String(endpoint.status ?? 200)]: { description: 'Success.', content: success },
      default: { description: 'Failure.', content: json(components.reference(ERROR)) },
    },
  };
}

function requestBody({ body, multipart }: Endpoint<never>, components: Components): JsonSchema {
  if (body === undefined && multipart === undefined) return {};
  const content: JsonSchema = {};
  if (body !== undefined) content['application/json'] = { schema: components.reference(body) };
  if (multipart) content['multipart/form-data'] = { schema: components.reference(multipart.form, true) };
  return { requestBody: { required: true, content } };
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** The members of a query schema, one parameter each. */
function queryParameters(name: SchemaName | undefined, components: Components): JsonSchema[] {
  if (name === undefined) return [];
  const [file, schema] = shapeOf(name);
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {}).map(([member, shape]) => ({
    name: member,
    in: 'query',
    required: required.has(member),
    ...(typeof shape.description === 'string' ? { description: shape.description } : {}),
    schema: components.rewrite(shape, file),
  }));
}

/** A shape by its name, with the file that holds it; an `Error` when there is none. */
export function shapeOf(name: string): [file: string, schema: JsonSchema] {
  const [file = '', shape = ''] = name.split('#');
  const schema = (schemaFile(file).$defs as Record<string, JsonSchema> | undefined)?.[shape];
  if (schema === undefined) throw new Error(`no shape ${shape} in schemas/${file}.json`);
  return [file, schema];
}

/**
 * What a handler checks itself, with a status and words of its own, stands under this name in a schema: validators pass it over, and the document
 * has its members as if they stood beside it.
 */
const CHECKED_BY_HANDLER = 'x-checked';

/** A schema with a boolean as a form may send it; schemas without one as they are. */
function asFormValue(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  const types = [type].flat();
  if (!types.includes('boolean')) return schema;
  const texts = [...YES, ...NO]
    .map((text) => (/^\d$/.test(text) ? Number(text) : text))
    .filter((text) => text !== 'true' && text !== 'false');
  return { ...rest, enum: [true, false, ...texts, ...(types.includes('null') ? [null] : [])] };
}

/** The shapes of a document, gathered while references to them are made. */
class Components {
  readonly #names = new Map<string, string>();
  readonly #schemas: Record<string, JsonSchema> = {};

  all(): Record<string, JsonSchema> {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * A reference to a shape, which becomes a component under its own name, or, where that is taken, with its file's before it. `asForm` has the
   * shape as a form sends it.
   */
  reference(name: string, asForm = false): JsonSchema {
    const key = `${name}${asForm ? ' as form' : ''}`;
    const known = this.#names.get(key);
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` };
    const [file, schema] = shapeOf(name);
    const shape = name.slice(name.indexOf('#') + 1);
    const short = asForm && !shape.endsWith('Form') ? `${shape}Form` : shape;
    const component = Object.hasOwn(this.#schemas, short) ? `${file.replaceAll('/', '_')}_${short}` : short;
    this.#names.set(key, component);
    // Reserves the name before its members, which may refer back to it, are looked at.
    this.#schemas[component] = {};
    this.#schemas[component] = this.rewrite(schema, file, asForm);
    return { $ref: `#/components/schemas/${component}` };
  }

  /** A copy of a schema of `file` whose references point at components. */
  rewrite(node: JsonSchema, file: string, asForm = false): JsonSchema {
    return this.#copy(node, file, asForm) as JsonSchema;
  }

  #copy(node: unknown, file: string, asForm: boolean): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#copy(item, file, asForm));
    if (node === null || typeof node !== 'object') return node;
    const { [CHECKED_BY_HANDLER]: checked, ...rest } = asForm ? asFormValue(node as JsonSchema) : (node as JsonSchema);
    return Object.fromEntries(
      Object.entries({ ...rest, ...(checked as JsonSchema | undefined) }).map(([key, value]) => {
        if (key !== '$ref' || typeof value !== 'string') return [key, this.#copy(value, file, asForm)];
        const target = resolveReference(file, value);
        const [, defs, shape, ...inside] = target.pointer.split('/');
        if (defs !== '$defs' || shape === undefined)
          throw new Error(`schemas/${file}.json refers to ${value}; only $defs can be components`);
        const { $ref } = this.reference(`${target.file}#${shape}`, asForm);
        return [key, [$ref, ...inside].join('/')];
      }),
    );
  }
}
