import { Failure } from '../../schemas/errors.js';
import type { EventItem, FollowQuery, ListQuery } from '../../schemas/generated/core/events.js';
import { timeOf } from '../base/times.js';

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
export function matchesFilter({ type, session_id: session, status, model }: FollowQuery, item: EventItem): boolean {
  return (
    (type === undefined || item.type === type) &&
    (session === undefined || item.session_id === session) &&
    (status === undefined || item.status === status) &&
    (model === undefined || item.summary.model === model)
  );
}

/** Readers at the same time, of all projects. */
const MAX_FOLLOWERS = 100;
/** Events that wait for a slow reader; the oldest of more are passed over. */
const MAX_WAITING = 1_000;

/** What a reader wants to hear of. */
interface Wish {
  readonly namespace: string;
  readonly project: string;
  readonly filter: FollowQuery;
}

class Follower {
  readonly #waiting: EventItem[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(readonly wish: Wish) {}

  push(item: EventItem): void {
    this.#waiting.push(item);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *items(): AsyncGenerator<EventItem, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

/** Those who read events as they are stored. */
export class Followers {
  readonly #all = new Set<Follower>();
  #closed = false;

  /** Events from now on, until `signal` aborts, the project is deleted or the daemon stops. Throws `too_many`. */
  add(wish: Wish, signal: AbortSignal): AsyncIterable<EventItem> {
    if (this.#all.size >= MAX_FOLLOWERS)
      throw new Failure('too_many', `${MAX_FOLLOWERS} readers follow event logs already. Close one, or read the list.`, {
        retryAfterS: 30,
      });
    const follower = new Follower(wish);
    this.#all.add(follower);
    const leave = (): void => {
      this.#all.delete(follower);
      follower.end();
    };
    if (signal.aborted || this.#closed) leave();
    signal.addEventListener('abort', leave, { once: true });
    return endWith(follower.items(), leave);
  }

  /** Tells all who want to hear of it. */
  tell(item: EventItem): void {
    for (const follower of this.#all) {
      const { namespace, project, filter } = follower.wish;
      if (namespace === item.namespace && project === item.project && matchesFilter(filter, item)) follower.push(item);
    }
  }

  /** Ends the streams of a project. */
  end(namespace: string, project: string): void {
    for (const follower of this.#all) if (follower.wish.namespace === namespace && follower.wish.project === project) this.#drop(follower);
  }

  /** Ends all streams, and those that are asked for later at once. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#all) this.#drop(follower);
  }

  #drop(follower: Follower): void {
    this.#all.delete(follower);
    follower.end();
  }
}

async function* endWith<Item>(items: AsyncIterable<Item>, leave: () => void): AsyncGenerator<Item, void, undefined> {
  try {
    yield* items;
  } finally {
    leave();
  }
}
