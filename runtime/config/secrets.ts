import { Failure } from '../../schemas/errors.js';
import {
  HIDDEN,
  isOnlyReferences,
  isSecretFolder,
  isSecretName,
  withoutAddressSecrets,
  withoutHostSecrets,
  withoutTextSecrets,
} from '../../schemas/secrets.js';
import { isObject, type JsonObject } from '../base/json.js';
import { type Path, pathText } from './problems.js';

/**
 * How the values of a part of a configuration are shown: `all` of them are secret, those of secret `names` are, or the part is the words of a
 * `command`, or a JSON `schema`, whose members are named after a tool's arguments and hold none.
 */
type Rule = 'all' | 'names' | 'command' | 'schema';

/** Masks that one configuration may bring; each is compared with what is stored, and what lies above it. */
const MAX_MASKS = 2_000;

/** Members that say where a request goes. A secret is kept only while they stay: else whoever cannot read it could have it sent to a host of theirs. */
const DESTINATIONS = new Set(['base_url', 'url', 'uri', 'host', 'hostname', 'port', 'endpoint', 'address', 'server']);

/** The rule for what lies under `key`. */
function ruleUnder(key: string, rule: Rule): Rule {
  if (rule === 'all' || rule === 'schema') return rule;
  if (key === 'parameters') return 'schema';
  if (key === 'args' || key === 'command') return 'command';
  return isSecretFolder(key) ? 'all' : 'names';
}

/** A text or number at `key` as it is shown. */
function maskScalar(key: string, value: unknown, rule: Rule): unknown {
  const isSecret = rule === 'all' || isSecretName(key);
  if (typeof value === 'number') return isSecret ? HIDDEN : value;
  if (typeof value !== 'string' || value === '') return value;
  if (isSecret) return isOnlyReferences(value) ? value : HIDDEN;
  if (rule === 'command') return withoutTextSecrets(value);
  return DESTINATIONS.has(key) ? withoutHostSecrets(value) : withoutAddressSecrets(value);
}

/** A value at `key` as it is shown; the value itself where it holds no secret, so that copies cost nothing. */
function maskValue(key: string, value: unknown, rule: Rule): unknown {
  if (Array.isArray(value)) return maskList(value, ruleUnder(key, rule));
  if (!isObject(value)) return maskScalar(key, value, ruleUnder(key, rule) === 'command' ? 'command' : rule);
  const inner = ruleUnder(key, rule);
  return withMembers(value, (name, member) => maskValue(name, member, inner));
}

/** An object with each member as `change` returns it; the object itself where all stay. */
function withMembers(object: JsonObject, change: (name: string, member: unknown) => unknown): JsonObject {
  let changed: JsonObject | undefined;
  for (const name of Object.keys(object)) {
    const member = change(name, object[name]);
    if (member === object[name]) continue;
    changed ??= { ...object };
    changed[name] = member;
  }
  return changed ?? object;
}

function maskList(list: readonly unknown[], rule: Rule): readonly unknown[] {
  const shown = list.map((one, at) => maskValue('', one, ruleOfEntry(list, at, rule)));
  return shown.every((one, at) => one === list[at]) ? list : shown;
}

/** The words of a command may name a secret in one and hold it in the next: `--api-key`, `sk-...`. */
function ruleOfEntry(list: readonly unknown[], at: number, rule: Rule): Rule {
  const flag = rule === 'command' ? list[at - 1] : undefined;
  const isValue = typeof flag === 'string' && /^--?[\w-]+$/.test(flag) && isSecretName(flag) && !/^-/.test(String(list[at]));
  return isValue ? 'all' : rule;
}

/**
 * A configuration without its secrets, each of which comes as `***`, also inside addresses and commands. References to environment variables
 * hold none and are shown. Where there are no secrets, the value itself.
 */
export function withoutSecrets<Value>(value: Value): Value {
  return maskValue('', value, 'names') as Value;
}

/** An object or list on the way down a configuration that comes back, with what the stored one has in its place. */
interface Above {
  readonly above: Above | undefined;
  /** Its member name or position in what lies above. */
  readonly part: string | number;
  readonly value: object;
  /** Undefined where the stored configuration has nothing here. */
  readonly current: unknown;
}

/** A text in it, and how it is shown. */
interface Leaf {
  readonly part: string | number;
  readonly key: string;
  readonly rule: Rule;
  readonly current: unknown;
}

/**
 * A configuration that comes back from a reader of `withoutSecrets`: each `***` is what `current` has at that place. Things in a list are the
 * same where their names are; `where` goes before each path of an error. Throws `invalid` (SecretMissing) for a `***` that stands for nothing,
 * and for one whose host is another than the stored secret's; `invalid` (TooManyMasks) for more than 2,000 texts with `***`.
 */
export function withSecretsOf<Value>(value: Value, current: unknown, where: Path): Value {
  if (maskCount(value) > MAX_MASKS) {
    const msg = `"${HIDDEN}" stands in more than ${MAX_MASKS} texts, the most that can be looked up. Give those values themselves.`;
    const path = [...where];
    throw new Failure('invalid', `${pathText(path)}: ${msg}`, {
      code: 'TooManyMasks',
      errors: [{ type: 'too_many_masks', loc: path, msg }],
    });
  }
  return restored(value, { part: '', key: '', rule: 'names', current }, undefined, where) as Value;
}

/** Texts in a configuration that have `***`. */
function maskCount(value: unknown): number {
  if (typeof value === 'string') return value.includes(HIDDEN) ? 1 : 0;
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const member of Object.values(value)) count += maskCount(member);
  return count;
}

function restored(value: unknown, leaf: Leaf, above: Above | undefined, where: Path): unknown {
  if (typeof value === 'string') return value.includes(HIDDEN) ? restoredText(value, leaf, above, where) : value;
  if (typeof value !== 'object' || value === null) return value;
  const { part, current } = leaf;
  const here: Above = { above, part, value, current };
  const inner = ruleUnder(leaf.key, leaf.rule);
  if (Array.isArray(value)) {
    const found = counterparts(value, Array.isArray(current) ? current : [], inner);
    return value.map((one, at) =>
      restored(one, { part: at, key: '', rule: ruleOfEntry(value, at, inner), current: found[at] }, here, where),
    );
  }
  const known = isObject(current) ? current : {};
  return withMembers(value as JsonObject, (name, member) =>
    restored(member, { part: name, key: name, rule: inner, current: known[name] }, here, where),
  );
}

function restoredText(text: string, { part, key, rule, current }: Leaf, above: Above | undefined, where: Path): unknown {
  if (!isMask(key, text, rule)) return text;
  const isKept = (typeof current === 'string' || typeof current === 'number') && maskValue(key, current, rule) === text;
  // An address that has not changed keeps its own secrets.
  if (isKept && (DESTINATIONS.has(key) || !hasMoved(above))) return current;
  const reason = isKept
    ? `"${HIDDEN}" would send the stored value to another host than before. Give the value together with its new address.`
    : `"${HIDDEN}" stands for a value that is stored already, and none is. Give the value.`;
  const path = [...where, ...pathOf(above), part];
  throw new Failure('invalid', `${pathText(path)}: ${reason}`, {
    code: 'SecretMissing',
    errors: [{ type: 'secret_missing', loc: path, msg: reason }],
  });
}

/** The parts from the top, which has none, down to an object or list. */
function pathOf(above: Above | undefined): (string | number)[] {
  const parts: (string | number)[] = [];
  for (let at = above; at?.above; at = at.above) parts.unshift(at.part);
  return parts;
}

/** Whether what lies here would go to another host than before; a thing with a name in a list has its own addresses. */
function hasMoved(above: Above | undefined): boolean {
  for (let at = above; at; at = at.above) {
    const { value, current } = at;
    if (!isObject(value)) continue;
    const known = isObject(current) ? current : {};
    for (const name of DESTINATIONS) if (destination(value[name]) !== destination(known[name])) return true;
    if (typeof at.part === 'number' && isNamed(value)) return false;
  }
  return false;
}

/** Whether a text has `***` where its secret would be. */
function isMask(key: string, text: string, rule: Rule): boolean {
  if (!text.includes(HIDDEN)) return false;
  if (text === HIDDEN) return maskValue(key, 'x', rule) === HIDDEN;
  const probe = text.replaceAll(HIDDEN, '\0:\0');
  const shown = maskValue(key, probe, rule) as string;
  return shown !== HIDDEN && shown.split('\0').length < probe.split('\0').length;
}

/** Whether a thing of a list is known by its name, and has its own addresses. */
function isNamed(value: unknown): value is { readonly name: string } {
  return isObject(value) && typeof value.name === 'string';
}

/**
 * What the stored list has for each entry of a list: the thing of that name, else, in a list as long, the one at its position, else the only
 * one that is shown so.
 */
function counterparts(list: readonly unknown[], before: readonly unknown[], rule: Rule): unknown[] {
  const named = new Map(before.toReversed().flatMap((one) => (isObject(one) ? [[one.name, one] as const] : [])));
  const alike = new Map<unknown, unknown>();
  if (before.length !== list.length) {
    for (const [at, shown] of maskList(before, rule).entries()) alike.set(shown, alike.has(shown) ? undefined : before[at]);
  }
  return list.map((one, at) => {
    if (isNamed(one)) return named.get(one.name);
    return before.length === list.length ? before[at] : alike.get(one);
  });
}

/** What of a destination decides who gets a secret: of an address its scheme, host and port. */
function destination(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = String(value).trim();
  if (!text.includes('://') || !URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}
