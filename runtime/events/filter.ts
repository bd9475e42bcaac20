import { Failure } from '../../schemas/errors.js';
import type { EventItem, FollowQuery, ListQuery } from '../../schemas/generated/core/events.js';

/** Date, time and zone of ISO 8601; a `+` that nobody escaped arrives as a space. */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?(Z|[+-]?\d{2}(?::?\d{2})?)?)?$/i;

/** Milliseconds since 1970 of a time as clients write it, UTC where it names no zone. Throws `invalid` for anything else. */
function timeOf(name: 'start_time' | 'end_time', given: string): number {
  const [, date, time = '00:00', zone = 'Z'] = TIME.exec(given.trim()) ?? [];
  const [, sign = '+', hours, minutes = '00'] = /^([+-]?)(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  const offset = hours === undefined ? 'Z' : `${sign || '+'}${hours}:${minutes}`;
  const day = Date.parse(`${date}T00:00:00Z`);
  const ms = Date.parse(`${date}T${time.replace(',', '.')}${offset}`);
  // A day that its month does not have would be taken for one of the next month.
  if (Number.isFinite(ms) && Number.isFinite(day) && new Date(day).toISOString().startsWith(date!)) return ms;
  const msg = 'a time has the form of ISO 8601, such as 2026-01-31T13:45:00Z';
  throw new Failure('invalid', `query.${name}: ${msg}, got ${JSON.stringify(given.slice(0, 100))}.`, {
    errors: [{ type: 'datetime_parsing', loc: ['query', name], msg, input: given.slice(0, 100) }],
  });
}

/** Which events are wanted, and from when to when in milliseconds since 1970, both included. */
export interface EventFilter extends FollowQuery {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The filter of a query. Throws `invalid` for a time that is none. */
export function filterOf({ start_time: start, end_time: end, ...rest }: Partial<ListQuery>): EventFilter {
  return {
    ...rest,
    ...(start === undefined ? {} : { fromMs: timeOf('start_time', start) }),
    ...(end === undefined ? {} : { toMs: timeOf('end_time', end) }),
  };
}

/** Whether a filter asks for anything but times. */
export function hasTests({ type, session_id: session, status, model }: FollowQuery): boolean {
  return [type, session, status, model].some((one) => one !== undefined);
}

/** Whether an event is wanted, whenever it was. */
export function passes({ type, session_id: session, status, model }: FollowQuery, item: EventItem): boolean {
  return (
    (type === undefined || item.type === type) &&
    (session === undefined || item.session_id === session) &&
    (status === undefined || item.status === status) &&
    (model === undefined || item.summary.model === model)
  );
}
