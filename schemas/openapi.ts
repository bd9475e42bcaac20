import type { Endpoint, ErrorShape, SchemaName } from './endpoint.js';
import type { JsonSchema } from './files.js';
import { Components, shapeOf } from './shapes.js';

/** What the document says about itself. */
export interface ApiTitle {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

const ERROR: SchemaName = 'common#ErrorBody';
/** What a failure looks like where that is not the house's body, or one that has all of it. */
const OTHER_ERRORS: Partial<Record<ErrorShape, SchemaName>> = { ollama: 'common#OllamaError', anthropic: 'common#AnthropicError' };
const STREAMS = {
  'text/event-stream': 'Server-sent events.',
  'application/x-ndjson': 'One JSON object a line.',
} as const;
/** Marks operations that are tools of the Model Context Protocol too. */
const TOOL_TAG = 'mcp';

/** Derives an OpenAPI 3.1 document from an endpoint list; its components are the schemas that the list refers to. */
export function openApiDocument(about: ApiTitle, endpoints: readonly Endpoint<never>[]): JsonSchema {
  const components = new Components('#/components/schemas/');
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of endpoints) {
    if (endpoint.hidden) continue;
    const path = endpoint.path.replaceAll('+}', '}');
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operation(endpoint, components);
  }
  const shown = endpoints.filter((one) => !one.hidden);
  const tags = [...new Set([...shown.map(({ tag }) => tag), ...(shown.some(({ tool }) => tool) ? [TOOL_TAG] : [])])].map((name) => ({
    name,
  }));
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
  // A file of JSON may hold any value.
  for (const type of endpoint.mediaTypes ?? []) success[type] = { schema: type === 'application/json' ? {} : { type: 'string' } };
  if (endpoint.streams) {
    const type = endpoint.streams === 'lines' ? 'application/x-ndjson' : 'text/event-stream';
    success[type] = { schema: { description: STREAMS[type] } };
  }
  const parameters = [...pathParameters(endpoint, components), ...queryParameters(endpoint.query, components)];
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    tags: endpoint.tool ? [endpoint.tag, TOOL_TAG] : [endpoint.tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(endpoint, components),
    responses: {
      [String(endpoint.status ?? 200)]: { description: 'Success.', content: success },
      default: { description: 'Failure.', content: json(components.reference(OTHER_ERRORS[endpoint.errorShape ?? 'house'] ?? ERROR)) },
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

function pathParameters({ path, names = {} }: Endpoint<never>, components: Components): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => {
    const shape = names[name];
    return { name, in: 'path', required: true, schema: shape ? components.reference(shape) : { type: 'string' } };
  });
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
