import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { Agent, ProxyAgent } from 'undici';
import { Failure } from '../../schemas/errors.js';
import { once } from '../base/once.js';
import { type AddressPolicy, checkUrl, pinnedLookup, printableUrl, type Resolver, systemResolver } from './address.js';
import { type Exchange, faultOf, OutboundReply, outboundFailure } from './reply.js';

/** One outgoing HTTP request. */
export interface OutboundRequest {
  readonly url: string | URL;
  /** Who named the host; decides which addresses are allowed. */
  readonly policy: AddressPolicy;
  /** Takes the request to its host, whose name it resolves itself: of the address only what stands in the URL is checked then. */
  readonly proxy?: URL | null;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent as it is read, and with no redirect. */
  readonly body?: string | Uint8Array | Readable;
  /** Redirects to follow, 0 to 5; none unless given: a redirect is then an ordinary reply. */
  readonly redirects?: number;
  readonly limits?: Partial<OutboundLimits>;
  readonly signal?: AbortSignal;
}

/** How long one outgoing request may take and how much it may bring. Times in milliseconds. */
export interface OutboundLimits {
  /** From the end of the request to the end of the response headers. */
  readonly headersMs: number;
  /** Between two pieces of the body, while the reader is waiting. */
  readonly idleMs: number;
  /** The whole exchange, redirects and body included. */
  readonly totalMs: number;
  /** Bytes of the response body. */
  readonly responseBytes: number;
}

/** Limits of a request that gives none: an ordinary small exchange. */
export const DEFAULT_LIMITS: OutboundLimits = { headersMs: 30_000, idleMs: 30_000, totalMs: 120_000, responseBytes: 16 * 1024 * 1024 };

/** What an `Outbound` may be given, for tests and unusual networks. */
export interface OutboundOptions {
  readonly resolve?: Resolver;
  /** Longest connect in milliseconds; 10,000 unless given. */
  readonly connectMs?: number;
  /** How hosts prove who they are where that is not by the authorities that Node trusts. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'checkServerIdentity' | 'allowPartialTrustChain'> | undefined;
}

/** Longest connect, name resolution and TLS handshake included. */
export const CONNECT_MS = 10_000;

/** Most sockets to one origin; further requests wait within their total time. */
export const SOCKETS_PER_ORIGIN = 256;

/** Longest idle time of a kept socket. */
export const KEEP_ALIVE_MS = 30_000;

/** Largest response header block in bytes. */
export const RESPONSE_HEADER_BYTES = 32 * 1024;

/** Most redirects that a request may allow. */
export const MAX_REDIRECTS = 5;

interface Hop {
  url: URL;
  policy: AddressPolicy;
  proxy: URL | null;
  method: NonNullable<OutboundRequest['method']>;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CREDENTIAL_HEADERS = /^(authorization|proxy-authorization|cookie|cookie2|.*api[-_]?key.*|.*token.*|.*secret.*)$/;

/**
 * The only way out over HTTP: every address is checked before its socket is opened, redirects are not followed unless asked, and time and
 * size are limited. Sockets are kept per origin, policy and proxy. No proxy variables are read: a request names its proxy.
 */
export class Outbound {
  readonly #options: OutboundOptions;
  /** By policy and proxy, made at the first request. */
  readonly #agents = new Map<string, Agent | ProxyAgent>();
  #closed = false;
  /** See `restrictPrivateHosts`. */
  #trusted: ReadonlySet<string> | undefined;
  /** Ends each exchange under way. */
  readonly #running = new Set<() => void>();

  constructor(options: OutboundOptions = {}) {
    this.#options = options;
  }

  /**
   * Sends a request and returns when the response headers are there, whatever the status; the reply must be read or discarded. Throws `Failure` with an `OutboundFault` as its
   * code, or the reason of the caller's abort.
   */
  async request(request: OutboundRequest): Promise<OutboundReply> {
    const limits = { ...DEFAULT_LIMITS, ...request.limits };
    const policy = this.#policyOf(request);
    let hop: Hop = {
      url: this.#checked(request.url, policy, request.policy),
      policy,
      proxy: request.proxy ?? null,
      method: request.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
    };
    const exchange = openExchange(printableUrl(hop.url), limits, request.signal, this.#running);
    try {
      for (let left = Math.min(request.redirects ?? 0, MAX_REDIRECTS); ; left--) {
        const reply = await this.#send(hop, limits, exchange);
        const location = reply.header('location');
        if (!request.redirects || !REDIRECTS.has(reply.status) || location === undefined) return reply;
        reply.dropBody();
        if (left <= 0) throw outboundFailure('RedirectRefused', `${exchange.host} redirects more than ${request.redirects} times.`);
        hop = nextHop(hop, reply.status, location);
      }
    } catch (error) {
      exchange.settle();
      throw this.#withRemedy(faultOf(error, exchange.host, exchange.signal), policy !== request.policy);
    }
  }

  /**
   * From now on this machine and its private networks are asked only at these hosts, each with its port where that is not the usual one, and a name of this machine standing for all of them: for daemons whose
   * project files are written by people who do not run the machine (threat T7).
   */
  restrictPrivateHosts(except: Iterable<string>): void {
    this.#trusted = new Set([...except].map(plainHost));
  }

  #policyOf({ policy, url }: OutboundRequest): AddressPolicy {
    if (policy === 'request' || !this.#trusted) return policy;
    return this.#trusted.has(plainHost(checkUrl(url, policy).host)) ? policy : 'request';
  }

  #checked(url: string | URL, policy: AddressPolicy, asked: AddressPolicy): URL {
    try {
      return checkUrl(url, policy);
    } catch (error) {
      throw this.#withRemedy(error, policy !== asked);
    }
  }

  /** What of this machine is kept out is told with the place where it can be let through. */
  #withRemedy(error: unknown, isKeptOut: boolean): unknown {
    if (!isKeptOut || !(error instanceof Failure) || error.code !== 'AddressRefused') return error;
    const message = `${error.message} Who runs the machine can let it through, with its port, in quern.hosts of the module file of the accounts.`;
    return new Failure(error.kind, message, { code: error.code, cause: error.cause });
  }

  #agent({ policy, proxy }: Hop): Agent | ProxyAgent {
    if (this.#closed) throw outboundFailure('ConnectionLost', 'The daemon stops and calls nobody any more.');
    const key = `${policy} ${proxy?.href ?? ''}`;
    const known = this.#agents.get(key);
    if (known) return known;
    const made = proxy ? proxyAgent(proxy, this.#options) : directAgent(policy, this.#options);
    this.#agents.set(key, made);
    return made;
  }

  async #send(hop: Hop, limits: OutboundLimits, exchange: Exchange): Promise<OutboundReply> {
    const { statusCode, headers, body } = await this.#agent(hop).request({
      origin: hop.url.origin,
      path: hop.url.pathname + hop.url.search,
      method: hop.method,
      headers: hop.headers,
      body: hop.body ?? null,
      headersTimeout: limits.headersMs,
      bodyTimeout: limits.idleMs,
      signal: exchange.signal,
    });
    const reply = new OutboundReply(statusCode, hop.url, headers, body as Readable, exchange);
    const encoding = reply.header('content-encoding');
    if (encoding === undefined || encoding === '' || encoding === 'identity') return reply;
    reply.discard();
    throw outboundFailure('BadResponse', `${exchange.host} compressed its answer (${encoding.slice(0, 40)}) although it was asked not to.`);
  }

  /** Closes every socket; requests under way fail. */
  async close(): Promise<void> {
    for (const end of [...this.#running]) end();
    this.#closed = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
}

/** A host with its port as `restrictPrivateHosts` compares it: the names of this machine are one. */
function plainHost(host: string): string {
  return host.toLowerCase().replace(/^(?:127\.0\.0\.1|\[::1\])(?=:|$)/, 'localhost');
}

function openExchange(host: string, limits: OutboundLimits, signal: AbortSignal | undefined, running: Set<() => void>): Exchange {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const late = (): void =>
    controller.abort(outboundFailure('TotalTimeout', `The exchange with ${host} took longer than ${limits.totalMs / 1000} s.`));
  const timer = setTimeout(late, limits.totalMs);
  const settle = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    running.delete(end);
  };
  const end = (): void => {
    settle();
    controller.abort(outboundFailure('ConnectionLost', `The exchange with ${host} ended because the daemon stops.`));
  };
  running.add(end);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { host, signal: controller.signal, responseBytes: limits.responseBytes, settle };
}

/**
 * The request after a redirect. A new origin was not chosen by whoever named the first one, so it gets the stricter policy and none of the
 * credentials (threat T8); going from https to http is refused.
 */
function nextHop(hop: Hop, status: number, location: string): Hop {
  let target: URL;
  try {
    target = new URL(location, hop.url);
  } catch {
    throw outboundFailure('RedirectRefused', `${printableUrl(hop.url)} redirects to something that is no URL.`);
  }
  const sameOrigin = target.origin === hop.url.origin;
  if (hop.url.protocol === 'https:' && target.protocol === 'http:')
    throw outboundFailure('RedirectRefused', `${printableUrl(hop.url)} redirects from https to http.`);
  const policy = sameOrigin ? hop.policy : 'request';
  const asGet = status === 303 || (hop.method === 'POST' && status < 303);
  const dropped = (name: string): boolean =>
    (!sameOrigin && CREDENTIAL_HEADERS.test(name)) || (asGet && /^content-(type|length)$/.test(name));
  return {
    url: checkUrl(target, policy),
    policy,
    proxy: hop.proxy,
    method: asGet && hop.method !== 'HEAD' ? 'GET' : hop.method,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !dropped(name.toLowerCase()))),
    body: asGet ? undefined : hop.body,
  };
}

const POOL = {
  connections: SOCKETS_PER_ORIGIN,
  pipelining: 1,
  keepAliveTimeout: 4000,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: RESPONSE_HEADER_BYTES,
};

const connecting = ({ connectMs = CONNECT_MS }: OutboundOptions) => ({
  timeout: connectMs,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 500,
});

/** Goes to each host itself, at addresses that its policy permits. */
function directAgent(policy: AddressPolicy, options: OutboundOptions): Agent {
  const lookup = pinnedLookup(options.resolve ?? systemResolver, policy);
  return new (agentClass())({ connect: { lookup, ...connecting(options), ...options.tls }, ...POOL });
}

/** Goes by a proxy: through a tunnel to https, and with the whole address as the path to http, for which proxies seldom open tunnels. */
function proxyAgent(proxy: URL, options: OutboundOptions): ProxyAgent {
  const { ProxyAgent, Pool } = proxyClasses();
  return new ProxyAgent({
    uri: proxy.href,
    proxyTunnel: false,
    proxyTls: connecting(options),
    ...(options.tls ? { requestTls: options.tls } : {}),
    // A proxy that opens no tunnel counts as one that cannot be reached.
    clientFactory: (origin, more) => new Pool(origin, { ...more, headersTimeout: options.connectMs ?? CONNECT_MS }),
    ...POOL,
  });
}

/** The parts of undici that are used. */
type Undici = Pick<typeof import('undici'), 'Agent' | 'Pool' | 'ProxyAgent'>;

/**
 * undici's agent, loaded at the first request that leaves. The package's own entry also loads fetch, WebSockets, caches and mocks: some 90 ms of the event loop
 * where these parts take 30. The entry gives dispatchers their methods, such as `request`; so does this.
 */
export const agentClass = once((): Undici['Agent'] => loadAgent(createRequire(import.meta.url)));

function loadAgent(load: NodeJS.Require): Undici['Agent'] {
  Object.assign(load('undici/lib/dispatcher/dispatcher').prototype, load('undici/lib/api'));
  return load('undici/lib/dispatcher/agent');
}

/** The same for requests by a proxy. */
const proxyClasses = once((): Pick<Undici, 'Pool' | 'ProxyAgent'> => {
  const load = createRequire(import.meta.url);
  loadAgent(load);
  return { ProxyAgent: load('undici/lib/dispatcher/proxy-agent'), Pool: load('undici/lib/dispatcher/pool') };
});
