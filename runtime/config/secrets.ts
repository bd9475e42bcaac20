import { Failure } from '../../schemas/errors.js';
import { isObject, type JsonObject } from './values.js';
import { isEnvReference } from './variables.js';

const HIDDEN = '***';
const SECRET_KEY = /(?:^|[_-])(?:api[_-]?key|apikey|authorization|secret|password|token|credentials?)$/i;

/** A value without its secrets, which come as `***`; a reference to an environment variable holds none and is shown. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, typeof member === 'string' ? shown(key, member) : withoutSecrets(member)]),
  );
}

function shown(key: string, text: string): string {
  if (SECRET_KEY.test(key)) return isEnvReference(text) ? text : HIDDEN;
  return key === 'base_url' ? withoutUserInfo(text) : text;
}

/** Hides the `user:password@` of an address. */
function withoutUserInfo(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`);
}

/**
 * A value that comes back from a reader of `withoutSecrets`: each `***` is what `current` has at that place. Things in a list are the same
 * where their names are. Throws `bad_request` for a `***` that stands for nothing.
 */
export function withSecretsOf<Value>(value: Value, current: unknown): Value {
  return restored(value, current) as Value;
}

function restored(value: unknown, current: unknown): unknown {
  const before = Array.isArray(current) ? current : [];
  if (Array.isArray(value)) return value.map((one, at) => restored(one, isObject(one) && 'name' in one ? named(before, one) : before[at]));
  if (!isObject(value)) return value;
  const known = isObject(current) ? current : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      typeof member === 'string' ? kept(key, member, known[key]) : restored(member, known[key]),
    ]),
  );
}

function named(things: readonly unknown[], { name }: JsonObject): unknown {
  return things.find((one) => isObject(one) && one.name === name);
}

function kept(key: string, text: string, current: unknown): string {
  if (typeof current === 'string' && shown(key, current) === text) return current;
  if (isHidden(key, text))
    throw new Failure(
      'bad_request',
      `${key} is "${text}", where "${HIDDEN}" stands for a value that is set already, and none is. Give the value.`,
      { code: 'SecretMissing' },
    );
  return text;
}

function isHidden(key: string, text: string): boolean {
  return SECRET_KEY.test(key) ? text === HIDDEN : key === 'base_url' && text.includes(`//${HIDDEN}@`);
}
