import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { Outbound } from '../../runtime/net/outbound.js';
import { Failure } from '../../schemas/errors.js';
import { baseOf, keyHeaders, trustOf } from '../daemon/address.js';
import { startBehind } from '../daemon/background.js';
import { DaemonClient, eventDataOf } from '../daemon/client.js';
import { type Call, type Run, textOf } from '../verb.js';

/** The longest message of a client, in bytes; the daemon takes no longer ones either. */
const MESSAGE_BYTES = 2 * 1024 * 1024;
/** A call of a model may take this long, and a subscription longer than a day is asked for again. */
const LONGEST_MS = 24 * 3600 * 1000;
/** Bytes of one answer, the notifications before it included. */
const ANSWER_BYTES = 1024 ** 3;
/** A request whose answer comes when the client ends it. */
const SUBSCRIPTION = 'subscriptions/listen';

/** Codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** Which member of `params` the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

type Id = string | number | null;

interface Message {
  readonly id?: Id;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Where messages go and where answers are written. */
interface BridgeParts {
  readonly outbound: Outbound;
  /** The MCP endpoint of a daemon. */
  readonly url: string;
  /** Sent with each message; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly output: Writable;
}

/**
 * Carries MCP messages, one JSON text a line, to a streamable HTTP endpoint, and what it answers back, for clients of all revisions. A client that
 * cancels a request closes its connection.
 */
export class StdioBridge {
  readonly #parts: BridgeParts;
  readonly #running = new Map<Id, AbortController>();
  readonly #subscriptions = new Set<AbortController>();
  readonly #sent = new Set<Promise<void>>();
  /** What a client of 2025 agreed on with `initialize`; later ones say it with each message. */
  #version: string | undefined;
  #session: string | undefined;

  constructor(parts: BridgeParts) {
    this.#parts = parts;
  }

  /** Serves until the input ends and all that was asked is answered; subscriptions end with the input. */
  async run(input: Readable): Promise<void> {
    for await (const line of linesOf(input)) {
      if (line === undefined) await this.#write(failureOf(null, INVALID_REQUEST, `A message may have ${MESSAGE_BYTES} bytes.`));
      else if (line.trim() !== '') this.#take(line);
    }
    for (const subscription of this.#subscriptions) subscription.abort();
    await Promise.all(this.#sent);
  }

  #take(line: string): void {
    const done = this.#serve(line).finally(() => this.#sent.delete(done));
    this.#sent.add(done);
  }

  /** Never rejects. */
  async #serve(line: string): Promise<void> {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return this.#write(failureOf(null, PARSE_ERROR, 'The line is not JSON.'));
    }
    const { id, method, params } = message ?? {};
    if (method === 'notifications/cancelled') {
      this.#running.get(params?.requestId as Id)?.abort();
      return;
    }
    const controller = new AbortController();
    if (id !== undefined) this.#running.set(id, controller);
    if (method === SUBSCRIPTION) this.#subscriptions.add(controller);
    try {
      await this.#forward(line, message ?? {}, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted && id !== undefined) await this.#write(failureOf(id, INTERNAL_ERROR, errorText(error)));
    } finally {
      this.#subscriptions.delete(controller);
      if (id !== undefined && this.#running.get(id) === controller) this.#running.delete(id);
    }
  }

  async #forward(body: string, message: Message, signal: AbortSignal): Promise<void> {
    const { outbound, url } = this.#parts;
    const limits = { headersMs: LONGEST_MS, idleMs: LONGEST_MS, totalMs: LONGEST_MS, responseBytes: ANSWER_BYTES };
    const reply = await outbound.request({
      url,
      policy: 'operator',
      method: 'POST',
      headers: this.#headersOf(message),
      body,
      limits,
      signal,
    });
    if (message.method === 'initialize') this.#session = reply.header('mcp-session-id');
    const isStream = /^text\/event-stream\b/i.test(reply.header('content-type') ?? '');
    if (isStream && reply.status === 200) {
      for await (const text of eventDataOf(reply)) await this.#answer(message, text);
      return;
    }
    const text = await reply.text();
    if (text !== '') await this.#answer(message, text);
    else if (message.id !== undefined) throw new Failure('unavailable', `The daemon answered ${reply.status} and nothing else.`);
  }

  #headersOf({ method, params }: Message): Record<string, string> {
    const meta = params?._meta as Record<string, unknown> | undefined;
    const modern = meta?.[VERSION_KEY];
    const version = typeof modern === 'string' ? modern : this.#version;
    const headers: Record<string, string> = {
      ...this.#parts.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    if (version !== undefined) headers['mcp-protocol-version'] = headerText(version);
    if (typeof modern !== 'string') {
      if (this.#session !== undefined) headers['mcp-session-id'] = this.#session;
      return headers;
    }
    if (method !== undefined) headers['mcp-method'] = headerText(method);
    const name = method === undefined ? undefined : params?.[NAMED_BY[method] ?? ''];
    if (typeof name === 'string') headers['mcp-name'] = headerText(name);
    return headers;
  }

  /** Passes on one message of the daemon; a failure without an id, which could not be told from others, gets that of its request. */
  async #answer({ id, method }: Message, text: string): Promise<void> {
    const answer = JSON.parse(text) as { id?: Id; error?: unknown; result?: { protocolVersion?: string } };
    if (method === 'initialize' && answer.result?.protocolVersion !== undefined) this.#version = answer.result.protocolVersion;
    const lacksId = answer.error !== undefined && (answer.id ?? null) === null;
    if (lacksId && id === undefined) return;
    await this.#write(lacksId ? { ...answer, id } : answer);
  }

  async #write(message: unknown): Promise<void> {
    const { output } = this.#parts;
    if (!output.write(`${JSON.stringify(message)}\n`)) await once(output, 'drain');
  }
}

function failureOf(id: Id, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function errorText(error: unknown): string {
  return error instanceof Failure ? error.message : 'The answer of the daemon could not be read.';
}

/** A header value; what a header cannot hold goes in the form that MCP has for it. */
function headerText(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?');
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** The lines of a stream; `undefined` for one that is too long. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined, void, undefined> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      size += end;
      pieces.push(rest.subarray(0, end));
      yield size > MESSAGE_BYTES ? undefined : Buffer.concat(pieces).toString('utf8');
      pieces = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
    size += rest.length;
    // The rest of a line that is too long is counted and not kept.
    if (size > MESSAGE_BYTES) pieces = [];
    else pieces.push(rest);
  }
  if (size > 0) yield size > MESSAGE_BYTES ? undefined : Buffer.concat(pieces).toString('utf8');
}

/**
 * Serves MCP on standard input and output for clients that start their servers as commands: each message goes to `/mcp` of the running daemon.
 * `--start` starts a daemon where none runs; `--project namespace/name`, `--tools a,b` and `--read-only` say what the client is offered. Standard
 * output carries the protocol only. Throws `unavailable` without a daemon.
 */
export const serve: Run = async (call) => {
  await requireDaemon(call);
  const { daemon } = call;
  const outbound = new Outbound(trustOf(daemon));
  const url = `${baseOf(daemon, 'core')}/mcp${scopeOf(call)}`;
  try {
    await new StdioBridge({ outbound, url, headers: keyHeaders(daemon), output: process.stdout }).run(process.stdin);
  } finally {
    await outbound.close();
  }
  return undefined;
};

/** Says at the start what every message would be answered with. */
async function requireDaemon(call: Call): Promise<void> {
  const daemon = new DaemonClient(call.daemon);
  const base = daemon.baseOf('core');
  try {
    if (!(await daemon.isThere())) {
      if (call.flags.start !== true)
        throw new Failure('unavailable', `no daemon answers at ${base}: run "quern start" first, or add --start to this command.`);
      await startBehind(call, daemon);
    }
    const facts = await (await daemon.reply('/info')).text();
    if (!facts.includes('"data_directory"'))
      throw new Failure('unavailable', `what answers at ${base} is no Quern daemon; name its --host and --port.`);
  } finally {
    await daemon.close();
  }
}

/** What the flags say of a scope, as a query. */
function scopeOf(call: Call): string {
  const query = new URLSearchParams();
  for (const name of ['project', 'tools']) {
    const value = textOf(call, name);
    if (value !== undefined) query.set(name, value);
  }
  if (call.flags['read-only'] === true) query.set('read_only', 'true');
  return query.size > 0 ? `?${query}` : '';
}
