import type { ServerContext, Server as ServerOfLibrary } from '@modelcontextprotocol/server';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Progress } from '../../schemas/endpoint.js';
import { failureOf, logFailure } from '../http/errors.js';
import type { Visitor } from '../http/visitor.js';
import { completionOf, DOCUMENT_TEMPLATES, Documents } from './documents.js';
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from './library.js';
import { Prompts } from './prompts.js';
import { type Scope, scopeOf } from './scope.js';
import { Tools } from './tools.js';
import { McpTransport } from './transport.js';

const INSTRUCTIONS = [
  'Quern runs AI projects on this machine: models, prompts, documents and retrieval.',
  'A project is named by a namespace and a name; "default" is the usual namespace, and projects_list shows its projects.',
  'rag_query finds passages in the documents of a project, chat_completions asks its model, which sees those passages.',
  'To add documents: dataset_data_upload, then dataset_actions with "process", then task_get until the task has ended.',
].join(' ');

/** Handlers check what they get by schemas of their own, and ask clients for nothing. */
const NO_VALIDATOR: NonNullable<NonNullable<ConstructorParameters<typeof Server>[1]>['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Opens what clients of the Model Context Protocol find in a runtime: the operations as tools, documents and prompts. */
export function openMcp(runtime: Runtime, operations: readonly Endpoint<Runtime>[]): McpTransport {
  const tools = new Tools(runtime, operations);
  return new McpTransport(
    (asked, visitor) => serverOf(visitor?.context ?? runtime, tools, visitor, scopeOfRequest(asked)),
    runtime.stopping,
  );
}

/** The scope in the address of a message, which dispatch has checked. */
function scopeOfRequest(request: Request | undefined): Scope {
  const { project, tools, read_only: isReadOnly } = Object.fromEntries(new URL(request?.url ?? 'http://localhost').searchParams);
  return scopeOf({ ...(project ? { project } : {}), ...(tools === undefined ? {} : { tools }), read_only: isReadOnly === 'true' });
}

/** One for each message: the protocol has no sessions. */
function serverOf(runtime: Runtime, tools: Tools, visitor: Visitor<Runtime> | undefined, asked: Scope): ServerOfLibrary {
  const scope = { ...asked, sees: visitor && ((namespace: string) => visitor.sees(namespace)) };
  const documents = new Documents(runtime);
  const prompts = new Prompts(runtime);
  const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
  const server = new Server(
    { name: 'quern', version: runtime.version },
    { capabilities, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  );
  server.setRequestHandler('tools/list', () => asProtocolResult(async () => ({ tools: tools.cards(scope) })));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asProtocolResult(() =>
      tools.call({
        name: params.name,
        given: params.arguments ?? {},
        scope,
        headers: headersForTools(context),
        signal: context.mcpReq.signal,
        progress: progressOf(context),
        visitor,
      }),
    ),
  );
  server.setRequestHandler('resources/list', ({ params }) => asProtocolResult(() => documents.list(scope, params?.cursor)));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: DOCUMENT_TEMPLATES }));
  server.setRequestHandler('resources/read', ({ params }, context) =>
    asProtocolResult(async () => ({ contents: [await documents.read(scope, params.uri, context.mcpReq.signal)] }), params.uri),
  );
  server.setRequestHandler('prompts/list', ({ params }) => asProtocolResult(() => prompts.list(scope, params?.cursor)));
  server.setRequestHandler('prompts/get', ({ params }) => asProtocolResult(() => prompts.get(scope, params.name, params.arguments ?? {})));
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) =>
    asProtocolResult(async () => ({
      // Prompts take any text.
      completion:
        ref.type === 'ref/resource' ? await completionOf(runtime, scope, { ...argument, known: context?.arguments ?? {} }) : { values: [] },
    })),
  );
  return server;
}

function headersForTools({ http }: ServerContext): Record<string, string> {
  const given = http?.req?.headers;
  const pairs = ['host', 'x-request-id'].map((name) => [name, given?.get(name)] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

function progressOf({ mcpReq }: ServerContext): ((step: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return ({ done, total, text }) => {
    const params = { progressToken, progress: done, ...(total === undefined ? {} : { total }), message: text };
    // Who has left is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** What `work` resolves to; a `Failure` becomes an error of the protocol. */
async function asProtocolResult<Result>(work: () => Promise<Result>, uri?: string): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError || (error instanceof DOMException && error.name === 'AbortError')) throw error;
    const failure = failureOf(error);
    logFailure(failure, { id: '', method: 'POST', path: '/mcp' });
    if (uri !== undefined && failure.kind === 'not_found') throw new ResourceNotFoundError(uri, failure.message);
    throw new ProtocolError(failure.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, failure.message);
  }
}
