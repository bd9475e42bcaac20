import type { FailureItem } from '../../schemas/errors.js';
import { type JsonSchema, schemaFile } from '../../schemas/files.js';

/** Longest key that is compared with those that there are, and shown. */
const LONGEST = 64;

/**
 * Each key of a module file that means nothing, with the known one that is most like it: a key that is misspelt would leave a limit or a role
 * out. Keys that begin with `x-` are anybody's.
 */
export function unknownKeys(file: object): FailureItem[] {
  const { $defs: shapes } = schemaFile('accounts/module') as { $defs: Record<string, JsonSchema> };
  const found: FailureItem[] = [];
  const visit = (value: unknown, schemas: readonly JsonSchema[], path: readonly (string | number)[]): void => {
    if (value === null || typeof value !== 'object') return;
    const shape = schemas
      .flatMap((schema) => plainSchemas(schema, shapes))
      .find((each) => (each.type === 'array') === Array.isArray(value));
    if (!shape) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [shape.items as JsonSchema], [...path, index]);
      return;
    }
    const { properties = {}, additionalProperties: others } = shape as {
      properties?: Record<string, JsonSchema>;
      additionalProperties?: JsonSchema;
    };
    for (const [key, member] of Object.entries(value)) {
      const schema = Object.hasOwn(properties, key) ? properties[key] : others;
      if (schema) visit(member, [schema], [...path, key]);
      else if (!key.startsWith('x-')) found.push(unknownKey([...path, key.slice(0, LONGEST)], key, Object.keys(properties)));
    }
  };
  visit(file, [shapes.ModuleFile!], []);
  return found;
}

/** A schema without references; of one with several forms, those that are an object or a list. */
function plainSchemas(schema: JsonSchema, shapes: Record<string, JsonSchema>): JsonSchema[] {
  const { $ref: reference, oneOf } = schema as { $ref?: string; oneOf?: JsonSchema[] };
  if (reference !== undefined) return plainSchemas(shapes[reference.slice('#/$defs/'.length)]!, shapes);
  if (oneOf) return oneOf.flatMap((each) => plainSchemas(each, shapes));
  return schema.type === 'object' || schema.type === 'array' ? [schema] : [];
}

function unknownKey(loc: readonly (string | number)[], key: string, names: readonly string[]): FailureItem {
  const given = key.slice(0, LONGEST);
  const [nearest] = names.toSorted((a, b) => distance(a, given) - distance(b, given));
  const isLike = nearest !== undefined && distance(nearest, given) <= Math.max(2, nearest.length / 2);
  const remedy = isLike ? `did you mean ${nearest}?` : `the keys here are ${names.toSorted().join(', ')}`;
  return { type: 'extra_forbidden', loc, msg: `is no key of a module file; ${remedy}`, input: given };
}

/** How many letters must be put in, taken out or changed to make one word of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const here = [row];
    for (let column = 1; column <= b.length; column += 1)
      here.push(Math.min(above[column]! + 1, here.at(-1)! + 1, above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)));
    above = here;
  }
  return above.at(-1)!;
}
