import type { Rule } from './contract.js';

const NUMBERS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const UNITS: Readonly<Record<string, string>> = {
  second: 'TS',
  sec: 'TS',
  minute: 'TM',
  min: 'TM',
  hour: 'TH',
  hr: 'TH',
  day: 'D',
  week: 'W',
  month: 'M',
  quarter: 'Q',
  year: 'Y',
  decade: 'X',
};
const COUNT = `(\\d{1,6}|an?|${NUMBERS.join('|')})`;
const UNIT = '(second|sec|minute|min|hour|hr|day|week|month|quarter|year|decade)';
const WEEKDAY = '(monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend)';
const START = '(?<![\\p{L}\\p{N}.-])';
const END = '(?![\\p{L}\\p{N}])';
const GAP = '[ \\t\\n]{1,3}';

const pattern = (source: string): RegExp => new RegExp(START + source + END, 'giu');

/** A count and a unit as an ISO 8601 duration, such as `P2W` or `PT90M`; a quarter is three months, a decade ten years. */
function duration(count: string, unit: string): string {
  const word = NUMBERS.indexOf(count.toLowerCase()) + 1;
  const number = word > 0 ? word : /^an?$/i.test(count) ? 1 : Number(count);
  const code = UNITS[unit.toLowerCase()]!;
  if (code === 'Q') return `P${number * 3}M`;
  if (code === 'X') return `P${number * 10}Y`;
  return code.startsWith('T') ? `PT${number}${code[1]}` : `P${number}${code}`;
}

const SIGNS: Readonly<Record<string, string>> = { last: '-', past: '-', previous: '-', next: '+', coming: '+', this: '' };
const DAYS: Readonly<Record<string, string>> = {
  today: 'P0D',
  tonight: 'P0D',
  yesterday: '-P1D',
  tomorrow: '+P1D',
  'the day before yesterday': '-P2D',
  'the day after tomorrow': '+P2D',
};

/**
 * Dates told from the day of writing. They come to a signed ISO 8601 duration from that day (`-P3D`, `+P1W`, `P0M` = the current month),
 * or to a weekday with the sign of its week (`-monday`), since a text seldom says when it was written.
 */
export const RELATIVE_DATES: readonly Rule<string>[] = [
  {
    pattern: 'day',
    expression: pattern('(the day before yesterday|the day after tomorrow|today|tonight|yesterday|tomorrow)'),
    confidence: 0.9,
    read: ([, day]) => DAYS[day!.toLowerCase()],
  },
  {
    pattern: 'ago',
    expression: pattern(`${COUNT}${GAP}${UNIT}s?${GAP}(?:ago|earlier)`),
    confidence: 0.85,
    read: ([, count, unit]) => `-${duration(count!, unit!)}`,
  },
  {
    pattern: 'ahead',
    expression: pattern(`(?:in${GAP}${COUNT}${GAP}${UNIT}s?|${COUNT}${GAP}${UNIT}s?${GAP}(?:from now|later|hence))`),
    confidence: 0.8,
    read: ([, count, unit, other, otherUnit]) => `+${duration((count ?? other)!, (unit ?? otherUnit)!)}`,
  },
  {
    pattern: 'period',
    expression: pattern(`(last|past|previous|next|coming|this)${GAP}(week|month|quarter|year|decade)`),
    confidence: 0.8,
    read: ([, which, unit]) => SIGNS[which!.toLowerCase()] + duration(SIGNS[which!.toLowerCase()] === '' ? '0' : '1', unit!),
  },
  {
    pattern: 'weekday',
    expression: pattern(`(last|past|previous|next|coming|this)${GAP}${WEEKDAY}`),
    confidence: 0.8,
    read: ([, which, day]) => SIGNS[which!.toLowerCase()] + day!.toLowerCase(),
  },
];

/** Lengths of time, as ISO 8601 durations. */
export const DURATIONS: readonly Rule<string>[] = [
  {
    pattern: 'count_unit',
    expression: pattern(`${COUNT}[ \\t\\n-]{1,3}${UNIT}s?`),
    confidence: 0.8,
    read: ([, count, unit]) => duration(count!, unit!),
  },
  {
    pattern: 'iso_duration',
    expression:
      /(?<![\p{L}\p{N}])P(?=\d|T\d)(?:\d{1,6}Y)?(?:\d{1,6}M)?(?:\d{1,6}W)?(?:\d{1,6}D)?(?:T(?:\d{1,6}H)?(?:\d{1,6}M)?(?:\d{1,6}S)?)?(?![\p{L}\p{N}])/gu,
    confidence: 0.95,
    read: ([whole]) => whole,
  },
];
