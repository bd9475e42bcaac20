/** The document that the daemon makes of its API, as far as this view reads it: OpenAPI 3.1. */

export interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
}

interface Content {
  readonly schema?: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly description?: string;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Readonly<Record<string, Content>> }>>;
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components?: unknown;
}

/** One operation with its method and path. */
export interface Operation extends Described {
  readonly method: string;
  readonly path: string;
}

/** The operations of a document. */
export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ ...one, method, path })));

/** Whether an operation has all words of a search, in its method, path, name, summary or tags. */
export function hasWords({ method, path, operationId, summary, tags }: Operation, search: string): boolean {
  const text = [method, path, operationId, summary, ...tags].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** What a schema means: that which its reference names, where it is one. */
export function target(document: Document, schema: Schema | undefined): Schema | undefined {
  if (schema?.$ref === undefined) return schema;
  const found = schema.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
  return found as Schema | undefined;
}

/** The kind of a value in a few words, such as `array of string`. */
export function kindOf(schema: Schema | undefined): string {
  if (!schema || typeof schema !== 'object') return 'any';
  if (schema.$ref) return schema.$ref.split('/').pop()!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return [...new Set(union.map(kindOf))].join(' | ');
  if (schema.type === 'array') return `array of ${kindOf(schema.items)}`;
  if (schema.format === 'binary') return 'file';
  return [schema.type ?? 'any'].flat().join(' | ');
}

const LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'];

/** The limits of a value and what it is when it is left out, in words. */
export function limitsOf(schema: Schema): string {
  const parts = LIMITS.filter((name) => name in schema).map((name) => `${name} ${(schema as Record<string, unknown>)[name]}`);
  if (schema.default !== undefined) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.join(', ');
}

/** The schema with members that a schema leads to, through references, lists and unions; undefined where there is none. */
export function withMembers(document: Document, schema: Schema | undefined): Schema | undefined {
  const found = target(document, schema);
  if (!found || typeof found !== 'object') return undefined;
  if (found.properties) return found;
  if (found.type === 'array') return withMembers(document, found.items);
  for (const option of found.anyOf ?? found.oneOf ?? found.allOf ?? []) {
    const inner = withMembers(document, option);
    if (inner) return inner;
  }
  return undefined;
}

const DEEPEST = 5;

/** A value that a schema takes, with its required members, to begin from. */
export function sampleOf(document: Document, schema: Schema | undefined, depth = 0): unknown {
  const found = target(document, schema);
  if (!found || typeof found !== 'object' || depth > DEEPEST) return null;
  if (found.examples) return found.examples[0];
  if (found.default !== undefined) return found.default;
  if (found.const !== undefined) return found.const;
  if (found.enum) return found.enum[0];
  const union = found.anyOf ?? found.oneOf;
  if (union) return sampleOf(document, union[0], depth + 1);
  const type = [found.type].flat()[0];
  if (found.properties || type === 'object')
    return Object.fromEntries((found.required ?? []).map((name) => [name, sampleOf(document, found.properties?.[name], depth + 1)]));
  if (type === 'array') return [sampleOf(document, found.items, depth + 1)];
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return found.minimum ?? 0;
  return type === 'boolean' ? false : null;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The address of a request: path parameters filled in (those without a value stay as they are named), the rest behind `?`. */
export function addressOf({ path, parameters = [] }: Operation, values: Readonly<Record<string, string>>): string {
  let address = path;
  const query = new URLSearchParams();
  for (const { name, in: place } of parameters) {
    const value = values[name] ?? '';
    if (value === '') continue;
    if (place === 'path') address = address.replace(`{${name}}`, value.split('/').map(encodeURIComponent).join('/'));
    else if (place === 'query') query.append(name, value);
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

/** Stands for the key in commands. */
export const KEY_IN_SHELL = '$API_KEY';

/** A request as a command for a terminal. */
export function curlOf(method: string, address: string, headers: Readonly<Record<string, string>>, body: readonly string[]): string {
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${quoted(address)}`];
  for (const [name, value] of Object.entries(headers)) {
    // The shell fills the key in, which it does between double quotes alone.
    lines.push(value.includes(KEY_IN_SHELL) ? `-H "${name}: ${value}"` : `-H ${quoted(`${name}: ${value}`)}`);
  }
  return [...lines, ...body].join(' \\\n  ');
}

/** A JSON body for `curlOf`. */
export const jsonPart = (text: string): string => `-d ${quoted(text)}`;

/** A field of a form for `curlOf`. */
export const formPart = (name: string, value: string): string => `-F ${quoted(`${name}=${value}`)}`;
