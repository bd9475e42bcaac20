import { Failure } from '../../../schemas/errors.js';
import { isObject, sameJson } from '../../base/json.js';
import type { Metadata } from '../../documents/contract.js';
import type { Chunk, Filter } from '../contract.js';

/** What a condition does with the value under its path. */
type Operator = 'eq' | 'ne' | 'in' | 'nin' | 'gt' | 'gte' | 'lt' | 'lte';

/** One condition of a filter; all of them must hold. */
export interface Condition {
  /** Names of nested objects, joined by dots. */
  readonly path: string;
  readonly operator: Operator;
  readonly wanted: unknown;
}

const MAX_CONDITIONS = 64;
const MAX_DEPTH = 8;

/**
 * The conditions of a filter, those on nested objects by dotted path. `$ne` and `$nin` hold where the value is absent.
 * Throws `bad_request` (InvalidFilter) for unknown operators, wrong values, or too many conditions.
 */
export function conditionsOf(filter: Filter): Condition[] {
  const conditions: Condition[] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (key.startsWith('$')) refuse(`A filter has no '${key}' at its top: write {"name": {"${key}": value}}.`);
    collectConditions(key, value, 1, conditions);
  }
  if (conditions.length > MAX_CONDITIONS) {
    refuse(`A filter has ${conditions.length} conditions; at most ${MAX_CONDITIONS} are allowed.`);
  }
  return conditions;
}

function refuse(message: string): never {
  throw new Failure('bad_request', message, { code: 'InvalidFilter' });
}

const TESTS: Record<Operator, (wanted: unknown, found: unknown) => boolean> = {
  eq: equalsOrHolds,
  ne: (wanted, found) => !equalsOrHolds(wanted, found),
  in: (wanted, found) => (wanted as unknown[]).some((value) => equalsOrHolds(value, found)),
  nin: (wanted, found) => !(wanted as unknown[]).some((value) => equalsOrHolds(value, found)),
  gt: (wanted, found) => passesOrder(wanted, found, (order) => order > 0),
  gte: (wanted, found) => passesOrder(wanted, found, (order) => order >= 0),
  lt: (wanted, found) => passesOrder(wanted, found, (order) => order < 0),
  lte: (wanted, found) => passesOrder(wanted, found, (order) => order <= 0),
};

/** Null and absent are the same: stores that flatten metadata drop nulls. A list holds each of its elements. */
function equalsOrHolds(wanted: unknown, found: unknown): boolean {
  if (wanted === null || found === null || found === undefined) return wanted === null && (found === null || found === undefined);
  return sameValue(wanted, found) || (Array.isArray(found) && found.some((item) => sameValue(wanted, item)));
}

/** Tells whether a filter's value and a value of metadata are the same, in the native form or as other stores flatten it. */
function sameValue(wanted: unknown, found: unknown): boolean {
  if (sameJson(wanted, found)) return true;
  if (typeof wanted !== 'string' || typeof found !== 'object' || found === null) return false;
  if (Array.isArray(found)) return wanted === found.join(',') || wanted === found.join(', ');
  if (!wanted.startsWith('{')) return false;
  try {
    return sameJson(JSON.parse(wanted), found);
  } catch {
    return false;
  }
}

/** Whether `found`, or an element of it, is comparable with `wanted` (numbers, or texts by code units) and passes. */
function passesOrder(wanted: unknown, found: unknown, passes: (order: number) => boolean): boolean {
  if (Array.isArray(found)) return found.some((item) => passesOrder(wanted, item, passes));
  if (typeof wanted === 'number' && typeof found === 'number') return passes(found - wanted);
  if (typeof wanted !== 'string' || typeof found !== 'string') return false;
  return passes(found < wanted ? -1 : found > wanted ? 1 : 0);
}

/** Whether a value passes a condition. */
export function passes(condition: Condition, found: unknown): boolean {
  return TESTS[condition.operator](condition.wanted, found);
}

function collectConditions(path: string, value: unknown, depth: number, into: Condition[]): void {
  if (depth > MAX_DEPTH) refuse(`A filter is nested deeper than ${MAX_DEPTH} levels.`);
  if (!isObject(value)) {
    into.push(conditionOf(path, 'eq', value));
    return;
  }
  const entries = Object.entries(value);
  const operators = entries.length > 0 && entries.every(([key]) => operatorOf(key) !== undefined);
  for (const [key, member] of entries) {
    if (operators) into.push(conditionOf(path, operatorOf(key)!, member));
    else if (key.startsWith('$')) {
      refuse(
        `The filter on '${path}' has '${key}'; known are $${Object.keys(TESTS).join(', $')}, and they cannot stand beside other keys.`,
      );
    } else collectConditions(`${path}.${key}`, member, depth + 1, into);
  }
}

/** Most values of one `$in` or `$nin`. */
const MAX_VALUES = 1_000;

function conditionOf(path: string, operator: Operator, wanted: unknown): Condition {
  if (operator === 'in' || operator === 'nin') {
    if (!Array.isArray(wanted)) refuse(`The filter on '${path}' has $${operator} without a list of values.`);
    if (wanted.length > MAX_VALUES) refuse(`The filter on '${path}' lists ${wanted.length} values; at most ${MAX_VALUES} are allowed.`);
  } else if (/^[gl]/.test(operator) && typeof wanted !== 'number' && typeof wanted !== 'string') {
    refuse(`The filter on '${path}' compares by $${operator} with ${JSON.stringify(wanted)?.slice(0, 80)}; give a number or a text.`);
  }
  return { path, operator, wanted };
}

const operatorOf = (key: string): Operator | undefined => {
  const name = key.startsWith('$') ? key.slice(1) : key;
  return Object.hasOwn(TESTS, name) ? (name as Operator) : undefined;
};

/** Titles weigh more than the words below them. */
const TITLE_TIMES = 2;

/** What of a chunk its words are found by: its text, after the titles above it that it does not show itself. */
export function indexedText({ text, metadata }: Pick<Chunk, 'text' | 'metadata'>): string {
  const { headings } = metadata;
  if (!Array.isArray(headings)) return text;
  const titles = headings.filter((title): title is string => typeof title === 'string' && !text.includes(title)).join('\n');
  return titles === '' ? text : `${`${titles}\n`.repeat(TITLE_TIMES)}${text}`;
}

/** What the user calls a document: the first of these that its metadata has. */
const NAME_KEYS = ['file_name', 'filename', 'source', 'title'] as const;

/** The name of a document, by the metadata of one of its chunks; empty when there is none. */
export function documentName(metadata: Metadata): string {
  for (const key of NAME_KEYS) if (typeof metadata[key] === 'string') return metadata[key];
  return '';
}

/** Names under which lists and answers show what chunks keep under another. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  filename: 'file_name',
  original_filename: 'file_name',
  id: 'document_hash',
  hash: 'document_hash',
  document_id: 'document_hash',
  size_bytes: 'file_size',
  parser_used: 'parser_type',
  date_ingested: 'processing_timestamp',
  chunk_count: 'total_chunks',
};

/** The paths of metadata that a path of a filter means: itself, and the name under which chunks keep what lists and answers show by it. */
export function storedPaths(path: string): readonly string[] {
  return Object.hasOwn(STORED_NAMES, path) ? [path, STORED_NAMES[path]!] : [path];
}

/** The value under a dotted path; a name with dots in it wins over the nested form. Below a list, the values of its elements. */
export function valueAt(metadata: Metadata, path: string): unknown {
  if (Object.hasOwn(metadata, path)) return metadata[path];
  let found: unknown = metadata;
  for (const name of path.split('.')) {
    if (Array.isArray(found)) found = found.map((item) => (isObject(item) && Object.hasOwn(item, name) ? item[name] : undefined));
    else if (isObject(found) && Object.hasOwn(found, name)) found = found[name];
    else return undefined;
  }
  return found;
}

/** What a condition on a path looks at: the value under it and, for a name by which lists and answers show one, that too. */
export function filteredValue(metadata: Metadata, path: string): unknown {
  const values = storedPaths(path)
    .map((stored) => valueAt(metadata, stored))
    .filter((value) => value !== undefined);
  return values.length > 1 ? values.flat() : values[0];
}

/** Whether metadata passes every condition. */
export function passesAll(conditions: readonly Condition[], metadata: Metadata): boolean {
  return conditions.every((condition) => passes(condition, filteredValue(metadata, condition.path)));
}
