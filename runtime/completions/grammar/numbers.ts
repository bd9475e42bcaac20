import { type GrammarRules, literal, oneOf } from './rules.js';

/** Bounds of a number; absent = open. */
interface NumberBounds {
  min?: number | undefined;
  max?: number | undefined;
  /** The bound itself is not allowed. */
  minExclusive?: boolean;
  maxExclusive?: boolean;
}

/** The bounds that all of the schemas set; boolean exclusive bounds of the older drafts are read too. */
export function boundsOf(schemas: readonly Readonly<Record<string, unknown>>[]): NumberBounds {
  const out: NumberBounds = {};
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
  for (const schema of schemas) {
    const [low, high] = [number(schema.minimum), number(schema.maximum)];
    const above = number(schema.exclusiveMinimum) ?? (schema.exclusiveMinimum === true ? low : undefined);
    const below = number(schema.exclusiveMaximum) ?? (schema.exclusiveMaximum === true ? high : undefined);
    for (const [bound, exclusive] of [[low, false] as const, [above, true] as const]) {
      if (bound === undefined || bound < (out.min ?? -Infinity)) continue;
      out.minExclusive = exclusive || (bound === out.min && out.minExclusive === true);
      out.min = bound;
    }
    for (const [bound, exclusive] of [[high, false] as const, [below, true] as const]) {
      if (bound === undefined || bound > (out.max ?? Infinity)) continue;
      out.maxExclusive = exclusive || (bound === out.max && out.maxExclusive === true);
      out.max = bound;
    }
  }
  return out;
}

/** Numbers without a bound on one side have no more than 16 digits before the point there, so that bounds from here on say nothing. */
const BEYOND = 1e17;
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

/** A number as decimal digits, without an exponent. */
function plainDigits(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits;
  const [sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits)!.slice(1);
  const shift = Number(exponent);
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}` : `${sign}${whole}${fraction.padEnd(shift, '0')}`;
}

function decimal(value: number): Decimal {
  const [whole = '0', fraction = ''] = plainDigits(value).split('.');
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

/** The bounds as far as they can be written, and the keywords that they are left to. */
export function writable(bounds: NumberBounds): { bounds: NumberBounds; left: ('minimum' | 'maximum')[] } {
  const left: ('minimum' | 'maximum')[] = [];
  const side = (bound: number | undefined, keyword: 'minimum' | 'maximum'): number | undefined => {
    if (bound === undefined || (keyword === 'minimum' ? bound <= -BEYOND : bound >= BEYOND)) return undefined;
    if (Math.abs(bound) < BEYOND && decimal(bound).fraction.length <= FRACTION_DIGITS) return bound;
    left.push(keyword);
    return undefined;
  };
  return { bounds: { ...bounds, min: side(bounds.min, 'minimum'), max: side(bounds.max, 'maximum') }, left };
}

/** Most multiples that are listed. */
const MAX_LISTED = 200;
/** Most digits of multiples that are not listed. */
const MULTIPLE_DIGITS = 9;
/** Largest step whose multiples are told by a rule for each remainder. */
const MAX_REMAINDERS = 64;

/** The multiples of `step` within the bounds, where they are few or can be told by their digits; undefined where neither is so. */
export function multiplesExpression(step: number, bounds: NumberBounds, rules: GrammarRules): string | null | undefined {
  const inReach = (bound: number | undefined) => (bound === undefined || Math.abs(bound) >= 10 ** MULTIPLE_DIGITS ? undefined : bound);
  const [min = -Infinity, max = Infinity] = [inReach(bounds.min), inReach(bounds.max)];
  const first = Math.ceil(min / step);
  if (max / step - first <= MAX_LISTED) {
    const all = Array.from({ length: Math.max(0, Math.floor(max / step) - first + 1) }, (_, at) =>
      Number(((first + at) * step).toPrecision(15)),
    );
    const inside = all.filter(
      (value) => value >= min && value <= max && !(bounds.minExclusive && value === min) && !(bounds.maxExclusive && value === max),
    );
    return inside.length === 0 ? null : oneOf(inside.map((value) => literal(plainDigits(value))));
  }
  const positive = min === 0 || min === 1;
  if (max !== Infinity || (min !== -Infinity && !positive)) return undefined;
  const sign = positive ? '' : '"-"? ';
  const zero = positive && (min > 0 || bounds.minExclusive) ? '' : '"0" | ';
  if (Number.isInteger(step)) return step <= MAX_REMAINDERS ? `${sign}( ${zero}${remainders(step, rules)} )` : undefined;
  const fractions = zero === '' ? null : fractionsOf(step);
  return fractions === null ? undefined : `${sign}( "0" | [1-9] [0-9]{0,${MULTIPLE_DIGITS - 1}} ) ( "." ${fractions} )?`;
}

/** What may stand behind the point of a multiple, where that does not depend on what stands before it; null where it does. */
function fractionsOf(step: number): string | null {
  const { whole, fraction } = decimal(step);
  const places = fraction.length;
  const unit = Number(fraction);
  if (whole !== 0n || places > 6 || 10 ** places % unit !== 0) return null;
  if (unit === 1) return `[0-9]{1,${places}}`;
  const count = 10 ** places / unit;
  if (count > MAX_REMAINDERS) return null;
  return oneOf(Array.from({ length: count }, (_, at) => literal(String(at * unit).padStart(places, '0'))));
}

/** A multiple of `step` above zero: each rule stands for the remainder of the digits so far, and how many may follow. */
function remainders(step: number, rules: GrammarRules): string {
  const known = new Map<string, string | null>();
  const nexts = (remainder: number, from: number, left: number): string[] => {
    const digits = Array.from({ length: 10 - from }, (_, at) => at + from);
    const rests = digits.map((digit) => [digit, rest((remainder * 10 + digit) % step, left - 1)] as const);
    return rests.flatMap(([digit, after]) => (after === null ? [] : [`"${digit}"${after && ` ${after}`}`]));
  };
  const rest = (remainder: number, left: number): string | null => {
    if (left === 0) return remainder === 0 ? '' : null;
    const key = `${remainder} ${left}`;
    let name = known.get(key);
    if (name === undefined) {
      const ways = nexts(remainder, 0, left).join(' | ');
      name = ways === '' ? (remainder === 0 ? '' : null) : rules.add(`modulo-${step}`, remainder === 0 ? `( ${ways} )?` : ways);
      known.set(key, name);
    }
    return name;
  };
  return nexts(0, 1, MULTIPLE_DIGITS).join(' | ');
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
