import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor } from './contract.js';
import { completeDates, OPEN_DATES } from './dates/calendar.js';
import { clockText, TIMES, zoneClock } from './dates/clock.js';
import { apart, type CalendarDate, type ClockTime, FOUND_LIMIT, type Found, scan } from './dates/contract.js';
import { DURATIONS, RELATIVE_DATES } from './dates/spoken.js';

/** How a complete date is written; what leaves something open is always ISO 8601. */
type DateFormat = 'ISO' | 'US' | 'EU';
/** Which year a date without one gets: this one, the last it was in, or the next it will be in. */
type Preference = 'current' | 'past' | 'future';

const MONTHS_OF_QUARTER = 3;
const two = (number: number): string => String(number).padStart(2, '0');
const four = (number: number): string => String(number).padStart(4, '0');

/** The date with a year, seen from `today`. The 29th of February gets the nearest leap year that way, without preference an earlier one. */
function withYear(date: CalendarDate, preference: Preference, today: Date): CalendarDate {
  if (date.year !== undefined || date.month === undefined) return date;
  const { month, day = 1 } = date;
  const exists = (year: number): boolean => new Date(Date.UTC(year, month - 1, day)).getUTCMonth() === month - 1;
  const now = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate());
  let year = today.getUTCFullYear();
  if (preference === 'past' && Date.UTC(year, month - 1, day) > now) year -= 1;
  if (preference === 'future' && Date.UTC(year, month - 1, day) < now) year += 1;
  while (!exists(year)) year += preference === 'future' ? 1 : -1;
  return { ...date, year };
}

/** A date as text: a day in the format; a month as `2024-03`, a quarter as the interval of its months, a year as `2024`. */
function dateText({ year = 0, month, day, quarter }: CalendarDate, format: DateFormat): string {
  if (quarter !== undefined) {
    const last = quarter * MONTHS_OF_QUARTER;
    return `${four(year)}-${two(last - MONTHS_OF_QUARTER + 1)}/${four(year)}-${two(last)}`;
  }
  if (month === undefined) return four(year);
  if (day === undefined) return `${four(year)}-${two(month)}`;
  if (format === 'US') return `${two(month)}/${two(day)}/${four(year)}`;
  if (format === 'EU') return `${two(day)}/${two(month)}/${four(year)}`;
  return `${four(year)}-${two(month)}-${two(day)}`;
}

const OPTIONS = {
  fuzzy_parsing: {
    type: 'boolean',
    default: true,
    description: 'Takes dates that leave something open, such as May 2024 or the 5th of May.',
  },
  extract_relative: { type: 'boolean', default: true, description: 'Dates such as yesterday or 3 days ago.' },
  extract_times: { type: 'boolean', default: true, description: 'Times of day, and days with a time.' },
  extract_durations: { type: 'boolean', default: true, description: 'Lengths of time, among the relative dates.' },
  default_timezone: { type: 'string', default: 'UTC', description: 'Zone of a day with a time that gives none.' },
  date_format: {
    type: 'string',
    default: 'ISO',
    enum: ['ISO', 'US', 'EU'],
    description: 'How dates are written; EU also reads 3/4/2024 with the day first.',
  },
  prefer_dates_from: {
    type: 'string',
    default: 'current',
    enum: ['current', 'past', 'future'],
    description: 'The year of a date that gives none: this one, or the one that puts it before or after today.',
  },
} as const satisfies OptionShapes;

/** What may stand between a date and its time, and between a time and its date. */
const DATE_THEN_TIME = /^(?:T|,? ?(?:at )?|[ ]?@ ?)$/;
/** Longer than any of them. */
const GAP_UNITS = 8;
const TIME_THEN_DATE = /^,? (?:on )?$/;

const item = <T, S>({ text, start, end, pattern, confidence }: Found<T>, said: S, type: string) => ({
  text,
  start,
  end,
  ...said,
  type,
  pattern,
  confidence,
});

type Pair = readonly [Found<CalendarDate>, Found<ClockTime>];

/** Dates and times next to each other, in either order, each used once. Both lists are in the order of the text. */
function* pairs(text: string, dates: readonly Found<CalendarDate>[], times: readonly Found<ClockTime>[]): Generator<Pair> {
  let at = 0;
  let used: Found<ClockTime> | undefined;
  for (const date of dates) {
    while (at < times.length && times[at]!.end <= date.start) at += 1;
    const before = times[at - 1];
    const after = times[at];
    if (date.value.day === undefined) continue;
    const follows = after && DATE_THEN_TIME.test(text.slice(date.end, Math.min(after.start, date.end + GAP_UNITS)));
    const leads = before && before !== used && TIME_THEN_DATE.test(text.slice(before.end, Math.min(date.start, before.end + GAP_UNITS)));
    used = follows ? after : leads ? before : used;
    if (follows || leads) yield [date, used!];
  }
}

function combine(text: string, [date, time]: Pair, clock: ReturnType<typeof zoneClock>) {
  const { year, month, day } = date.value;
  const start = Math.min(date.start, time.start);
  const end = Math.max(date.end, time.end);
  const offset = time.value.offset ?? clock({ year: year!, month: month!, day: day! }, time.value);
  const parsed = `${dateText(date.value, 'ISO')}T${clockText({ ...time.value, offset })}`;
  const confidence = Math.min(date.confidence, time.confidence);
  return { text: text.slice(start, end), start, end, parsed, type: 'datetime', pattern: `${date.pattern}+${time.pattern}`, confidence };
}

/**
 * Dates, times, relative dates with durations among them, and days with a time, which are always ISO 8601. Only a date without a year is
 * read by today's date.
 */
export const dateTime = defineExtractor('DateTimeExtractor', OPTIONS, (text, options) => {
  const clock = zoneClock(options.default_timezone);
  const today = new Date();
  const rules = [...completeDates(options.date_format === 'EU'), ...(options.fuzzy_parsing ? OPEN_DATES : [])];
  const dates = scan(text, rules).map((date) => ({ ...date, value: withYear(date.value, options.prefer_dates_from, today) }));
  const times = options.extract_times ? scan(text, TIMES) : [];
  const relative = scan(text, RELATIVE_DATES).map((one) => ({ ...one, type: 'relative' }));
  const durations = scan(text, DURATIONS).map((one) => ({ ...one, type: 'duration' }));
  const spoken = apart([...relative, ...durations])
    .filter((one) => (one.type === 'relative' ? options.extract_relative : options.extract_durations))
    .slice(0, FOUND_LIMIT);
  const found = {
    dates: dates.map((one) => item(one, { parsed: dateText(one.value, options.date_format) }, 'date')),
    times: times.map((one) => item(one, { parsed: clockText(one.value) }, 'time')),
    relative_dates: spoken.map((one) => item(one, { interpretation: one.value }, one.type)),
    combined_datetime: [...pairs(text, dates, times)].map((pair) => combine(text, pair, clock)),
  };
  return {
    output: { datetime: found },
    flat: {
      dates: [...new Set(found.dates.map((one) => one.parsed))],
      times: [...new Set(found.times.map((one) => one.parsed))],
      relative_dates: [...new Set(found.relative_dates.map((one) => one.text))],
    },
  };
});
