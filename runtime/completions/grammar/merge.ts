/** A JSON Schema object. */
export type SchemaObject = Record<string, unknown>;

/** True for plain objects. */
export function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Members that say nothing about which values are valid. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  '$anchor',
  'deprecated',
  'readOnly',
  'writeOnly',
  'discriminator',
  'contentMediaType',
  'contentEncoding',
]);

const TIGHTEST: Record<string, (a: number, b: number) => number> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
};

function mergeTypes(a: unknown, b: unknown): unknown {
  const both = [a, b].map((type) => (Array.isArray(type) ? type : [type])) as [string[], string[]];
  const common = both[0].filter((type) => both[1].includes(type) || (type === 'integer' && both[1].includes('number')));
  if (both[0].includes('number') && both[1].includes('integer') && !common.includes('integer')) common.push('integer');
  return common.length === 1 ? common[0] : common;
}

function mergeMember(key: string, a: unknown, b: unknown): unknown {
  const tightest = TIGHTEST[key];
  if (tightest && typeof a === 'number' && typeof b === 'number') return tightest(a, b);
  if (key === 'type') return mergeTypes(a, b);
  if (key === 'required' && Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  if (key === 'properties' && isObject(a) && isObject(b)) {
    const out: SchemaObject = { ...a };
    for (const [name, schema] of Object.entries(b)) out[name] = name in out ? { allOf: [out[name], schema] } : schema;
    return out;
  }
  if (key === 'enum' && Array.isArray(a) && Array.isArray(b)) {
    const wanted = new Set(b.map((value) => JSON.stringify(value)));
    return a.filter((value) => wanted.has(JSON.stringify(value)));
  }
  if (key === 'items' || key === 'additionalProperties') {
    if (a === false || b === false) return false;
    return isObject(a) && isObject(b) ? { allOf: [a, b] } : isObject(a) ? a : b;
  }
  if (key === 'anyOf' || key === 'oneOf') return a;
  return b;
}

/** A schema that accepts what both accept, as far as their members can be joined; `conflicts` gets the names of those that cannot. */
export function mergeSchemas(a: SchemaObject, b: SchemaObject, conflicts: Set<string>): SchemaObject {
  const out: SchemaObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    if (!(key in out)) {
      out[key] = value;
      continue;
    }
    if (ANNOTATIONS.has(key) || JSON.stringify(out[key]) === JSON.stringify(value)) continue;
    if (['anyOf', 'oneOf', 'pattern', 'format', 'const', '$ref', 'prefixItems'].includes(key)) conflicts.add(key);
    out[key] = mergeMember(key, out[key], value);
  }
  return out;
}
