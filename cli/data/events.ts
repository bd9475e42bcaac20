import type { EventItem, EventList, EventRecord } from '../../schemas/generated/core/events.js';
import { route, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import { type Call, numberOf, type Run, textOf } from '../verb.js';

const SHOWN = 30;
const ABOUT_CHARS = 80;
const STYLES = { completed: 'green', failed: 'red' } as const;

const eventsOf = (call: Call): string => {
  const { namespace, project } = call.project;
  return call.flags.server === true ? '/v1/event_logs' : route`/v1/projects/${namespace}/${project}/event_logs`;
};

const rowOf = ({ timestamp, event_type, status, duration_ms, event_id, summary }: EventItem): string[] => [
  timestamp,
  event_type,
  status,
  duration_ms === null ? '' : `${Math.round(duration_ms)} ms`,
  event_id,
  aboutOf(summary).slice(0, ABOUT_CHARS),
];

/** What is known of an event beside its time, which has a column of its own: `model=m tokens=prompt:24,completion:13`. */
function aboutOf({ duration_ms: _told, ...summary }: EventItem['summary']): string {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(summary)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      if (typeof value !== 'object' || Array.isArray(value)) return `${name}=${textOf(value)}`;
      const members = Object.entries(value as object).map(([member, one]) => `${member}:${textOf(one)}`);
      return `${name}=${members.join(',')}`;
    })
    .join(' ');
}

/** What a project, or with `--server` the server, did last; with `--follow` also what it does from then on. */
export const events: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const at = eventsOf(call);
    const query = new URLSearchParams({ limit: String(numberOf(call, 'lines') ?? SHOWN) });
    for (const name of ['type', 'status']) if (textOf(call, name) !== undefined) query.set(name, textOf(call, name)!);
    const list = await daemon.ask<EventList>(`${at}?${query}`);
    const { out } = call;
    if (call.flags.follow !== true)
      return { result: list, show: () => out.table(['TIME', 'WHAT', 'STATE', 'TOOK', 'EVENT', 'ABOUT'], list.events.map(rowOf)) };
    query.delete('limit');
    const print = (item: EventItem): void => {
      const style = STYLES[item.status as keyof typeof STYLES];
      const text = withoutControls(rowOf(item).filter(Boolean).join('  '));
      out.line(style ? out.style(style, text) : text);
      out.value(item);
    };
    for (const item of list.events.toReversed()) print(item);
    for await (const item of daemon.events<EventItem>(`${at}/stream?${query}`)) print(item);
    return undefined;
  });

/** One event with its steps and their times. */
export const showEvent: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const event = await daemon.ask<EventRecord>(`${eventsOf(call)}${route`/${call.words[0]!}`}`);
    return {
      result: event,
      show: () => {
        const { out } = call;
        out.line(`${event.event_type} ${event.event_id}: ${event.status}, ${Math.round(event.total_elapsed_time_ms ?? 0)} ms`);
        if (event.error !== null) out.line(out.style('red', withoutControls(event.error)));
        out.line(withoutControls(JSON.stringify({ data: event.data, steps: event.events }, null, 2)));
      },
    };
  });
