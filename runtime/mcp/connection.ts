import type {
  CallToolResult,
  Client,
  ContentBlock,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { Failure } from '../../schemas/errors.js';
import type { McpServer } from '../../schemas/generated/config/project.js';
import { orAborted } from '../base/loop.js';
import { expandEnv } from '../config/variables.js';
import type { Outbound } from '../net/outbound.js';
import type { ToolCallOptions } from './contract.js';
import { fetchThrough, type HttpEvents } from './http.js';
import { aboutServer } from './limits.js';
import { ProcessTransport } from './process.js';

export type { CallToolResult, ContentBlock, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplateType, Tool };

/** Seconds that are allowed where the project gives none. */
const CONNECT_TIMEOUT_S = 30;
const CALL_TIMEOUT_S = 120;
/** Longest call, whatever progress it reports. */
const LONGEST_CALL_MS = 60 * 60 * 1000;
/** Time in which a process may say that it speaks the newest protocol; one of an older protocol may leave the question unanswered. */
const PROBE_MS = 5_000;
/** Of an answer that broke off; of the range that JSON-RPC leaves to implementations. */
const BROKEN_CODE = -32_002;
/** Time to take leave of a server over HTTP. */
const LEAVE_MS = 2_000;
/** Pages of a list that are read. */
const MAX_PAGES = 64;
/** Code of failures whose message has the words of a server, which may repeat what it was sent. */
export const SAID_BY_SERVER = 'ToolServerError';
/** Of such words, how many are kept. */
const MAX_ERROR_CHARACTERS = 2_000;
/** Code of the failure of a request to a server that has forgotten the session, so that it did nothing. */
export const SESSION_GONE = 'ToolServerSessionGone';

/** What connections are made with. */
export interface ConnectionParts {
  readonly outbound: Outbound;
  /** Of this program, as servers are told. */
  readonly version: string;
}

/** What a connection tells of. */
export interface ConnectionEvents {
  /** The server's tools are others now. */
  toolsChanged(): void;
  /** The connection is gone; the message continues a sentence about the server. Not told where it was closed here. */
  lost(failure: Failure): void;
}

/** One connection to a server, ready for calls; the only place that uses the client library. */
export class Connection {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #callMs: number;
  readonly #gone: Promise<never>;
  #setGone!: (failure: Failure) => void;
  #lost: Failure | undefined;
  /** While it is being opened the client library tells of what breaks. */
  #lose: (failure: Failure) => void = () => {};
  #isClosed = false;

  private constructor(client: Client, transport: Transport, { call_timeout_s: callS = CALL_TIMEOUT_S }: McpServer) {
    this.#client = client;
    this.#transport = transport;
    this.#callMs = callS * 1000;
    this.#gone = new Promise((_resolve, reject) => {
      this.#setGone = reject;
    });
    this.#gone.catch(() => {});
  }

  /**
   * Starts or calls the server and agrees on a protocol with it. Throws `Failure` whose message continues a sentence about the server:
   * `bad_request` where its settings are at fault, so that trying again is no use. `signal` ends the attempt.
   */
  static async open(
    server: McpServer,
    directory: string,
    parts: ConnectionParts,
    events: ConnectionEvents,
    signal: AbortSignal,
  ): Promise<Connection> {
    const limitMs = (server.connect_timeout_s ?? CONNECT_TIMEOUT_S) * 1000;
    const { Client } = await clientLibrary();
    for (const mode of ['auto', 'legacy'] as const) {
      const transport: Transport = await transportOf(server, directory, parts.outbound, {
        ended: (id, { message }) => transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: BROKEN_CODE, message } }),
        flooded: (failure) => connection.#lose(failure),
      });
      const client = new Client(
        { name: 'quern', version: parts.version },
        {
          versionNegotiation: { mode, probe: { timeoutMs: server.transport === 'stdio' ? Math.min(PROBE_MS, limitMs / 2) : limitMs } },
          listChanged: { tools: { autoRefresh: false, onChanged: () => events.toolsChanged() } },
          listMaxPages: MAX_PAGES,
          // A server's own schemas are not run here: their patterns could hold everybody up.
          jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
        },
      );
      const connection = new Connection(client, transport, server);
      const leave = (): void => void transport.close();
      signal.addEventListener('abort', leave, { once: true });
      try {
        signal.throwIfAborted();
        await inTime(client.connect(transport, { timeout: limitMs }), limitMs);
        connection.#watch(events);
        return connection;
      } catch (error) {
        const ending = endingOf(transport);
        await client.close().catch(() => {});
        await transport.close().catch(() => {});
        // A program of an older protocol may end at a question that it does not know; it gets another life without it.
        if (!signal.aborted && mode === 'auto' && server.transport === 'stdio' && ending !== undefined && isNegotiation(error)) continue;
        throw ending === undefined ? failureOf(error) : new Failure('unavailable', ending, { cause: error });
      } finally {
        signal.removeEventListener('abort', leave);
      }
    }
    throw new Failure('unavailable', 'ended before it spoke');
  }

  /** Throws why it is lost, where it is. */
  throwIfLost(): void {
    if (this.#lost) throw this.#lost;
  }

  /** The protocol version that was agreed on. */
  get protocol(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  /** All its tools, as it lists them. */
  async tools(): Promise<readonly Tool[]> {
    return (await this.#ask(this.#client.listTools(undefined, { timeout: this.#callMs, cacheMode: 'refresh' }))).tools;
  }

  /** Its resources, and the patterns of addresses of those that are not listed; none where it has no resources. */
  async resources(): Promise<{ resources: readonly Resource[]; templates: readonly ResourceTemplateType[] }> {
    if (!this.#client.getServerCapabilities()?.resources) return { resources: [], templates: [] };
    const options = { timeout: this.#callMs };
    const { resources } = await this.#ask(this.#client.listResources(undefined, options));
    // A server may have resources and know nothing of templates.
    const templates = await this.#ask(this.#client.listResourceTemplates(undefined, options)).catch(() => undefined);
    return { resources, templates: templates?.resourceTemplates ?? [] };
  }

  /** Its prompts; none where it has none. */
  async prompts(): Promise<readonly Prompt[]> {
    if (!this.#client.getServerCapabilities()?.prompts) return [];
    return (await this.#ask(this.#client.listPrompts(undefined, { timeout: this.#callMs }))).prompts;
  }

  /** Reads a resource. */
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    return this.#ask(this.#client.readResource({ uri }, { timeout: this.#callMs, signal, cacheMode: 'refresh' }), signal);
  }

  /** Reads a prompt with its arguments filled in. */
  prompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult> {
    return this.#ask(this.#client.getPrompt({ name, arguments: { ...args } }, { timeout: this.#callMs, signal }), signal);
  }

  /** Calls a tool. Rejects with `Failure`, or with the reason of the signal. */
  call(name: string, args: Record<string, unknown>, { signal, onProgress }: ToolCallOptions): Promise<CallToolResult> {
    const options = {
      signal,
      timeout: this.#callMs,
      maxTotalTimeout: LONGEST_CALL_MS,
      resetTimeoutOnProgress: true,
      onprogress: (told: { progress: number; total?: number | undefined; message?: string | undefined }) => {
        const { progress, total, message } = told;
        onProgress?.({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) });
      },
    };
    return this.#ask(this.#client.callTool({ name, arguments: args }, options), signal);
  }

  /** Ends the session and the connection, and the process of a server that is one; what is under way fails. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#setGone(new Failure('unavailable', 'was closed'));
    const transport = this.#transport as Transport & { terminateSession?(): Promise<void> };
    if (transport.terminateSession) await inTime(transport.terminateSession(), LEAVE_MS).catch(() => {});
    await this.#client.close().catch(() => {});
  }

  #watch(events: ConnectionEvents): void {
    this.#lose = (failure) => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#lost = failure;
      this.#setGone(failure);
      void this.#client.close().catch(() => {});
      events.lost(failure);
    };
    const end = (): void => this.#lose(new Failure('unavailable', endingOf(this.#transport) ?? 'closed the connection'));
    this.#client.onclose = end;
    if (endingOf(this.#transport) !== undefined) end();
    this.#client.onerror = (error) => {
      // A stream of events that breaks is opened again by the client library, as another session, which nobody has greeted.
      const isBroken = error.name === 'SseError' || (error instanceof Failure && error.code === 'ConnectFailed');
      const failure = this.#failure(error);
      if (isBroken || failure.code === SESSION_GONE) this.#lose(failure);
    };
  }

  /** An error of the client library in our words; only a server with sessions can have forgotten one. */
  #failure(error: unknown): Failure {
    if (this.#transport.sessionId === undefined || !isSessionGone(error)) return failureOf(error);
    return new Failure('unavailable', 'has forgotten the session', { code: SESSION_GONE, cause: error });
  }

  /** An answer of the server, or why there is none. */
  async #ask<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await Promise.race([answer, this.#gone]);
    } catch (error) {
      answer.catch(() => {});
      if (signal?.aborted) throw signal.reason;
      throw this.#failure(error);
    }
  }
}

async function transportOf(server: McpServer, directory: string, outbound: Outbound, events: HttpEvents): Promise<Transport> {
  const { transport, command = '', args = [], env = {}, base_url: base = '', headers = {} } = expandVariables(server);
  if (transport === 'stdio') return new ProcessTransport({ command, args, env, directory });
  const { StreamableHTTPClientTransport, SSEClientTransport } = await clientLibrary();
  if (!URL.canParse(base)) throw new Failure('bad_request', 'has a base_url that is no URL: write it as http://host:port/path');
  const options = { fetch: fetchThrough(outbound, events), requestInit: { headers } };
  return (
    transport === 'http' ? new StreamableHTTPClientTransport(new URL(base), options) : new SSEClientTransport(new URL(base), options)
  ) as Transport;
}

function expandVariables(server: McpServer): McpServer {
  try {
    return expandEnv(server);
  } catch (error) {
    throw aboutServer('cannot be started', error);
  }
}

function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const late = AbortSignal.timeout(limitMs);
  return orAborted(work, late).catch((error: unknown) => {
    if (late.aborted && error === late.reason) throw new Failure('timed_out', `did not answer within ${limitMs / 1000} s`);
    throw error;
  });
}

const endingOf = (transport: Transport): string | undefined => (transport instanceof ProcessTransport ? transport.ending : undefined);

/** Whether an error says that the two could not agree on a protocol. */
const isNegotiation = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 'ERA_NEGOTIATION_FAILED';

/** Whether a server over HTTP says of a message that it does not know the session any more: by 404, or by 400 with a word about sessions. */
function isSessionGone(error: unknown): boolean {
  const { code, data } = error as { code?: unknown; data?: { status?: unknown; text?: unknown } };
  // A server without a stream of events may answer 404 to whoever wants one.
  if (code !== 'CLIENT_HTTP_NOT_IMPLEMENTED') return false;
  const { status, text } = data ?? {};
  return status === 404 || (status === 400 && typeof text === 'string' && /session/i.test(text));
}

/** An error of the client library in our words; its message continues a sentence about the server. */
function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const cause = (error as { cause?: unknown } | undefined)?.cause;
  if (cause instanceof Failure) return cause;
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  if (code === 'REQUEST_TIMEOUT') return new Failure('timed_out', 'did not answer in time', { cause: error });
  if (code === 'CONNECTION_CLOSED') return new Failure('unavailable', 'closed the connection', { cause: error });
  return new Failure('unavailable', `answered with an error: ${message.slice(0, MAX_ERROR_CHARACTERS)}`, {
    code: SAID_BY_SERVER,
    cause: error,
  });
}

/** The reference client, imported when it is used first: its code takes a tenth of a second to load. */
async function clientLibrary(): Promise<typeof import('@modelcontextprotocol/client')> {
  // One part after the other: all at once would hold the event loop for more than 50 ms.
  await import('zod/v4');
  await import('@modelcontextprotocol/client/_shims');
  return import('@modelcontextprotocol/client');
}
