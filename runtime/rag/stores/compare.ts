import { sameJson } from '../../config/values.js';

/** Tells whether a filter's value and a value of metadata are the same, in the native form or as other stores flatten it. */
function same(wanted: unknown, found: unknown): boolean {
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

/** Null and absent are the same: stores that flatten metadata drop nulls. A list holds each of its elements. */
export function equals(wanted: unknown, found: unknown): boolean {
  if (wanted === null || found === null || found === undefined) return wanted === null && (found === null || found === undefined);
  return same(wanted, found) || (Array.isArray(found) && found.some((item) => same(wanted, item)));
}

/** Whether `found`, or an element of it, is comparable with `wanted` (numbers, or texts by code units) and passes. */
export function ordered(wanted: unknown, found: unknown, passes: (order: number) => boolean): boolean {
  if (Array.isArray(found)) return found.some((item) => ordered(wanted, item, passes));
  if (typeof wanted === 'number' && typeof found === 'number') return passes(found - wanted);
  if (typeof wanted !== 'string' || typeof found !== 'string') return false;
  return passes(found < wanted ? -1 : found > wanted ? 1 : 0);
}
