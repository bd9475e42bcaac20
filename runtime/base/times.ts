import { Failure } from '../../schemas/errors.js';

/** Date, time and zone of ISO 8601; a `+` that nobody escaped arrives as a space. */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?(Z|[+-]?\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Milliseconds since 1970 of a time as clients write it, UTC where it names no zone. Throws `invalid` for anything else, with `loc` as the
 * place of the wrong value.
 */
export function timeOf(loc: readonly string[], given: string): number {
  const [, date, time = '00:00', zone = 'Z'] = TIME.exec(given.trim()) ?? [];
  const [, sign = '+', hours, minutes = '00'] = /^([+-]?)(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  const offset = hours === undefined ? 'Z' : `${sign || '+'}${hours}:${minutes}`;
  const day = Date.parse(`${date}T00:00:00Z`);
  const ms = Date.parse(`${date}T${time.replace(',', '.')}${offset}`);
  // A day that its month does not have would be taken for one of the next month.
  if (Number.isFinite(ms) && Number.isFinite(day) && new Date(day).toISOString().startsWith(date!)) return ms;
  const msg = 'a time has the form of ISO 8601, such as 2026-01-31T13:45:00Z';
  throw new Failure('invalid', `${loc.join('.')}: ${msg}, got ${JSON.stringify(given.slice(0, 100))}.`, {
    errors: [{ type: 'datetime_parsing', loc, msg, input: given.slice(0, 100) }],
  });
}
