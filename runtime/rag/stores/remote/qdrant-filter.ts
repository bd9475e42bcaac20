import type { Metadata } from '../../../documents/contract.js';
import type { Condition } from '../filter.js';
import { storedPaths } from '../names.js';

/** Names that mean themselves in a path of Qdrant. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

/** The condition on one value, for values that Qdrant compares as our filters do: it looks into lists too. */
function matching(key: string, value: unknown): Metadata | undefined {
  if (typeof value === 'boolean' || (typeof value === 'string' && !/[,{]/.test(value))) return { key, match: { value } };
  // Whole numbers and fractions are different kinds to `match`, but not to a range.
  return typeof value === 'number' ? { key, range: { gte: value, lte: value } } : undefined;
}

function anyOf(keys: readonly string[], values: readonly unknown[]): Metadata[] | undefined {
  const parts = keys.flatMap((key) => values.map((value) => matching(key, value)));
  return parts.every((part) => part !== undefined) ? (parts as Metadata[]) : undefined;
}

/** The part of a filter that Qdrant can take: it lets everything through that passes the whole. */
export function qdrantFilter(conditions: readonly Condition[]): Metadata | undefined {
  const must: Metadata[] = [];
  const mustNot: Metadata[] = [];
  for (const { path, operator, wanted } of conditions) {
    if (!PLAIN_NAME.test(path)) continue;
    const keys = storedPaths(path).map((stored) => `metadata.${stored}`);
    if (operator === 'eq' || operator === 'in') {
      const should = anyOf(keys, operator === 'eq' ? [wanted] : (wanted as unknown[]));
      if (should !== undefined && should.length > 0) must.push({ should });
    } else if (operator === 'ne' || operator === 'nin') {
      mustNot.push(...(anyOf(keys, operator === 'ne' ? [wanted] : (wanted as unknown[])) ?? []));
    } else if (typeof wanted === 'number') must.push({ should: keys.map((key) => ({ key, range: { [operator]: wanted } })) });
  }
  if (must.length + mustNot.length === 0) return undefined;
  return { ...(must.length > 0 && { must }), ...(mustNot.length > 0 && { must_not: mustNot }) };
}
