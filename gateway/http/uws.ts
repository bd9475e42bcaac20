import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import type { CoreAddon } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { log } from '../../runtime/base/log.js';
import { Failure } from '../../schemas/errors.js';
import { errorBody } from './errors.js';
import { listenOnNode } from './node.js';
import {
  DEFAULT_LIMITS,
  type Listener,
  type ListenOptions,
  listenFailure,
  PING_INTERVAL_S,
  type Refusal,
  type SocketListener,
  type SocketPeer,
  STOPPING,
  type Transport,
  type TransportLimits,
  type UpgradeRequest,
} from './transport.js';
import { addressOf, UwsExchange, type UwsListenerState } from './uws-exchange.js';
import { isOneWholeRequest, keepReadsShort } from './uws-reads.js';
import type { UwsApp, UwsModule, UwsRequest, UwsResponse, UwsSocket } from './uws-surface.js';

/** uWebSockets.js leaves this time between its ping and the end of a silent WebSocket. */
const PONG_WAIT_S = 16;
/** Bytes of a new connection that are looked at before a transport gets it. */
const LOOK_BYTES = 64 * 1024;
/** So long a connection without a byte waits in the system; then node:http has it. */
const SILENCE_S = 1;
/** The code of a WebSocket whose client went away without one. */
const GONE = 1006;
/** How often a draining listener looks whether its requests have ended. */
const DRAIN_POLL_MS = 20;
/** So long the library has to read what connections that it got just before a drain have sent; it reads in the next turns of the event loop. */
const UNREAD_MS = 40;

/**
 * Loads uWebSockets.js: one that the user installed, else the platform package. Throws when neither is there or its binary
 * does not fit this system. `looks`: whether connections are looked at first, see `sharedDoor`; only Linux has what that needs.
 */
export function uwsTransport(looks = process.platform === 'linux'): Transport {
  // Read by the library once, while it loads.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(DEFAULT_LIMITS.headerBytes);
  const require = createRequire(import.meta.url);
  const names = ['uWebSockets.js', `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`];
  const reasons: string[] = [];
  for (const name of names) {
    try {
      const module = require(name) as UwsModule;
      // What is encrypted cannot be looked at before the library has it, which would misread chunked bodies then. The library opens its ports itself.
      const isForNode = (options: ListenOptions) => options.tls !== undefined || (!looks && options.descriptor !== undefined);
      return { name: 'uws', listen: (options) => (isForNode(options) ? listenOnNode(options) : listen(module, options, looks)) };
    } catch (error) {
      reasons.push(`${name}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  throw new Failure('unavailable', `uWebSockets.js could not be loaded (${reasons.join('; ')}).`);
}

class State implements UwsListenerState {
  running = 0;
  draining = false;
  connections = 0;

  constructor(readonly limits: TransportLimits) {}
}

async function listen(uws: UwsModule, options: ListenOptions, looks: boolean): Promise<Listener> {
  const state = new State({ ...DEFAULT_LIMITS, ...options.limits });
  const app = uws.App();
  const { connections: most } = state.limits;
  // biome-ignore lint/suspicious/useIterableCallbackReturn: not an array's filter
  app.filter((response, count) => {
    state.connections += count;
    if (count > 0 && state.connections > most) response.close();
  });
  const peers = sockets(uws, app, options, state.limits);
  serveRequests(app, options, state);
  // Older versions of the library take no connections from others.
  const core = looks && 'adoptSocket' in app ? coreOrNone() : undefined;
  const door = core ? await sharedDoor(app, options, state, core) : await ownDoor(uws, app, options);
  keepReadsShort(door.port);
  let drained: Promise<void> | undefined;
  const drain = async (deadlineMs: number): Promise<void> => {
    state.draining = true;
    const closed = door.drain(deadlineMs);
    for (const { listener, peer } of [...peers]) {
      listener.stopping?.();
      peer?.close(STOPPING.code, STOPPING.reason);
    }
    const deadline = performance.now() + deadlineMs;
    const read = performance.now() + (state.connections > 0 ? UNREAD_MS : 0);
    const isAwaited = (now: number): boolean => now < deadline && (state.running > 0 || now < read);
    while (isAwaited(performance.now())) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    app.close();
    await closed;
  };
  return {
    host: door.host,
    port: door.port,
    get descriptor() {
      return door.descriptor;
    },
    drain: (deadlineMs) => {
      drained ??= drain(deadlineMs);
      return drained;
    },
  };
}

function serveRequests(app: UwsApp, { application }: ListenOptions, state: State): void {
  const serve = (response: UwsResponse, request: UwsRequest, method: string): void => {
    if (hasTwoLengths(request)) {
      refuseTwoLengths(response);
      return;
    }
    const exchange = new UwsExchange(response, request, method, state);
    application.request(exchange);
    exchange.detach();
  };
  // A route for the most frequent method saves asking the library for it.
  app.get('/*', (response, request) => serve(response, request, 'GET'));
  app.any('/*', (response, request) => serve(response, request, request.getMethod().toUpperCase()));
}

/** The port of the library itself, where its connections cannot be looked at before. */
async function ownDoor(uws: UwsModule, app: UwsApp, { host, port }: ListenOptions): Promise<Listener> {
  // Without the exclusive option a second daemon would share the port instead of failing.
  const token = await new Promise<unknown>((resolve) => app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve));
  if (!token) {
    app.close();
    throw listenFailure(host, port, await reasonOf(host, port));
  }
  return {
    host,
    port: uws.us_socket_local_port(token),
    descriptor: -1,
    drain: async () => uws.us_listen_socket_close(token),
  };
}

/**
 * A port of node:http that gives its ordinary connections to the library. The library misreads chunked bodies with extensions or trailers, and
 * ends connections whose requests do not wait for the answers to those before: connections that begin so stay with node:http, which one parser reads
 * from their first byte to the last.
 */
async function sharedDoor(app: UwsApp, options: ListenOptions, state: State, core: CoreAddon): Promise<Listener> {
  const first = Buffer.allocUnsafe(LOOK_BYTES);
  const door = await listenOnNode(options, (descriptor, open) => {
    if (open + state.connections >= state.limits.connections) return true;
    if (!isOneWholeRequest(first.subarray(0, core.peekConnection(descriptor, first)))) return false;
    const own = core.duplicateConnection(descriptor);
    if (own >= 0) app.adoptSocket(own);
    return own >= 0;
  });
  core.holdSilentConnections(door.port, SILENCE_S);
  return door;
}

function coreOrNone(): CoreAddon | undefined {
  try {
    return loadCore();
  } catch (error) {
    log('warn', 'all connections go to uWebSockets.js, which cannot read chunk extensions', { error });
    return undefined;
  }
}

/** The library takes the first length of a request that tells two, and others on its way may take the second. */
function hasTwoLengths(request: UwsRequest): boolean {
  if (request.getHeader('content-length') === '') return false;
  let lengths = 0;
  request.forEach((name) => {
    if (name === 'content-length') lengths += 1;
  });
  return lengths > 1;
}

/**
 * Where the body ends is unknown, so nothing more of the connection is read. The answer waits for the end of what has come: the library
 * serves what lies behind a request that is answered at once, and closes the connection where it is not.
 */
function refuseTwoLengths(response: UwsResponse): void {
  const failure = new Failure('bad_request', 'The request has more than one Content-Length header; send one.');
  let gone = false;
  response.onAborted(() => {
    gone = true;
  });
  setImmediate(() => {
    if (gone) return;
    response.cork(() => {
      response.writeStatus(`400 ${STATUS_CODES[400]}`).writeHeader('content-type', 'application/json; charset=utf-8');
      response.end(JSON.stringify(errorBody(failure, 'house', '')), true);
    });
  });
}

/** uWebSockets.js only says that it failed; the system says why when asked through node:net. */
function reasonOf(host: string, port: number): Promise<unknown> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

interface SocketState {
  readonly listener: SocketListener;
  peer: UwsPeer | undefined;
}

/** Guards a WebSocket of the library, which throws when used after its end. */
class UwsPeer implements SocketPeer {
  open = true;

  constructor(private readonly socket: UwsSocket<SocketState>) {}

  send(content: string | Uint8Array): boolean {
    return this.open && this.socket.send(content, typeof content !== 'string') !== 2;
  }

  get bufferedBytes(): number {
    return this.open ? this.socket.getBufferedAmount() : 0;
  }

  close(code: number, reason: string): void {
    if (this.open) this.socket.end(code, reason);
  }
}

/** Serves WebSockets; returns the open ones, kept current. */
function sockets(uws: UwsModule, app: UwsApp, { application }: ListenOptions, limits: TransportLimits): ReadonlySet<SocketState> {
  const peers = new Set<SocketState>();
  app.ws<SocketState>('/*', {
    compression: uws.DISABLED,
    maxPayloadLength: limits.socketPayloadBytes,
    maxBackpressure: limits.socketBufferBytes,
    closeOnBackpressureLimit: true,
    idleTimeout: PING_INTERVAL_S + PONG_WAIT_S,
    sendPingsAutomatically: true,
    upgrade: (response, request, context) => upgrade(response, request, context, (asked) => application.upgrade(asked)),
    open: (socket) => {
      const state = socket.getUserData();
      state.peer = new UwsPeer(socket);
      peers.add(state);
      state.listener.open(state.peer);
    },
    message: (socket, message, isBinary) => {
      // The message's memory is only lent for this callback.
      const bytes = Buffer.from(new Uint8Array(message));
      socket.getUserData().listener.message(isBinary ? bytes : bytes.toString('utf8'));
    },
    close: (socket, code) => {
      const state = socket.getUserData();
      peers.delete(state);
      if (state.peer) state.peer.open = false;
      state.listener.closed(code);
    },
  });
  return peers;
}

function upgrade(
  response: UwsResponse,
  request: UwsRequest,
  context: unknown,
  ask: (request: UpgradeRequest) => ReturnType<ListenOptions['application']['upgrade']>,
): void {
  const key = request.getHeader('sec-websocket-key');
  const protocol = request.getHeader('sec-websocket-protocol').split(',')[0]!.trim();
  let gone = false;
  const finish = (answer: SocketListener | Refusal): void => {
    if ('open' in answer) {
      const state: SocketState = { listener: answer, peer: undefined };
      if (gone) answer.closed(GONE);
      else response.upgrade(state, key, protocol, '', context);
      return;
    }
    if (gone) return;
    response.writeStatus(`${answer.status} ${STATUS_CODES[answer.status] ?? 'Refused'}`);
    for (let index = 0; index < answer.headers.length; index += 2) response.writeHeader(answer.headers[index]!, answer.headers[index + 1]!);
    response.end(answer.body, true);
  };
  const answer = ask({
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    remoteAddress: addressOf(response),
    header: (name) => request.getHeader(name),
  });
  if (!(answer instanceof Promise)) {
    finish(answer);
    return;
  }
  response.onAborted(() => {
    gone = true;
  });
  void answer.then((known) => (gone ? finish(known) : response.cork(() => finish(known))));
}
