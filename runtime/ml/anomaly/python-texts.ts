import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../config/names.js';
import { HALF_CHARACTER } from '../pickle/plain.js';

/** Most different values of one field that are remembered; a field with more is one for `hash`. */
export const MAX_CATEGORIES = 50_000;

/** Below this Python writes floats with an exponent. */
const SMALLEST_PLAIN = 1e-4;

/**
 * A value as Python's `str` writes it, `undefined` for null and absent ones. Numbers without a fraction are taken for integers, since JSON's
 * `1.0` reads as 1. Throws `bad_request` for lists, objects and half characters.
 */
export function pythonText(value: unknown, field: string, row: number): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string' && !HALF_CHARACTER.test(value)) return value;
  throw new Failure(
    'bad_request',
    `data: row ${row}, field ${quote(field)} is ${quote(value)}; it must be a text, a number, true, false or null.`,
    {
      errors: [{ type: 'value_error', loc: ['body', 'data', row, field], msg: 'must be a plain value' }],
    },
  );
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isInteger(value)) return BigInt(value).toString();
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : value < 0 ? '-inf' : 'nan';
  if (Math.abs(value) >= SMALLEST_PLAIN) return String(value);
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}

/** How often each text occurs, missing values not counted. Works in turns. */
export async function countTexts(values: Iterable<unknown>, field: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let row = 0;
  for (const value of values) {
    const text = pythonText(value, field, row);
    row += 1;
    if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
    if (counts.size > MAX_CATEGORIES) {
      throw new Failure(
        'bad_request',
        `Field ${quote(field)} has more than ${MAX_CATEGORIES} different values; encode it as "hash" or "numeric".`,
      );
    }
    if (row % 256 === 0) await breathe();
  }
  return counts;
}

/** In the order of code points, which is Python's. */
export function sortedTexts(texts: Iterable<string>): string[] {
  return [...texts].sort(byCodePoint);
}

/** Compares as Python does; JavaScript's own order differs where surrogates meet U+E000 to U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i += 1) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
