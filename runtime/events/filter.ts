import type { EventItem, FollowQuery, ListQuery } from '../../schemas/generated/core/events.js';
import { timeOf } from '../config/times.js';

/** Which events are wanted, and from when to when in milliseconds since 1970, both included. */
export interface EventFilter extends FollowQuery {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The filter of a query. Throws `invalid` for a time that is none. */
export function filterOf({ start_time: start, end_time: end, ...rest }: Partial<ListQuery>): EventFilter {
  return {
    ...rest,
    ...(start === undefined ? {} : { fromMs: timeOf(['query', 'start_time'], start) }),
    ...(end === undefined ? {} : { toMs: timeOf(['query', 'end_time'], end) }),
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
