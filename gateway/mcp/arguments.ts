import { randomUUID } from 'node:crypto';
import type { Endpoint } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { JsonSchema } from '../../schemas/files.js';
import { Components, shapeOf } from '../../schemas/shapes.js';
import { check } from '../../schemas/validate.js';

/** The arguments of a call, by name. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Where in a request each argument of a tool belongs. */
export interface ArgumentPlaces {
  readonly path: readonly string[];
  readonly query: readonly string[];
  /** Members of the body; of an endpoint without a body none. */
  readonly body: readonly string[];
  /** Members of a form that are files. */
  readonly files: readonly string[];
}

/** An argument that goes into a header: what it is, and the headers for its value. */
export interface HeaderArgument {
  readonly name: string;
  readonly schema: JsonSchema;
  headers(value: string | undefined): Readonly<Record<string, string>>;
}

/** A file that a tool takes; `core/mcp#FileArgument`. */
interface FileArgument {
  name: string;
  content: string;
  encoding: 'text' | 'base64';
  mime_type?: string;
}

const FILE = 'core/mcp#FileArgument';
/** What the arguments in the path and the query may have together: no request over HTTP could have more. */
const MAX_ADDRESS_CHARS = 16 * 1024;
/** What the parts of paths mean. */
const PATH_MEANINGS: Readonly<Record<string, string>> = {
  namespace: 'Namespace of the project, such as "default".',
  project: 'Name of the project.',
  dataset: 'Name of the dataset.',
  database_name: 'Name of the retrieval database.',
  file_hash: 'SHA-256 of the file, in hex.',
  task_id: 'Id of the task.',
};

/** The names in an endpoint's path. */
function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!);
}

function members(schema: JsonSchema | undefined): Record<string, JsonSchema> {
  return (schema?.properties as Record<string, JsonSchema> | undefined) ?? {};
}

function isFile({ format }: JsonSchema): boolean {
  return format === 'binary';
}

/**
 * The schema of a tool's arguments, and where each belongs: the names of the path, the query and the body side by side. `left` are members of the body
 * that the tool does not have. Throws an `Error` where a name stands in two places.
 */
export function argumentsOf(
  endpoint: Endpoint<never>,
  { left = [], header }: { left?: readonly string[]; header?: HeaderArgument | undefined } = {},
): { inputSchema: JsonSchema; places: ArgumentPlaces } {
  const components = new Components('#/$defs/');
  const shape = endpoint.body ?? endpoint.multipart?.form;
  const [bodyFile, body] = shape === undefined ? ['', undefined] : shapeOf(shape);
  const [queryFile, query] = endpoint.query === undefined ? ['', undefined] : shapeOf(endpoint.query);
  const inBody = Object.entries(members(body)).filter(([name]) => !left.includes(name));
  const path = pathNames(endpoint.path);
  const places: ArgumentPlaces = {
    path,
    query: Object.keys(members(query)),
    body: inBody.filter(([, schema]) => !isFile(schema)).map(([name]) => name),
    files: inBody.filter(([, schema]) => isFile(schema)).map(([name]) => name),
  };
  const all = [...path, ...places.query, ...places.body, ...places.files, ...(header ? [header.name] : [])];
  const twice = all.find((name, at) => all.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the tool ${endpoint.id} has two arguments ${twice}`);
  const rewrite =
    (file: string) =>
    ([name, schema]: [string, JsonSchema]) =>
      [name, components.rewrite(schema, file)] as const;
  const properties = Object.fromEntries([
    ...path.map(
      (name) => [name, { type: 'string', minLength: 1, description: PATH_MEANINGS[name] ?? `The ${name} of the path.` }] as const,
    ),
    ...Object.entries(members(query)).map(rewrite(queryFile)),
    ...inBody.map(([name, schema]) => (isFile(schema) ? ([name, components.reference(FILE)] as const) : rewrite(bodyFile)([name, schema]))),
    ...(header ? [[header.name, header.schema] as const] : []),
  ]);
  const required = [...path, ...requiredOf(query), ...requiredOf(body).filter((name) => !left.includes(name))];
  const defs = components.all();
  return {
    inputSchema: {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...(body?.additionalProperties === true ? {} : { additionalProperties: false }),
      ...(Object.keys(defs).length > 0 ? { $defs: defs } : {}),
    },
    places,
  };
}

function requiredOf(schema: JsonSchema | undefined): string[] {
  return (schema?.required as string[] | undefined) ?? [];
}

/** The path, query and body of the request that a call stands for. Throws `invalid` for missing and unknown arguments. */
export function requestOf(
  endpoint: Endpoint<never>,
  { path: inPath, query: inQuery, body: inBody, files }: ArgumentPlaces,
  given: Arguments,
): { path: string; query: string; body: Buffer; contentType: string } {
  let left = MAX_ADDRESS_CHARS;
  const addressed = (name: string, text: string): string => {
    left -= name.length + text.length;
    if (left < 0) throw addressTooLong(name);
    return text;
  };
  const path = endpoint.path.replace(/\{(\w+)\+?\}/g, (_whole, name: string) => {
    const value = given[name];
    // Half a surrogate pair has no form in an address.
    if (typeof value !== 'string' || value === '' || /\p{Surrogate}/u.test(value)) throw missing(name, value);
    return encodeURIComponent(addressed(name, value));
  });
  const query = new URLSearchParams();
  for (const name of inQuery) {
    const value = given[name];
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) query.append(name, addressed(name, textOf(one)));
  }
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !inPath.includes(name) && !inQuery.includes(name)));
  const takesBody = endpoint.body !== undefined || endpoint.multipart !== undefined;
  const unknown = takesBody && !endpoint.multipart ? undefined : Object.keys(rest).find((name) => ![...inBody, ...files].includes(name));
  if (unknown !== undefined) throw unknownArgument(endpoint, unknown, [...inPath, ...inQuery, ...inBody, ...files]);
  const content = endpoint.multipart
    ? formOf(rest, files)
    : { body: takesBody ? Buffer.from(JSON.stringify(rest)) : Buffer.alloc(0), contentType: takesBody ? 'application/json' : '' };
  return { path, query: query.toString(), ...content };
}

/** A `multipart/form-data` body of text fields and files. */
function formOf(fields: Arguments, files: readonly string[]): { body: Buffer; contentType: string } {
  const boundary = `quern-${randomUUID()}`;
  const pieces: (string | Buffer)[] = [];
  const part = (name: string, more: string, content: string | Buffer): void => {
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`, content, '\r\n');
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    if (!files.includes(name)) part(name, '', textOf(value));
    else {
      const { name: fileName, content, encoding, mime_type: type } = check<FileArgument>(FILE, value);
      // As browsers write it.
      const quoted = fileName.replace(/["\r\n]/g, encodeURIComponent);
      const typed = type ? `\r\nContent-Type: ${type.replace(/[^\x21-\x7e]/g, '')}` : '';
      const head = `; filename="${quoted}"${typed}`;
      part(name, head, Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8'));
    }
  }
  pieces.push(`--${boundary}--\r\n`);
  return { body: Buffer.concat(pieces.map((piece) => Buffer.from(piece))), contentType: `multipart/form-data; boundary=${boundary}` };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function addressTooLong(name: string): Failure {
  return new Failure('too_large', `${name}: the arguments that belong to the address may have ${MAX_ADDRESS_CHARS} characters together.`);
}

function missing(name: string, value: unknown): Failure {
  const msg = `the argument "${name}" must be a text that is not empty`;
  const errors = [{ type: value === undefined ? 'missing' : 'string_type', loc: ['arguments', name], msg }];
  return new Failure('invalid', `${name}: ${msg}.`, { errors });
}

function unknownArgument({ id }: Endpoint<never>, name: string, known: readonly string[]): Failure {
  const msg = `the tool ${id} has no argument ${JSON.stringify(name.slice(0, 100))}; it has: ${known.join(', ')}`;
  return new Failure('invalid', `${msg}.`, { errors: [{ type: 'extra_forbidden', loc: ['arguments', name.slice(0, 100)], msg }] });
}
