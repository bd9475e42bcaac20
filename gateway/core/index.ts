import { isHelpProject, refuseBuiltIn } from '../../runtime/projects/cache.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';
import type { SocketRoute } from '../http/dispatch.js';
import { mcpEndpoint } from '../mcp/endpoint.js';
import { SERVICE_ENDPOINTS, servedBy } from '../universal/index.js';
import { chatEndpoints } from './chat.js';
import { conversationEndpoints } from './conversations.js';
import { datasetEndpoints } from './datasets.js';
import { eventEndpoints } from './events.js';
import { exampleEndpoints } from './examples.js';
import { generationEndpoints } from './generations.js';
import { machineEndpoints } from './machine.js';
import { memoryEndpoints } from './memory.js';
import { memoryReadEndpoints } from './memory-reads.js';
import { memoryRecallEndpoints } from './memory-recall.js';
import { fetchEndpoints, modelEndpoints } from './models.js';
import { placeOf } from './place.js';
import { projectEndpoints } from './projects.js';
import { questionEndpoints } from './questions.js';
import { ragEndpoints } from './rag.js';
import { speechEndpoints } from './speech.js';
import { systemEndpoints } from './system.js';
import { taskEndpoints } from './tasks.js';
import { toolServerEndpoints } from './tool-servers.js';
import { visionEndpoints } from './vision.js';
import { voiceSockets } from './voice.js';

/** What may be sent to the help project although it is no GET: whatever asks it something, or reads what a question comes with. */
const ALLOWED = new Set([
  'rag_query',
  'database_preview',
  'event_log_replay',
  'project_speech',
  'questions_recall',
  'conversation_document_read',
]);

/** All that is said to it and kept of that. */
const TAGS = new Set(['chat', 'conversations']);

/** Keeps the help project as it is, and has its pages read before they are searched. Endpoints of no project stay as they are. */
export function forHelpProject(one: Endpoint<Runtime>): Endpoint<Runtime> {
  if (one.method === 'GET' || !one.path.includes('/{namespace}/{project}')) return one;
  const isAllowed = TAGS.has(one.tag) || ALLOWED.has(one.id);
  const isHelp = (request: Pick<Request, 'params'>): boolean => isHelpProject(...placeOf(request));
  const handler: Endpoint<Runtime>['handler'] = (runtime, request) => {
    if (!isHelp(request)) return one.handler(runtime, request);
    if (!isAllowed) refuseBuiltIn(...placeOf(request));
    // A chat sees to it itself.
    return one.id === 'rag_query' ? runtime.help.ready().then(() => one.handler(runtime, request)) : one.handler(runtime, request);
  };
  if (!one.multipart) return { ...one, handler };
  const { admit } = one.multipart;
  const multipart: Endpoint<Runtime>['multipart'] = {
    ...one.multipart,
    admit: (runtime, request) => {
      // Before its bytes are read.
      if (isHelp(request) && !ALLOWED.has(one.id)) refuseBuiltIn(...placeOf(request));
      return admit?.(runtime, request);
    },
  };
  return { ...one, handler, multipart };
}

/** The runtime's services under the core's paths, such as `/v1/ml/...`: the same requests and answers, from the remote runtimes where there are such. */
export const serviceEndpoints: Endpoint<Runtime>[] = SERVICE_ENDPOINTS.flatMap(({ endpoints, core }) => {
  if (!core) return [];
  const { area, ...rest } = core;
  return servedBy('core', endpoints).map((one) => ({
    ...one,
    ...rest,
    path: one.path.replace('/v1/', `/v1/${area}/`),
    id: `${area}_${one.id}`,
    tag: area,
  }));
});

/** The operations of the core API. */
const operations: readonly Endpoint<Runtime>[] = [
  ...systemEndpoints,
  ...projectEndpoints,
  ...generationEndpoints,
  ...chatEndpoints,
  ...conversationEndpoints,
  ...datasetEndpoints,
  ...taskEndpoints,
  ...fetchEndpoints,
  ...eventEndpoints,
  ...exampleEndpoints,
  ...toolServerEndpoints,
  ...ragEndpoints,
  ...questionEndpoints,
  ...memoryEndpoints,
  ...memoryReadEndpoints,
  ...memoryRecallEndpoints,
  ...machineEndpoints,
  ...modelEndpoints,
  ...visionEndpoints,
  ...speechEndpoints,
  ...serviceEndpoints,
]
  .map(forHelpProject)
  .map(afterParsing);

/** Everything that the core API (port 14345) serves; dispatch and OpenAPI are derived from this list. */
export const coreEndpoints: readonly Endpoint<Runtime>[] = [...operations, mcpEndpoint(operations)];

/** The WebSockets of the core API. */
export const coreSockets: readonly SocketRoute<Runtime>[] = [...voiceSockets];

/** Handlers of a project's endpoints read its file synchronously; where it is large and was edited, a worker thread parses it first. */
function afterParsing(one: Endpoint<Runtime>): Endpoint<Runtime> {
  if (!one.path.includes('/{namespace}/{project}')) return one;
  const handler: Endpoint<Runtime>['handler'] = (runtime, request) => {
    const parsing = runtime.projects.parsing(...placeOf(request));
    return parsing ? parsing.then(() => one.handler(runtime, request)) : one.handler(runtime, request);
  };
  return { ...one, handler };
}
