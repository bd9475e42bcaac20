import { isObject } from '../../base/json.js';
import { SchemaDocument, type SchemaObject } from '../../completions/schema/document.js';
import { Work } from '../../completions/work.js';

/** Most work that the defaults of one answer may take: some 30 ms. */
const MAX_WORK = 60_000;

/**
 * A value that fits a schema, with the `default` of each property that it lacks; the value itself where it lacks none. Properties of alternatives
 * (`anyOf`) count where one alternative alone can be meant: beside `null`.
 */
export function withDefaults(value: unknown, schema: unknown): unknown {
  return filled(value, schema, new SchemaDocument(schema, new Work(MAX_WORK)));
}

function filled(value: unknown, schema: unknown, document: SchemaDocument): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const found = resolved(schema, document);
  document.work.spend();
  if (Array.isArray(value)) {
    const items = value.map((item) => filled(item, found?.items, document));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return found ? filledObject(value as SchemaObject, found, document) : value;
}

function filledObject(value: SchemaObject, schema: SchemaObject, document: SchemaDocument): SchemaObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const out = new Map<string, unknown>();
  let isChanged = false;
  const add = (name: string, member: unknown): void => {
    isChanged ||= value[name] !== member || !Object.hasOwn(value, name);
    out.set(name, member);
  };
  for (const [name, property] of Object.entries(properties)) {
    document.work.spend();
    if (Object.hasOwn(value, name)) add(name, filled(value[name], property, document));
    else if (isObject(property) && property.default !== undefined) add(name, property.default);
  }
  for (const [name, member] of Object.entries(value)) if (!out.has(name)) add(name, filled(member, schema.additionalProperties, document));
  return isChanged ? Object.fromEntries(out) : value;
}

/** The schema object behind references; of alternatives the only one that is no `null`. */
function resolved(schema: unknown, document: SchemaDocument): SchemaObject | undefined {
  let found = schema;
  while (isObject(found)) {
    if (typeof found.$ref === 'string') found = document.resolve(found, found.$ref);
    else if (Array.isArray(found.anyOf)) {
      const others = found.anyOf.filter((one) => !isObject(one) || one.type !== 'null');
      if (others.length !== 1) return undefined;
      found = others[0];
    } else return found;
  }
  return undefined;
}
