import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type { EventItem, FollowQuery, ListQuery, ReplayRequest } from '../../schemas/generated/core/events.js';

const LOGS = '/v1/projects/{namespace}/{project}/event_logs';
const tag = 'events';

function place({ params }: Request): [namespace: string, project: string] {
  return [params.namespace!, params.project!];
}

async function* frames(items: AsyncIterable<EventItem>): AsyncGenerator<string, void, undefined> {
  for await (const item of items) yield `id: ${item.event_id}\ndata: ${JSON.stringify(item)}\n\n`;
}

/** The event logs of projects: list, follow, read, run again. */
export const eventEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: LOGS,
    id: 'event_logs_list',
    summary: 'List the events of a project, the newest first',
    tag,
    query: 'core/events#ListQuery',
    response: 'core/events#EventList',
    handler: async ({ events }, request) => ({ json: await events.list(...place(request), request.query as unknown as ListQuery) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${LOGS}/stream`,
    id: 'event_logs_stream',
    summary: 'Follow the events of a project as they are stored',
    tag,
    query: 'core/events#FollowQuery',
    streams: true,
    handler: ({ events }, request) => ({
      events: frames(events.follow(...place(request), request.query as FollowQuery, request.signal)),
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${LOGS}/{event_id}`,
    id: 'event_log_get',
    summary: 'Read an event with all its steps',
    tag,
    response: 'core/events#EventRecord',
    handler: async ({ events }, request) => ({ json: await events.get(...place(request), request.params.event_id!) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${LOGS}/{event_id}/replay`,
    id: 'event_log_replay',
    summary: 'Run a recorded chat again, and say what differs',
    tag,
    body: 'core/events#ReplayRequest',
    response: 'core/events#ReplayReply',
    handler: async ({ chat }, request) => ({
      json: await chat.replay(...place(request), request.params.event_id!, request.body as ReplayRequest, request.signal),
    }),
  }),
];
