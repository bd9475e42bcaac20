import { isObject } from '../../base/json.js';
import { typeOf } from './check.js';
import { NO_OWN, tagOf } from './conjunction.js';
import type { SchemaDocument, SchemaObject } from './document.js';

/** The types of JSON Schema. */
export const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'];

/** Keywords of one type that a grammar holds, at least in part. */
const OF_TYPE: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  patternProperties: 'object',
  propertyNames: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  additionalItems: 'array',
  minItems: 'array',
  maxItems: 'array',
  pattern: 'string',
  format: 'string',
  minLength: 'string',
  maxLength: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};
/** Keywords that only a finished text can show to be kept, with the type that they are about. */
const CHECKED: Readonly<Record<string, string>> = {
  not: 'any',
  if: 'any',
  uniqueItems: 'array',
  contains: 'array',
  dependentRequired: 'object',
  dependentSchemas: 'object',
  dependencies: 'object',
};
/** Keywords that mean something only beside another. */
const BESIDE = new Set(['then', 'else', 'minContains', 'maxContains']);
/** Keywords that can be neither held nor checked, unless they are false: a grammar adds nothing that is not declared. */
const UNCHECKED = new Set(['unevaluatedProperties', 'unevaluatedItems', '$recursiveRef']);
const READ_ELSEWHERE = new Set([...NO_OWN, 'type', 'enum', 'const']);

/** What is to be said about a keyword: `left` to the finished text, `unread`, or `unknown`; undefined where a grammar holds it. */
export function standing(keyword: string, value: unknown, types: readonly string[]): 'left' | 'unread' | 'unknown' | undefined {
  if (Object.hasOwn(CHECKED, keyword)) {
    const about = CHECKED[keyword]!;
    const says = value !== false || keyword === 'not';
    return says && (about === 'any' || types.length === 0 || types.includes(about)) ? 'left' : undefined;
  }
  if (UNCHECKED.has(keyword)) return value === false ? undefined : 'unread';
  return READ_ELSEWHERE.has(keyword) || keyword.startsWith('x-') || BESIDE.has(keyword) || Object.hasOwn(OF_TYPE, keyword)
    ? undefined
    : 'unknown';
}

/** Whether any object fits, as far as the keywords of objects say. */
export function allowsAnyObject(schema: SchemaObject): boolean {
  const told = Object.keys(schema).filter((key) => OF_TYPE[key] === 'object');
  return schema.unevaluatedProperties !== false && told.every((key) => key === 'properties' || key === 'required' || schema[key] === true);
}

/** The values of `enum` or `const`; undefined where neither is there. */
export function valuesOf(schema: SchemaObject): unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** The types that all of the schemas allow; undefined where none names a type. Of `number` and `integer` the narrower is left. */
export function typesOf(schemas: readonly SchemaObject[]): unknown[] | undefined {
  let left: unknown[] | undefined;
  for (const { type } of schemas) {
    if (type === undefined) continue;
    const own: unknown[] = Array.isArray(type) ? type : [type];
    const narrowed = (left ?? own).flatMap((one) => {
      if (own.includes(one) || (one === 'integer' && own.includes('number'))) return [one];
      return one === 'number' && own.includes('integer') ? ['integer'] : [];
    });
    left = [...new Set(narrowed)];
  }
  return left;
}

/** The types that schemas without `type` are about; none = any value. */
export function impliedTypes(schemas: readonly SchemaObject[]): string[] {
  const about = new Set(schemas.flatMap((schema) => Object.keys(schema).map((key) => (Object.hasOwn(OF_TYPE, key) ? OF_TYPE[key]! : ''))));
  return ['object', 'array', 'string', 'number'].filter((type) => about.has(type)).slice(0, 1);
}

/** A whole number from 0 on; undefined for anything else. */
export function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** The largest of a keyword's values, or 0. */
export function most(schemas: readonly SchemaObject[], keyword: string): number {
  return Math.max(0, ...schemas.map((schema) => amount(schema[keyword]) ?? 0));
}

/** The smallest of a keyword's values, or `Infinity`. */
export function least(schemas: readonly SchemaObject[], keyword: string): number {
  return Math.min(Infinity, ...schemas.map((schema) => amount(schema[keyword]) ?? Infinity));
}

/** The texts that a keyword has in any of the schemas. */
export function texts(schemas: readonly SchemaObject[], keyword: string): string[] {
  return [...new Set(schemas.map((schema) => schema[keyword]).filter((value) => typeof value === 'string'))];
}

/** Most alternatives that are compared with each other. */
const MAX_COMPARED = 100;

/** What tells an alternative from others: its types, and the values that properties which it requires may have. */
interface Marks {
  types: ReadonlySet<unknown>;
  tags: ReadonlyMap<string, ReadonlySet<string>>;
  /** The property that every object of it begins with. */
  first: string | undefined;
}

function marksOf(alternative: unknown, tag: string | undefined, document: SchemaDocument): Marks | undefined {
  let schema = alternative;
  for (let hops = 0; isObject(schema) && typeof schema.$ref === 'string' && hops < 8; hops += 1)
    schema = document.resolve(schema, schema.$ref);
  if (!isObject(schema)) return undefined;
  const values = valuesOf(schema);
  const types = values ? values.map(typeOf) : schema.type === undefined ? [] : [schema.type].flat();
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const tags = new Map<string, Set<string>>();
  if (tag !== undefined) required.add(tag);
  for (const [name, property] of isObject(schema.properties) ? Object.entries(schema.properties) : []) {
    document.work.spend();
    const allowed = isObject(property) ? valuesOf(property) : undefined;
    if (required.has(name) && allowed && allowed.length < MAX_COMPARED)
      tags.set(name, new Set(allowed.map((value) => JSON.stringify(value))));
  }
  if (values && values.length < MAX_COMPARED) tags.set('', new Set(values.map((value) => JSON.stringify(value))));
  const [first] = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const whole = schema.anyOf === undefined && schema.oneOf === undefined && schema.allOf === undefined;
  return {
    types: new Set(types.map((type) => (type === 'integer' ? 'number' : type))),
    tags,
    first: first !== undefined && whole && required.has(first) ? first : undefined,
  };
}

function apart(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): boolean {
  return a.size > 0 && b.size > 0 && [...a].every((one) => !b.has(one));
}

/** Whether each two of a choice's alternatives are told apart by `differ`; false where there are too many to compare. */
function eachTwo(
  schema: SchemaObject,
  role: 'anyOf' | 'oneOf',
  document: SchemaDocument,
  differ: (a: Marks, b: Marks) => boolean,
): boolean {
  const alternatives = schema[role] as readonly unknown[];
  if (alternatives.length > MAX_COMPARED) return false;
  const marks = alternatives.map((alternative) => marksOf(alternative, tagOf(schema), document));
  return marks.every((one, at) =>
    marks.slice(at + 1).every((other) => {
      document.work.spend(0.2);
      return one !== undefined && other !== undefined && differ(one, other);
    }),
  );
}

/** Whether no value fits two of the alternatives of `oneOf`, as their types or a property that each requires with another value show. */
export function exclude(schema: SchemaObject, document: SchemaDocument): boolean {
  return eachTwo(
    schema,
    'oneOf',
    document,
    (a, b) => apart(a.types, b.types) || [...a.tags].some(([name, values]) => apart(values, b.tags.get(name) ?? new Set())),
  );
}

/** Whether the alternatives differ before a value inside them begins: by their types, or by the name or the value of their first property. */
export function differSoon(schema: SchemaObject, role: 'anyOf' | 'oneOf', document: SchemaDocument): boolean {
  return eachTwo(schema, role, document, (a, b) => {
    if (apart(a.types, b.types)) return true;
    if (a.first === undefined || b.first === undefined) return false;
    return a.first !== b.first || apart(a.tags.get(a.first) ?? new Set(), b.tags.get(b.first) ?? new Set());
  });
}
