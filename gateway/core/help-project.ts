import { isHelpProject, refuseBuiltIn } from '../../runtime/projects/built-in.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';

/** What may be sent to the help project although it is no GET: whatever asks it something, and a conversation's own end. */
const ALLOWED = new Set(['rag_query', 'database_preview', 'event_log_replay', 'project_speech', 'questions_recall']);

/** All that is said to it and kept of that. */
const TAGS = new Set(['chat', 'conversations']);

/** Keeps the help project as it is, and has its pages read before they are searched. Endpoints of no project stay as they are. */
export function forHelpProject(one: Endpoint<Runtime>): Endpoint<Runtime> {
  if (one.method === 'GET' || !one.path.includes('/{namespace}/{project}')) return one;
  const isAllowed = TAGS.has(one.tag) || ALLOWED.has(one.id);
  const isHelp = ({ params }: Pick<Request, 'params'>): boolean => isHelpProject(params.namespace!, params.project!);
  const handler: Endpoint<Runtime>['handler'] = (runtime, request) => {
    if (!isHelp(request)) return one.handler(runtime, request);
    if (!isAllowed) refuseBuiltIn(request.params.namespace!, request.params.project!);
    // A chat sees to it itself.
    return one.id === 'rag_query' ? runtime.help.ready().then(() => one.handler(runtime, request)) : one.handler(runtime, request);
  };
  if (!one.multipart) return { ...one, handler };
  const { admit } = one.multipart;
  const multipart: Endpoint<Runtime>['multipart'] = {
    ...one.multipart,
    admit: (runtime, request) => {
      // Before its bytes are read.
      if (isHelp(request)) refuseBuiltIn(request.params.namespace!, request.params.project!);
      return admit?.(runtime, request);
    },
  };
  return { ...one, handler, multipart };
}
