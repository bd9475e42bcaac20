import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { NodeExchange, type NodeListenerState } from './node-exchange.js';
import {
  type Application,
  DEFAULT_LIMITS,
  type Listener,
  type ListenOptions,
  listenFailure,
  PING_INTERVAL_S,
  type Refusal,
  type SocketListener,
  type SocketPeer,
  STOPPING,
  type TlsIdentity,
  type Transport,
  type TransportLimits,
} from './transport.js';

/** Headers of one request. */
const MAX_HEADERS = 100;
/** How often node:http looks for connections that are over their time. */
const CONNECTION_CHECK_MS = 1_000;

/** The transport on node:http and ws, for systems without a uWebSockets.js binary. */
export function nodeTransport(): Transport {
  return { name: 'node', listen: (options) => listenOnNode(options) };
}

/**
 * Is asked about each new connection, of which nothing has been read: its descriptor, and how many connections node:http has. True ends it for node:http, which closes
 * the descriptor.
 */
export type Take = (descriptor: number, open: number) => boolean;

/** Opens a port on node:http. Without `take` all connections stay there. */
export async function listenOnNode(
  { host, port, application, limits: given, tls, descriptor }: ListenOptions,
  take?: Take,
): Promise<Listener> {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const state: NodeListenerState = { limits, draining: false, refusedBodies: new Set(), closing: new WeakSet() };
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeoutMs,
    // Bodies have their own clock in the exchange: an upload may take as long as it moves.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(CONNECTION_CHECK_MS, limits.headerTimeoutMs),
  };
  const secure = tls ? createTlsServer({ ...settings, ...tls, handshakeTimeout: limits.headerTimeoutMs }) : undefined;
  const server: Server | TlsServer = secure ?? createServer(settings);
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = limits.connections;
  server.on('request', (request, response) => {
    if (!state.closing.has(request.socket)) application.request(new NodeExchange(request, response, state));
  });
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
  });
  endSilent(server, secure !== undefined, limits.idleTimeoutMs);
  const peers = serveSockets(server, application, state);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(host, port, error)));
    server.listen(descriptor === undefined ? { host, port, exclusive: true } : { fd: descriptor }, resolve);
  });
  if (take) divert(server, (descriptor) => take(descriptor, open));
  const bound = server.address() as { address: string; port: number };
  let drained: Promise<void> | undefined;
  const drain = async (deadlineMs: number): Promise<void> => {
    state.draining = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    for (const body of state.refusedBodies) body.stop();
    const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
    for (const [peer, listener] of peers) {
      listener.stopping?.();
      peer.close(STOPPING.code, STOPPING.reason);
    }
    await closed;
    clearTimeout(timer);
    for (const peer of peers.keys()) peer.terminate();
  };
  return {
    host: bound.address,
    port: bound.port,
    get descriptor() {
      return handleOf(server)?.fd ?? -1;
    },
    ...(secure ? { renewTls: (identity: TlsIdentity) => secure.setSecureContext(identity) } : {}),
    drain: (deadlineMs) => {
      drained ??= drain(deadlineMs);
      return drained;
    },
  };
}

/** Ends connections that never send a request: node:http waits for the first byte of one without end. */
function endSilent(server: Server | TlsServer, isSecure: boolean, idleMs: number): void {
  const asked = new WeakSet<Duplex>();
  for (const event of ['request', 'upgrade']) server.prependListener(event, ({ socket }: IncomingMessage) => asked.add(socket));
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    // The bytes of an encrypted connection are those of its handshake too, and its first request may come with the last of them.
    const timer = setTimeout(() => {
      if (isSecure ? !asked.has(socket) : socket.bytesRead === 0) socket.destroy();
    }, idleMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
}

/** A connection or a listener inside node:net, which shows descriptors nowhere else and makes a socket of each connection, 60 us of work, before anybody is asked. */
interface InnerHandle {
  readonly fd?: number;
  onconnection?(error: unknown, connection: InnerHandle | undefined): void;
  close(): void;
}

/** The inner listener; none once it is closed. */
const handleOf = (server: Server | TlsServer): InnerHandle | null => (server as unknown as { _handle: InnerHandle | null })._handle;

function divert(server: Server | TlsServer, take: (descriptor: number) => boolean): void {
  const listener = handleOf(server);
  const serve = listener?.onconnection;
  if (!listener || !serve) return;
  listener.onconnection = (error, connection) => {
    if (!error && take(connection?.fd ?? -1)) connection?.close();
    else serve.call(listener, error, connection);
  };
}

/** Answers upgrade requests; returns the open WebSockets, kept current. */
function serveSockets(
  server: Server | TlsServer,
  application: Application,
  { limits, closing }: NodeListenerState,
): ReadonlyMap<WebSocket, SocketListener> {
  const peers = new Map<WebSocket, SocketListener>();
  // Loaded here: a daemon on the other transport never needs it.
  const { WebSocketServer } = createRequire(import.meta.url)('ws') as typeof import('ws');
  const accepting = new WebSocketServer({ noServer: true, maxPayload: limits.socketPayloadBytes, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (closing.has(socket)) return;
    const [path = '', query = ''] = splitOnce(request.url ?? '/', '?');
    const header = (name: string): string => [request.headers[name] ?? ''].flat()[0] ?? '';
    if (header('upgrade').toLowerCase() !== 'websocket') {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      return;
    }
    const finish = (answer: SocketListener | Refusal): void => {
      if (!('open' in answer)) refuse(socket, answer);
      else
        accepting.handleUpgrade(request, socket, head, (peer) => {
          peers.set(peer, answer);
          peer.once('close', () => peers.delete(peer));
          attach(peer, answer, limits);
        });
    };
    const answer = application.upgrade({ path, query, remoteAddress: request.socket.remoteAddress ?? '', header });
    if (answer instanceof Promise) void answer.then(finish);
    else finish(answer);
  });
  return peers;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function refuse(socket: Duplex, { status, headers, body }: Refusal): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function attach(peer: WebSocket, listener: SocketListener, limits: TransportLimits): void {
  let answered = true;
  const pings = setInterval(() => {
    if (!answered) return peer.terminate();
    answered = false;
    peer.ping();
  }, PING_INTERVAL_S * 1000);
  peer.on('pong', () => {
    answered = true;
  });
  peer.on('message', (content: RawData, isBinary) => {
    answered = true;
    const bytes = Array.isArray(content) ? Buffer.concat(content) : content instanceof ArrayBuffer ? Buffer.from(content) : content;
    listener.message(isBinary ? bytes : bytes.toString('utf8'));
  });
  // A protocol error is followed by `close`, which carries its code.
  peer.on('error', () => undefined);
  peer.on('close', (code) => {
    clearInterval(pings);
    listener.closed(code);
  });
  listener.open(new NodePeer(peer, limits.socketBufferBytes));
}

class NodePeer implements SocketPeer {
  constructor(
    private readonly peer: WebSocket,
    private readonly limitBytes: number,
  ) {}

  send(content: string | Uint8Array): boolean {
    if (this.peer.readyState !== this.peer.OPEN) return false;
    if (this.peer.bufferedAmount > this.limitBytes) {
      this.peer.terminate();
      return false;
    }
    this.peer.send(content, { binary: typeof content !== 'string' });
    return true;
  }

  get bufferedBytes(): number {
    return this.peer.bufferedAmount;
  }

  close(code: number, reason: string): void {
    this.peer.close(code, reason);
  }
}
