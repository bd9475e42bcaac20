import type { CalendarDate } from './contract.js';

/** How a complete date is written; what leaves something open is always ISO 8601. */
export type DateFormat = 'ISO' | 'US' | 'EU';
/** Which year a date without one gets: this one, the last it was in, or the next it will be in. */
export type Preference = 'current' | 'past' | 'future';

const MONTHS_OF_QUARTER = 3;
const two = (number: number): string => String(number).padStart(2, '0');
const four = (number: number): string => String(number).padStart(4, '0');

/** The date with a year, seen from `today`. The 29th of February gets the nearest leap year that way, without preference an earlier one. */
export function withYear(date: CalendarDate, preference: Preference, today: Date): CalendarDate {
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
export function dateText({ year = 0, month, day, quarter }: CalendarDate, format: DateFormat): string {
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
