import { literal, oneOf } from './rules.js';

/** Bounds of a number; absent = open. */
export interface NumberBounds {
  min?: number | undefined;
  max?: number | undefined;
  /** The bound itself is not allowed. */
  minExclusive?: boolean;
  maxExclusive?: boolean;
}

/** Digits of numbers without a bound on that side. */
const OPEN_DIGITS = 15;
const FRACTION_DIGITS = 16;
const ANY_FRACTION = `( "." [0-9]{1,${FRACTION_DIGITS}} )?`;
const MORE_DIGITS = `[0-9]{0,${FRACTION_DIGITS}}`;

/** A choice among expressions; null where nothing is possible. */
function choice(alternatives: (string | null)[]): string | null {
  const possible = alternatives.filter((alternative) => alternative !== null);
  return possible.length === 0 ? null : oneOf(possible);
}

/** An expression followed by another; null where either is impossible. */
function then(first: string, rest: string | null): string | null {
  return rest === null ? null : rest === '' ? first : `${first} ${rest}`;
}

function digitClass(from: number, to: number): string | null {
  if (from > to) return null;
  return from === to ? literal(String(from)) : `[${from}-${to}]`;
}

function digits(count: number): string {
  return count === 0 ? '' : `[0-9]{${count}}`;
}

/** Numbers of the same length, from `low` to `high`. */
function sameLength(low: string, high: string): string | null {
  if (low === '') return '';
  if (/^0*$/.test(low) && /^9*$/.test(high)) return digits(low.length);
  const [a, b] = [Number(low[0]), Number(high[0])];
  const rest = low.length - 1;
  if (a === b) return then(literal(String(a)), sameLength(low.slice(1), high.slice(1)));
  const between = digitClass(a + 1, b - 1);
  return choice([
    then(literal(String(a)), sameLength(low.slice(1), '9'.repeat(rest))),
    between && then(between, digits(rest)),
    then(literal(String(b)), sameLength('0'.repeat(rest), high.slice(1))),
  ]);
}

/** Whole numbers from `low` to `high` (null = open), both >= 0; null where there is none. */
function wholeRange(low: bigint, high: bigint | null): string | null {
  if (high !== null && low > high) return null;
  const from = String(low);
  const to = high === null ? '9'.repeat(Math.max(OPEN_DIGITS, from.length + 1)) : String(high);
  if (from.length === to.length) return sameLength(from, to);
  const alternatives = [sameLength(from, '9'.repeat(from.length))];
  const lengths = [from.length + 1, to.length - 1] as const;
  if (lengths[0] <= lengths[1]) alternatives.push(`[1-9] [0-9]{${lengths[0] - 1},${lengths[1] - 1}}`);
  alternatives.push(sameLength(`1${'0'.repeat(to.length - 1)}`, to));
  return choice(alternatives);
}

/** An integer within the bounds; null where there is none. */
export function integerExpression(bounds: NumberBounds): string | null {
  const lowest =
    bounds.min === undefined ? null : BigInt(Math.ceil(bounds.min)) + (bounds.minExclusive && Number.isInteger(bounds.min) ? 1n : 0n);
  const highest =
    bounds.max === undefined ? null : BigInt(Math.floor(bounds.max)) - (bounds.maxExclusive && Number.isInteger(bounds.max) ? 1n : 0n);
  const positive = highest !== null && highest < 0n ? null : wholeRange(lowest !== null && lowest > 0n ? lowest : 0n, highest);
  const smallest = highest !== null && highest < 0n ? -highest : 1n;
  const negative = lowest !== null && lowest >= 0n ? null : wholeRange(smallest, lowest === null ? null : -lowest);
  return choice([positive, negative && then('"-"', negative)]);
}

/** Fraction digits that are at least `low`. */
function fractionFrom(low: string, exclusive: boolean): string | null {
  if (low === '') return exclusive ? `"0"{0,${FRACTION_DIGITS}} [1-9] ${MORE_DIGITS}` : MORE_DIGITS;
  const digit = Number(low[0]);
  const above = digitClass(digit + 1, 9);
  return choice([above && then(above, MORE_DIGITS), then(literal(String(digit)), fractionFrom(low.slice(1), exclusive))]);
}

/** Fraction digits that are at most `high`, which has no trailing zeros; may be empty. */
function fractionUpTo(high: string, exclusive: boolean): string | null {
  if (high === '') return exclusive ? null : `"0"{0,${FRACTION_DIGITS}}`;
  const digit = Number(high[0]);
  const below = digitClass(0, digit - 1);
  const more = choice([below && then(below, MORE_DIGITS), then(literal(String(digit)), fractionUpTo(high.slice(1), exclusive))]);
  return more === null ? '' : `( ${more} )?`;
}

/** At least one fraction digit from `low` to `high`, padded to the same length. */
function fractionBetween(low: string, high: string, lowExclusive: boolean, highExclusive: boolean): string | null {
  if (low === '') return lowExclusive || highExclusive ? null : `"0"{0,${FRACTION_DIGITS}}`;
  const [a, b] = [Number(low[0]), Number(high[0])];
  if (a > b) return null;
  if (a === b) return then(literal(String(a)), fractionBetween(low.slice(1), high.slice(1), lowExclusive, highExclusive));
  const between = digitClass(a + 1, b - 1);
  return choice([
    then(literal(String(a)), fractionFrom(trimZeros(low.slice(1)), lowExclusive)),
    between && then(between, MORE_DIGITS),
    then(literal(String(b)), fractionUpTo(trimZeros(high.slice(1)), highExclusive)),
  ]);
}

function trimZeros(fraction: string): string {
  return fraction.replace(/0+$/, '');
}

interface Decimal {
  whole: bigint;
  fraction: string;
}

function decimal(value: number): Decimal {
  const [whole = '0', fraction = ''] = String(value).split('.');
  return { whole: BigInt(whole), fraction };
}

/** The fraction after a whole part that equals the lower bound's. */
function afterLow(fraction: string, exclusive: boolean): string | null {
  if (fraction === '' && !exclusive) return ANY_FRACTION;
  return then('"."', fractionFrom(fraction, exclusive));
}

/** The fraction after a whole part that equals the upper bound's. */
function afterHigh(fraction: string, exclusive: boolean): string | null {
  if (fraction === '') return exclusive ? null : `( "." "0"{1,${FRACTION_DIGITS}} )?`;
  const digit = Number(fraction[0]);
  const below = digitClass(0, digit - 1);
  const rest = choice([below && then(below, MORE_DIGITS), then(literal(String(digit)), fractionUpTo(fraction.slice(1), exclusive))]);
  return rest === null ? '' : `( "." ${rest} )?`;
}

/** Decimal numbers from `low` to `high` (null = open), both >= 0. */
function decimalRange(low: Decimal, high: Decimal | null, lowExclusive: boolean, highExclusive: boolean): string | null {
  if (high !== null && low.whole > high.whole) return null;
  if (high !== null && low.whole === high.whole) {
    const width = Math.max(low.fraction.length, high.fraction.length);
    const fraction = fractionBetween(low.fraction.padEnd(width, '0'), high.fraction.padEnd(width, '0'), lowExclusive, highExclusive);
    const whole = literal(String(low.whole));
    const bare = low.fraction === '' && !lowExclusive && !(high.fraction === '' && highExclusive) ? whole : null;
    return choice([bare, width > 0 && fraction !== null ? `${whole} "." ${fraction}` : null]);
  }
  const inner = wholeRange(low.whole + 1n, high === null ? null : high.whole - 1n);
  return choice([
    then(literal(String(low.whole)), afterLow(low.fraction, lowExclusive)),
    inner && `${inner} ${ANY_FRACTION}`,
    high && then(literal(String(high.whole)), afterHigh(high.fraction, highExclusive)),
  ]);
}

/** True when the bounds can be written as plain decimals; others (such as 1e30) are not enforced. */
export function plainBounds(bounds: NumberBounds): boolean {
  return [bounds.min, bounds.max].every((bound) => bound === undefined || /^-?\d{1,16}(\.\d{1,16})?$/.test(String(bound)));
}

/** A number within the bounds, without exponents; null where there is none. The bounds must be plain decimals. */
export function numberExpression(bounds: NumberBounds): string | null {
  const { min, max, minExclusive = false, maxExclusive = false } = bounds;
  const zero = decimal(0);
  const positive =
    max !== undefined && max < 0
      ? null
      : decimalRange(
          min !== undefined && min > 0 ? decimal(min) : zero,
          max === undefined ? null : decimal(max),
          min !== undefined && min >= 0 && minExclusive,
          maxExclusive,
        );
  const negative =
    min !== undefined && min >= 0
      ? null
      : decimalRange(
          max !== undefined && max < 0 ? decimal(-max) : zero,
          min === undefined ? null : decimal(-min),
          max !== undefined && max <= 0 && maxExclusive,
          minExclusive,
        );
  return choice([positive, negative && then('"-"', negative)]);
}
