/**
 * A Go struct as `encoding/json` fills it: unknown members are passed over, and missing ones and nulls leave the zero value. `any` takes everything; a list
 * has the shape of its elements, an object that of its members.
 */
export type GoShape = 'string' | 'int' | 'float' | 'bool' | 'any' | readonly [GoShape] | { readonly [member: string]: GoShape };

/** What Go would refuse of a JSON value, by path; nothing for a value that it takes. */
export function goRefusals(value: unknown, shape: GoShape, path = ''): string[] {
  if (value === null || value === undefined || shape === 'any') return [];
  if (typeof shape === 'string') return isOf(value, shape) ? [] : [`${path}: cannot unmarshal ${JSON.stringify(value)} into ${shape}`];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path}: cannot unmarshal ${typeof value} into a slice`];
    return value.flatMap((item, at) => goRefusals(item, shape[0], `${path}[${at}]`));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return [`${path}: cannot unmarshal ${typeof value} into a struct`];
  return Object.entries(shape).flatMap(([member, inner]) =>
    goRefusals((value as Record<string, unknown>)[member], inner, `${path}.${member}`),
  );
}

function isOf(value: unknown, shape: 'string' | 'int' | 'float' | 'bool'): boolean {
  if (shape === 'int') return Number.isInteger(value);
  if (shape === 'float') return typeof value === 'number';
  return typeof value === (shape === 'bool' ? 'boolean' : 'string');
}
