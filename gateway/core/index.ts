import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import type { SocketRoute } from '../http/dispatch.js';
import { mcpEndpoint } from '../mcp/endpoint.js';
import { chatEndpoints } from './chat.js';
import { conversationEndpoints } from './conversations.js';
import { datasetEndpoints } from './datasets.js';
import { eventEndpoints } from './events.js';
import { exampleEndpoints } from './examples.js';
import { generationEndpoints } from './generations.js';
import { forHelpProject } from './help-project.js';
import { machineEndpoints } from './machine.js';
import { memoryEndpoints } from './memory.js';
import { memoryReadEndpoints } from './memory-reads.js';
import { memoryRecallEndpoints } from './memory-recall.js';
import { fetchEndpoints } from './model-fetches.js';
import { modelEndpoints } from './models.js';
import { projectEndpoints } from './projects.js';
import { questionEndpoints } from './questions.js';
import { ragEndpoints } from './rag.js';
import { serviceEndpoints } from './services.js';
import { speechEndpoints } from './speech.js';
import { systemEndpoints } from './system.js';
import { taskEndpoints } from './tasks.js';
import { toolServerEndpoints } from './tool-servers.js';
import { visionEndpoints } from './vision.js';
import { voiceSockets } from './voice.js';

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
    const parsing = runtime.projects.parsing(request.params.namespace!, request.params.project!);
    return parsing ? parsing.then(() => one.handler(runtime, request)) : one.handler(runtime, request);
  };
  return { ...one, handler };
}
