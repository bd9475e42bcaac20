import { SERVER_LOG } from '../../runtime/events/recording.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, type EndpointAccess, endpoint, type Request } from '../../schemas/endpoint.js';
import type { EventItem, FollowQuery, ListQuery, ReplayRequest } from '../../schemas/generated/core/events.js';
import { type ProjectPlace, placeOf } from './place.js';

const PROJECT_LOGS = '/v1/projects/{namespace}/{project}/event_logs';
const tag = 'events';

async function* frames(items: AsyncIterable<EventItem>): AsyncGenerator<string, void, undefined> {
  for await (const item of items) yield `id: ${item.event_id}\ndata: ${JSON.stringify(item)}\n\n`;
}

/** List, follow and read one log. `id` begins the operation ids, `whose` says in summaries whose log it is. */
const reading = (
  path: string,
  id: string,
  access: EndpointAccess,
  whose: string,
  place: (request: Request) => ProjectPlace,
): Endpoint<Runtime>[] => [
  endpoint<Runtime>({
    method: 'GET',
    path,
    id: `${id}s_list`,
    access,
    summary: `List the events of ${whose}, the newest first`,
    tag,
    query: 'core/events#ListQuery',
    response: 'core/events#EventList',
    handler: async ({ events }, request) => ({ json: await events.list(...place(request), request.query as unknown as ListQuery) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${path}/stream`,
    id: `${id}s_stream`,
    access,
    summary: `Follow the events of ${whose} as they are stored`,
    tag,
    query: 'core/events#FollowQuery',
    streams: true,
    handler: ({ events }, request) => ({
      events: frames(events.follow(...place(request), request.query as FollowQuery, request.signal)),
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${path}/{event_id}`,
    id: `${id}_get`,
    access,
    summary: `Read an event of ${whose} with all its steps`,
    tag,
    response: 'core/events#EventRecord',
    handler: async ({ events }, request) => ({ json: await events.get(...place(request), request.params.event_id!) }),
  }),
];

/** The event logs of projects (list, follow, read, run again), and that of the server. */
export const eventEndpoints: Endpoint<Runtime>[] = [
  ...reading(PROJECT_LOGS, 'event_log', 'writers', 'a project', placeOf),
  endpoint<Runtime>({
    method: 'POST',
    path: `${PROJECT_LOGS}/{event_id}/replay`,
    id: 'event_log_replay',
    access: 'writers',
    summary: 'Run a recorded chat again, and say what differs',
    tag,
    body: 'core/events#ReplayRequest',
    response: 'core/events#ReplayReply',
    handler: async ({ chat }, request) => ({
      json: await chat.replay(...placeOf(request), request.params.event_id!, request.body as ReplayRequest, request.signal),
    }),
  }),
  ...reading('/v1/event_logs', 'server_event_log', 'admins', 'the server', () => [SERVER_LOG.namespace, SERVER_LOG.name]),
];
