import { isObject, type JsonObject } from '../base/json.js';

/** Below this key lies a JSON Schema of tool arguments, where `null` is a value and not an absent field. */
const KEEPS_NULLS = 'parameters';

/** Copies a value without the object members that are null: in a project file, null and absent mean the same. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    out[key] = key === KEEPS_NULLS ? structuredClone(member) : withoutNulls(member);
  }
  return out;
}

/** Freezes a JSON value in depth and returns it, so that a cached one cannot be changed by who reads it. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
