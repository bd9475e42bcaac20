import type { Metadata } from '../../../documents/contract.js';
import type { Condition } from '../filter.js';
import { storedPaths } from '../names.js';

/** The whole metadata as JSON: Chroma keeps texts, numbers and booleans only. */
export const METADATA_KEY = 'quern_metadata';
/** Marks keys whose value is a list or a fraction, so that a filter on the server can let them through. */
const OTHER = '#other';

/** Metadata as Chroma keeps it: lists joined by commas, objects as JSON, nulls dropped; with the whole beside it. */
export function flattened(documentHash: string, metadata: Metadata): Metadata {
  const flat: Metadata = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) flat[key] = value.join(',');
    else if (typeof value === 'object') flat[key] = JSON.stringify(value);
    else flat[key] = value;
    if (Array.isArray(value) || (typeof value === 'number' && !Number.isInteger(value))) flat[`${key}${OTHER}`] = true;
  }
  return { ...flat, document_hash: documentHash, [METADATA_KEY]: JSON.stringify(metadata) };
}

/** Values that Chroma compares as our filters do, whatever the form of the metadata, apart from what OTHER marks. */
const plain = (value: unknown): boolean =>
  typeof value === 'boolean' || Number.isInteger(value) || (typeof value === 'string' && !/[,{]/.test(value));

/** Chroma compares integers with integers only. */
function bound(operator: string, value: number): Metadata {
  if (Number.isInteger(value)) return { [`$${operator}`]: value };
  return operator.startsWith('g') ? { $gte: Math.ceil(value) } : { $lte: Math.floor(value) };
}

function tested({ operator, wanted }: Condition): Metadata | undefined {
  switch (operator) {
    case 'eq':
      return plain(wanted) ? { $eq: wanted } : undefined;
    case 'in': {
      const values = wanted as unknown[];
      const alike = values.length > 0 && values.every((value) => plain(value) && typeof value === typeof values[0]);
      return alike ? { $in: values } : undefined;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof wanted === 'number' && Number.isFinite(wanted) ? bound(operator, wanted) : undefined;
    default:
      return undefined;
  }
}

/** The part of a filter that Chroma can take: it lets everything through that passes the whole. */
export function chromaWhere(conditions: readonly Condition[]): Metadata | undefined {
  const parts = conditions.flatMap((condition) => {
    const test = condition.path.includes('.') ? undefined : tested(condition);
    const paths = storedPaths(condition.path);
    return test === undefined ? [] : [{ $or: paths.flatMap((path) => [{ [path]: test }, { [`${path}${OTHER}`]: { $eq: true } }]) }];
  });
  return parts.length > 1 ? { $and: parts } : parts[0];
}

/** The condition that a text has one of the beginnings of words. Chroma tells upper from lower case: the usual three ways are asked for. */
export function chromaWords(beginnings: readonly string[]): Metadata {
  const forms = beginnings.flatMap((word) => [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()]);
  const parts = [...new Set(forms)].map((form) => ({ $contains: form }));
  return parts.length > 1 ? { $or: parts } : parts[0]!;
}
