import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { SchemaName } from '../../schemas/endpoint.js';

/** A part of a JSON Schema, as the schema files of the product write them. */
// biome-ignore lint/suspicious/noExplicitAny: a schema has members of every shape
type Schema = any;

/** A body by what is bad about it; made when it is sent, since some take many megabytes. */
export interface WorstBody {
  readonly name: string;
  /** The content type; JSON unless given. */
  readonly type?: string;
  make(): string;
}

const SCHEMAS = join(import.meta.dirname, '../../schemas');
/** Texts of which one fits each pattern. */
const PLAIN_TEXTS = ['a', 'a/b', '64x64', '{}', '0'.repeat(64)];

const files = new Map<string, Schema>();

/** A schema with the file that its references start from. */
interface Place {
  readonly schema: Schema;
  readonly file: string;
}

function resolved(schema: Schema, file: string): Place {
  if (typeof schema?.$ref !== 'string') return { schema: schema ?? {}, file };
  const [path, pointer] = (schema.$ref as string).split('#') as [string, string];
  const target = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!files.has(target)) files.set(target, JSON.parse(readFileSync(join(SCHEMAS, target), 'utf8')));
  const names = pointer.split('/').slice(1);
  return resolved(
    names.reduce((node, name) => node[name], files.get(target)),
    target,
  );
}

/** The smallest value that fits a schema, or nearly. */
function smallest(given: Schema, from: string): unknown {
  const { schema, file } = resolved(given, from);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part: Schema) => smallest(part, file)));
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice && !schema.properties) return smallest(choice, file);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((name: string) => [name, smallest(schema.properties?.[name], file)]));
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => smallest(schema.items, file));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return PLAIN_TEXTS.find((text) => !schema.pattern || new RegExp(schema.pattern, 'u').test(text)) ?? 'a';
  }
}

/** The forms that a value may have: the alternatives of a union, each by itself. */
function forms(given: Schema, from: string): Place[] {
  const { schema, file } = resolved(given, from);
  const choices = schema.anyOf ?? schema.oneOf;
  return choices ? choices.flatMap((choice: Schema) => forms(choice, file)) : [{ schema, file }];
}

const list = (item: string, count: number): string => `[${`${item},`.repeat(Math.max(0, count - 1))}${count > 0 ? item : ''}]`;
const members = (count: number): string => `{${Array.from({ length: count }, (_none, i) => `"n${i}":${i}`).join(',')}}`;

/** A list of as many items as fit the schema, or some 40,000 that do not. */
function longLists({ schema, file }: Place, bytes: number): [what: string, json: string][] {
  const item = JSON.stringify(smallest(schema.items, file)) ?? 'null';
  const most = Math.min(schema.maxItems ?? Number.POSITIVE_INFINITY, Math.floor(bytes / (item.length + 1)));
  return [
    ['items that fit', list(item, most)],
    ['objects of nothing', list('{}', Math.floor(bytes / 3))],
    ['lists of a number', list('[7]', Math.floor(bytes / 4))],
    ['a long text among its items', `["${'word, '.repeat(bytes / 6)}"]`],
  ];
}

/** JSON of one form of a member, as long as `bytes` allow. */
function longest(place: Place, bytes: number): [what: string, json: string][] {
  const { schema, file } = place;
  const types = [schema.type].flat();
  if (types.includes('array')) return longLists(place, bytes);
  if (types.includes('object')) {
    const inner = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      forms(member, file)
        .filter((form) => [form.schema.type].flat().includes('array'))
        .map((form): [string, string] => {
          const whole = { ...(smallest(schema, file) as object), [name]: 0 };
          return [`items in ${name}`, JSON.stringify(whole).replace(`"${name}":0`, () => `"${name}":${longLists(form, bytes)[0]![1]}`)];
        }),
    );
    return [['many members', members(Math.min(30_000, Math.floor(bytes / 14)))], ...inner];
  }
  if (!types.includes('string')) return [];
  const most = Math.min(schema.maxLength ?? Number.POSITIVE_INFINITY, bytes);
  return [
    ['words', `"${'word, '.repeat(most / 6)}"`],
    ['letters in a row', `"${'é'.repeat(most / 2)}"`],
  ];
}

/** The members of an object schema, also of those that it is made of. */
function membersOf(given: Schema, from: string): [name: string, place: Place][] {
  const { schema, file } = resolved(given, from);
  const own = Object.entries(schema.properties ?? {}).map(([name, member]): [string, Place] => [name, { schema: member, file }]);
  return [...own, ...(schema.allOf ?? []).flatMap((part: Schema) => membersOf(part, file))];
}

/** Bodies of `bytes` that are bad for any parser; what they are sent to does not matter. */
export function brokenBodies(bytes: number): WorstBody[] {
  return [
    { name: 'brackets', make: () => '['.repeat(bytes) },
    { name: 'brackets in pairs', make: () => `{"a":${'['.repeat(bytes / 2 - 8)}${']'.repeat(bytes / 2 - 8)}}` },
    { name: 'lists of nothing', make: () => list('[]', bytes / 3) },
    { name: 'objects of nothing', make: () => `{"a":${list('{}', bytes / 3 - 4)}}` },
    { name: 'names', make: () => members(Math.floor(bytes / 16)) },
    { name: 'numbers and a wrong end', make: () => `{"a":[${'1,'.repeat(bytes / 2 - 5)}1}` },
    { name: 'a text without end', make: () => `{"a":"${'é\\n'.repeat(bytes / 4 - 4)}` },
    { name: 'blanks', make: () => `{"a":${' '.repeat(bytes - 10)}}` },
  ];
}

/** The longest bodies of some `bytes` that a schema gives occasion for: each member in each of its forms, with lists that fit and that do not, and texts. */
export function longBodies(name: SchemaName, bytes: number): WorstBody[] {
  const [path, shape] = name.split('#');
  const root = { $ref: `${path}.json#/$defs/${shape}` };
  const base = smallest(root, '') as object;
  return membersOf(root, '').flatMap(([member, of]) =>
    forms(of.schema, of.file).flatMap((form) =>
      longest(form, bytes - 4096).map(([what, json]) => ({
        name: `${member}: ${what}`,
        make: () => JSON.stringify({ ...base, [member]: 0 }).replace(`"${member}":0`, () => `"${member}":${json}`),
      })),
    ),
  );
}

const BOUNDARY = 'worst-boundary';

/** The longest forms of some `bytes` that a schema gives occasion for: each text field by itself, as one long text of several kinds and as many short ones. */
export function longForms(name: SchemaName, bytes: number): WorstBody[] {
  const [path, shape] = name.split('#');
  const all = membersOf({ $ref: `${path}.json#/$defs/${shape}` }, '');
  const isFile = ({ schema }: Place): boolean => (schema.items ?? schema).format === 'binary';
  const part = (field: string, value: string, more = ''): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${more}\r\n\r\n${value}\r\n`;
  const files = all.filter(([, place]) => isFile(place)).map(([field]) => part(field, 'text', '; filename="a.txt"'));
  const form = (field: string, value: string, count = 1): string =>
    `${files.join('')}${part(field, value).repeat(count)}--${BOUNDARY}--\r\n`;
  const texts: [what: string, make: (field: string) => string][] = [
    ['words', (field) => form(field, 'word, '.repeat(bytes / 6))],
    ['letters in a row', (field) => form(field, 'é'.repeat(bytes / 2))],
    ['digits', (field) => form(field, '9'.repeat(bytes))],
    ['brackets', (field) => form(field, '['.repeat(bytes))],
    ['a list of texts', (field) => form(field, list('"A"', bytes / 4))],
    ['ninety texts', (field) => form(field, 'word, '.repeat(bytes / 540), 90)],
  ];
  return all
    .filter(([, place]) => !isFile(place))
    .flatMap(([field]) =>
      texts.map(([what, make]) => ({
        name: `${field}: ${what}`,
        type: `multipart/form-data; boundary=${BOUNDARY}`,
        make: () => make(field),
      })),
    );
}

/** A small body that fits a schema, nearly, in which each member that has a value here has it, required or not. */
export function namedBody(name: SchemaName, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const [path, shape] = name.split('#');
  const root = { $ref: `${path}.json#/$defs/${shape}` };
  const known = membersOf(root, '').filter(([member]) => Object.hasOwn(values, member));
  return { ...(smallest(root, '') as object), ...Object.fromEntries(known.map(([member]) => [member, values[member]])) };
}

/** The same as a form, with a small file wherever it takes one. */
export function namedForm(name: SchemaName, values: Readonly<Record<string, unknown>>): { readonly type: string; readonly text: string } {
  const [path, shape] = name.split('#');
  const parts = membersOf({ $ref: `${path}.json#/$defs/${shape}` }, '').flatMap(([field, { schema }]) => {
    const isFile = (schema.items ?? schema).format === 'binary';
    if (!isFile && !Object.hasOwn(values, field)) return [];
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${isFile ? '; filename="a.txt"' : ''}\r\n\r\n`;
    return [`${head}${isFile ? 'text' : String(values[field])}\r\n`];
  });
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, text: `${parts.join('')}--${BOUNDARY}--\r\n` };
}
