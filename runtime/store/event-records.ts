import type { EventItem, EventRecord } from '../../schemas/generated/core/events.js';

/** Address of an event in the order of its project: `atMs` = milliseconds since 1970 when it began. */
export type EventKey = readonly [namespace: string, project: string, atMs: number, id: string];

/** What lists show of an event, so that they need not read it. */
export interface EventHead {
  readonly item: EventItem;
  /** What its records take on disk, about. */
  readonly bytes: number;
}

/** An event as it is stored; `events`, which repeats `sub_events`, is left out. */
export type StoredEvent = Omit<EventRecord, 'events'>;
