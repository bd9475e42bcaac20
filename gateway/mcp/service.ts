import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Request as ApiRequest, Endpoint, Progress, Reply } from '../../schemas/endpoint.js';
import { failureOf, logFailure } from '../http/errors.js';
import { DOCUMENT_TEMPLATES, Documents } from './documents.js';
import { Prompts } from './prompts.js';
import { Tools } from './tools.js';

/** Headers that the protocol reads, and those that a tool sees. */
const PASSED = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'host'];
const SANE_SESSION = /^[\w-]{1,128}$/;
/** Open subscriptions of all clients together. */
const MAX_SUBSCRIPTIONS = 1024;
/** Legacy calls whose cancellation is listened for. */
const MAX_CANCELLABLE = 10_000;

const INSTRUCTIONS = [
  'Quern runs AI projects on this machine: models, prompts, documents and retrieval.',
  'A project is named by a namespace and a name; "default" is the usual namespace, and projects_list shows its projects.',
  'rag_query finds passages in the documents of a project, chat_completions asks its model, which sees those passages.',
  'To add documents: dataset_data_upload, then dataset_actions with "process", then task_get until the task has ended.',
].join(' ');

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number };
}

/** Serves clients of the Model Context Protocol of all revisions since 2024-11-05, without sessions. */
export class McpService {
  readonly #runtime: Runtime;
  readonly #tools: Tools;
  readonly #documents: Documents;
  readonly #prompts: Prompts;
  readonly #handler: McpHttpHandler;
  /** Calls of clients that cancel by a message of its own, by session and request id. */
  readonly #cancellable = new Map<string, AbortController>();

  constructor(runtime: Runtime, operations: readonly Endpoint<Runtime>[]) {
    this.#runtime = runtime;
    this.#tools = new Tools(runtime, operations);
    this.#documents = new Documents(runtime);
    this.#prompts = new Prompts(runtime);
    this.#handler = createMcpHandler(() => this.#server(), {
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => log('debug', 'an MCP message was not served', { error }),
    });
    runtime.stopping.addEventListener('abort', () => void this.#handler.close(), { once: true });
  }

  /** Answers one POST; its body is checked against `core/mcp#Post`. */
  async answer(request: ApiRequest): Promise<Reply> {
    const message = request.body as Message;
    const session = sessionOf(request);
    if (session !== undefined && message.method === 'notifications/cancelled')
      this.#cancellable.get(keyOf(session, message.params?.requestId))?.abort();
    const cancel = new AbortController();
    const key = session === undefined || message.id === undefined ? undefined : keyOf(session, message.id);
    if (key !== undefined && this.#cancellable.size < MAX_CANCELLABLE) this.#cancellable.set(key, cancel);
    const done = (): void => {
      if (key !== undefined && this.#cancellable.get(key) === cancel) this.#cancellable.delete(key);
    };
    try {
      const signal = AbortSignal.any([request.signal, cancel.signal]);
      const response = await this.#handler.fetch(webRequest(request, signal), { parsedBody: message });
      return await replyOf(response, message, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  /** One for each message: the protocol has no sessions. */
  #server(): Server {
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const server = new Server(
      { name: 'quern', version: this.#runtime.version },
      { capabilities, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [...this.#tools.cards] }));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      told(() =>
        this.#tools.call({
          name: params.name,
          given: params.arguments ?? {},
          headers: seenHeaders(context),
          signal: context.mcpReq.signal,
          progress: progressOf(context),
        }),
      ),
    );
    server.setRequestHandler('resources/list', ({ params }) => told(() => this.#documents.list(params?.cursor)));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: DOCUMENT_TEMPLATES }));
    server.setRequestHandler('resources/read', ({ params }, context) =>
      told(async () => ({ contents: [await this.#documents.read(params.uri, context.mcpReq.signal)] }), params.uri),
    );
    server.setRequestHandler('prompts/list', ({ params }) => told(() => this.#prompts.list(params?.cursor)));
    server.setRequestHandler('prompts/get', ({ params }) => told(() => this.#prompts.get(params.name, params.arguments ?? {})));
    return server;
  }
}

/** Handlers check what they get by schemas of their own, and ask clients for nothing. */
const NO_VALIDATOR: NonNullable<NonNullable<ConstructorParameters<typeof Server>[1]>['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

function keyOf(session: string, id: unknown): string {
  return `${session} ${JSON.stringify(id)}`;
}

function sessionOf(request: ApiRequest): string | undefined {
  const given = request.header('mcp-session-id');
  return given !== undefined && SANE_SESSION.test(given) ? given : undefined;
}

function webRequest(request: ApiRequest, signal: AbortSignal): Request {
  const headers = new Headers({ 'x-request-id': request.id });
  for (const name of PASSED) {
    const value = request.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal });
}

/** An answer of the protocol's library as one of ours. `done` is called when nothing more of it can be cancelled. */
async function replyOf(response: Response, message: Message, done: () => void): Promise<Reply> {
  // Clients before 2026 send the id of a session with each message; by it, and by nothing else, their cancellations are told apart.
  const headers: Record<string, string> = message.method === 'initialize' && response.ok ? { 'Mcp-Session-Id': randomUUID() } : {};
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) return { headers, events: textOf(response.body, done) };
  const allow = response.headers.get('allow');
  const text = await response.text();
  done();
  return {
    status: response.status,
    headers: allow === null ? headers : { ...headers, Allow: allow },
    bytes: text,
    contentType: type || 'application/json',
  };
}

async function* textOf(body: ReadableStream<Uint8Array>, done: () => void): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
  } finally {
    done();
  }
}

function seenHeaders({ http }: ServerContext): Record<string, string> {
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
async function told<Result>(work: () => Promise<Result>, uri?: string): Promise<Result> {
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
