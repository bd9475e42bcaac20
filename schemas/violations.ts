import type { ErrorObject } from 'ajv';
import { type FailureItem, numberForMessage } from './errors.js';
import { isSecretFolder, withoutTextSecrets } from './secrets.js';

/** Most violations that one failure lists. */
const MAX_ITEMS = 50;
/** Violations named in the one-sentence summary. */
const SUMMARY_ITEMS = 3;
/** Longest text of an offending value that is sent back. */
const MAX_INPUT_CHARS = 200;
/** Of it, what is looked through for secrets: an address whose end is not seen may hold a password that is not seen to be one. */
const MAX_READ_CHARS = 4096;
const ONE_OF = 'must be one of ';
/** The words of a command, where a key may stand behind its flag. */
const COMMAND = new Set<unknown>(['args', 'command']);

/** Rule names as the reference system's clients know them. */
const TYPE_OF_KEYWORD: Record<string, string> = {
  required: 'missing',
  additionalProperties: 'extra_forbidden',
  unevaluatedProperties: 'extra_forbidden',
  'false schema': 'extra_forbidden',
  minimum: 'greater_than_equal',
  exclusiveMinimum: 'greater_than',
  maximum: 'less_than_equal',
  exclusiveMaximum: 'less_than',
  minLength: 'string_too_short',
  maxLength: 'string_too_long',
  pattern: 'string_pattern_mismatch',
  minItems: 'too_short',
  maxItems: 'too_long',
  const: 'enum',
  oneOf: 'union',
  anyOf: 'union',
};
const TYPE_OF_TYPE: Record<string, string> = {
  integer: 'int_type',
  number: 'float_type',
  boolean: 'bool_type',
  object: 'dict_type',
  array: 'list_type',
  string: 'string_type',
};

/** Turns Ajv's errors on `value` into items with path, rule and message; alternatives are merged into one item per path. */
export function explain(errors: readonly ErrorObject[], value: unknown, where: string): FailureItem[] {
  if (value === undefined) return [{ type: 'missing', loc: [where], msg: 'is required' }];
  const items: FailureItem[] = [];
  for (const group of byPath(withoutNoise(errors)).values()) {
    if (items.length >= MAX_ITEMS) break;
    items.push(itemOf(group, value, where));
  }
  return items;
}

/** One sentence naming the first offending values, and how many more there are. */
export function summary(items: readonly FailureItem[]): string {
  const shown = items.slice(0, SUMMARY_ITEMS).map((item) => {
    const got = item.input === undefined ? '' : `, got ${inputText(item.input)}`;
    return `${item.loc.join('.')}: ${item.msg}${got}`;
  });
  const more = items.length - shown.length;
  return `${shown.join('; ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

function inputText(input: unknown): string {
  return typeof input === 'number' ? String(numberForMessage(input)) : JSON.stringify(input);
}

/**
 * Drops what a failed `anyOf`/`oneOf` says about itself, and, where one of its branches fits well enough to fail deeper,
 * what the other branches say at the union's own path. What an `if` says about itself goes, too.
 */
function withoutNoise(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  // An `if` says only that what it asks for is not so; what is not so stands beside it.
  const found = errors.filter(({ keyword }) => keyword !== 'if');
  const lastUnion = new Map<string, ErrorObject>();
  const hasOthers = new Set<string>();
  const hasDeeper = new Set<string>();
  for (const error of found) {
    const path = error.instancePath;
    if (isUnion(error)) lastUnion.set(path, error);
    else hasOthers.add(path);
    if (isMember(error)) hasDeeper.add(path);
    for (let end = path.lastIndexOf('/'); end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1))
      hasDeeper.add(path.slice(0, end));
  }
  return found.filter((error) => {
    const path = error.instancePath;
    const union = lastUnion.get(path);
    if (union === undefined) return true;
    if (hasDeeper.has(path)) return isMember(error);
    return hasOthers.has(path) ? !isUnion(error) : error === union;
  });
}

function isUnion(error: ErrorObject): boolean {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

/** Whether an error reported at an object is about one of its members. */
function isMember(error: ErrorObject): boolean {
  return error.keyword === 'required' || error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties';
}

function pathOf(error: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = error.params as Record<string, string | undefined>;
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return member === undefined ? error.instancePath : `${error.instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function byPath(errors: readonly ErrorObject[]): Map<string, ErrorObject[]> {
  const groups = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    const path = pathOf(error);
    const group = groups.get(path);
    if (group) group.push(error);
    else groups.set(path, [error]);
  }
  return groups;
}

/** The member that one part of a JSON pointer names. */
export function memberName(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function itemOf(group: readonly ErrorObject[], value: unknown, where: string): FailureItem {
  const [first] = group as [ErrorObject];
  const loc: (string | number)[] = [where];
  let node: unknown = value;
  for (const part of pathOf(first).split('/').slice(1)) {
    const name = memberName(part);
    loc.push(Array.isArray(node) ? Number(name) : name);
    node = node !== null && typeof node === 'object' && Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
  }
  const msg = messageOf(group);
  const unknown = typeof node === 'string' && typeof loc.at(-1) === 'string' && msg.startsWith(ONE_OF);
  const item: FailureItem = { type: typeOf(first), loc, msg: unknown ? `Unknown ${loc.at(-1)}; ${msg}` : msg };
  const isSecret = loc.some((part) => COMMAND.has(part) || isSecretFolder(String(part)));
  const input = isSecret ? undefined : inputForDisplay(node);
  return input === undefined ? item : { ...item, input };
}

function typeOf(error: ErrorObject): string {
  if (error.keyword !== 'type') return TYPE_OF_KEYWORD[error.keyword] ?? error.keyword;
  const type = (error.params as { type: string | string[] }).type;
  const name = Array.isArray(type) ? type[0] : type.split(',')[0];
  return TYPE_OF_TYPE[name ?? ''] ?? 'type';
}

/** Most characters of a member's name that are repeated. */
const MAX_NAME_CHARS = 100;

function messageOf(group: readonly ErrorObject[]): string {
  const types = new Set<string>();
  const values = new Set<string>();
  const others = new Set<string>();
  let unfitName: string | undefined;
  for (const error of group) {
    const params = error.params as Record<string, unknown>;
    if (error.keyword === 'type') for (const type of [params.type].flat()) types.add(String(type).replaceAll(',', ' or '));
    else if (error.keyword === 'const') values.add(JSON.stringify(params.allowedValue));
    else if (error.keyword === 'enum') for (const allowed of params.allowedValues as unknown[]) values.add(JSON.stringify(allowed));
    else if (error.keyword === 'not') others.add('must be another value');
    // What is wrong with the name stands beside it.
    else if (error.keyword === 'propertyNames') continue;
    else if (error.propertyName !== undefined)
      unfitName ??= `its member ${JSON.stringify(error.propertyName.slice(0, MAX_NAME_CHARS))} ${error.message}`;
    else if (error.keyword === 'false schema') others.add('must not be given with what else is given');
    else if (error.keyword === 'discriminator') others.add(`needs a known ${JSON.stringify(params.tag)}`);
    else if (isMember(error)) others.add(error.keyword === 'required' ? 'is required' : 'is not a known member');
    else others.add(error.message ?? error.keyword);
  }
  // A choice that may be null is one list, whether its schema is an enum with null or a union.
  if (values.size > 0 && types.size === 1 && types.delete('null')) values.add('null');
  if (unfitName !== undefined) others.add(unfitName);
  const parts = [...others];
  if (values.size > 0) parts.unshift(`${values.size > 1 ? ONE_OF : 'must be '}${[...values].join(', ')}`);
  if (types.size > 0) parts.unshift(`must be ${[...types].join(' or ')}`);
  return parts.join(', or ');
}

/** The offending value where it is short and plain; whole objects are not sent back. */
function inputForDisplay(node: unknown): unknown {
  if (typeof node === 'string') {
    const text = withoutTextSecrets(node.slice(0, MAX_READ_CHARS));
    return text.length > MAX_INPUT_CHARS ? `${text.slice(0, MAX_INPUT_CHARS)}...` : text;
  }
  return node === null || typeof node === 'number' || typeof node === 'boolean' ? node : undefined;
}
