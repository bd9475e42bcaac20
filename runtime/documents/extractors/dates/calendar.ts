import type { CalendarDate, Rule } from './contract.js';

const MONTHS = [
  'jan(?:uary)?', 'feb(?:ruary)?', 'mar(?:ch)?', 'apr(?:il)?', 'may', 'june?', 'july?', 'aug(?:ust)?', 'sept?(?:ember)?', 'oct(?:ober)?',
  'nov(?:ember)?', 'dec(?:ember)?',
]; // biome-ignore format: a table
/** Expression of a month's name, with a stop where it is shortened. */
const MONTH = `(${MONTHS.join('|')})\\.?`;
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '([12]\\d{3})';
const START = '(?<![\\p{L}\\p{N}./-])';
const END = '(?![\\p{L}\\p{N}])(?![/-]\\d)';
const GAP = '[ \\t\\n]{1,3}';

const pattern = (source: string): RegExp => new RegExp(START + source + END, 'giu');
const monthOf = (name: string): number => MONTHS.findIndex((month) => new RegExp(`^${month}$`, 'i').test(name)) + 1;

/** The date where the calendar has it. */
function valid(year: number | undefined, month: number, day?: number): CalendarDate | undefined {
  if (month < 1 || month > 12) return undefined;
  // Without a year, the 29th of February exists.
  const days = new Date(Date.UTC(year ?? 2000, month, 0)).getUTCDate();
  if (day !== undefined && (day < 1 || day > days)) return undefined;
  return { ...(year !== undefined && { year }), month, ...(day !== undefined && { day }) };
}

/** Two-digit years lie between 1970 and 2069. */
const fullYear = (digits: string): number => (digits.length > 2 ? Number(digits) : Number(digits) + (Number(digits) < 70 ? 2000 : 1900));

/** `3/4/2024`: the month first unless `dayFirst`, the mark is a stop, or there is no such month. */
function numeric(match: RegExpMatchArray, dayFirst: boolean): CalendarDate | undefined {
  const [, first, mark, second, digits] = match;
  const year = fullYear(digits!);
  const month = dayFirst || mark === '.' ? second : first;
  const day = month === second ? first : second;
  return valid(year, Number(month), Number(day)) ?? valid(year, Number(day), Number(month));
}

/** Dates that name a day, a month and a year. */
export function completeDates(dayFirst: boolean): Rule<CalendarDate>[] {
  return [
    {
      pattern: 'iso',
      // A time may follow without a space.
      expression: new RegExp(`${START}(\\d{4})-(\\d{2})-(\\d{2})(?=T\\d{2}:|${END})`, 'gu'),
      confidence: 0.95,
      read: ([, year, month, day]) => valid(Number(year), Number(month), Number(day)),
    },
    {
      pattern: 'year_first',
      expression: pattern('(\\d{4})/(\\d{1,2})/(\\d{1,2})'),
      confidence: 0.9,
      read: ([, year, month, day]) => valid(Number(year), Number(month), Number(day)),
    },
    {
      pattern: 'month_day_year',
      expression: pattern(`${MONTH}${GAP}${DAY},?${GAP}${YEAR}`),
      confidence: 0.9,
      read: ([, month, day, year]) => valid(Number(year), monthOf(month!), Number(day)),
    },
    {
      pattern: 'day_month_year',
      expression: pattern(`${DAY}\\.?${GAP}(?:of${GAP})?${MONTH},?${GAP}${YEAR}`),
      confidence: 0.9,
      read: ([, day, month, year]) => valid(Number(year), monthOf(month!), Number(day)),
    },
    {
      pattern: 'day_month_year_dashed',
      expression: pattern(`${DAY}-${MONTH}-(\\d{4}|\\d{2})`),
      confidence: 0.9,
      read: ([, day, month, year]) => valid(fullYear(year!), monthOf(month!), Number(day)),
    },
    {
      pattern: 'numeric',
      expression: pattern('(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4}|\\d{2})'),
      confidence: 0.8,
      read: (match) => numeric(match, dayFirst),
    },
  ];
}

/** Dates that leave something open: the day, the year, or all but the year. */
export const OPEN_DATES: readonly Rule<CalendarDate>[] = [
  {
    pattern: 'month_year',
    expression: pattern(`${MONTH},?${GAP}${YEAR}`),
    confidence: 0.7,
    read: ([, month, year]) => valid(Number(year), monthOf(month!)),
  },
  {
    pattern: 'month_day',
    expression: pattern(`${MONTH}${GAP}${DAY}`),
    confidence: 0.6,
    read: ([, month, day]) => valid(undefined, monthOf(month!), Number(day)),
  },
  {
    pattern: 'day_month',
    expression: pattern(`${DAY}\\.?${GAP}(?:of${GAP})?${MONTH}`),
    confidence: 0.6,
    read: ([, day, month]) => valid(undefined, monthOf(month!), Number(day)),
  },
  {
    pattern: 'quarter',
    expression: pattern(`q([1-4])[ /-]?${YEAR}`),
    confidence: 0.7,
    read: ([, quarter, year]) => ({ year: Number(year), quarter: Number(quarter) }),
  },
  {
    pattern: 'year',
    expression: new RegExp(`(?<=${START}(?:in|since|by|until|from|during|before|after|year) )${YEAR}${END}`, 'giu'),
    confidence: 0.6,
    read: ([, year]) => ({ year: Number(year) }),
  },
];
