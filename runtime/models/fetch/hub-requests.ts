import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import { type AddressPolicy, hostOf, printableUrl, systemResolver } from '../../net/address.js';
import { kindOfAddress } from '../../net/ip.js';
import type { Outbound, OutboundLimits } from '../../net/outbound.js';
import type { OutboundReply } from '../../net/reply.js';
import type { HubSettings } from './settings.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const REDIRECT_LIMIT = 6;
/** Codes of failures after which no way leads to the hub. */
const UNREACHABLE: ReadonlySet<string> = new Set(['ConnectFailed', 'ConnectTimeout']);

/** The last answer of a chain of redirects, and what the answers before it said about the file. */
export interface HubReply {
  readonly reply: OutboundReply;
  /** Of the file as the hub names it, without quotes; null where no answer told. */
  readonly etag: string | null;
}

/** One request to the hub. */
interface HubRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits: Partial<OutboundLimits>;
  readonly signal: AbortSignal;
}

/** What an HTTP header can carry; more is no token, and would look like a broken connection. */
const SENDABLE = /^[\x21-\x7e]+$/;

const unquotedEtag = (etag: string | undefined): string | null => etag?.replace(/^W\//, '').replaceAll('"', '') || null;

/**
 * Sends requests to the hub and follows its redirects to wherever it keeps its files. The token goes to the endpoint's own origin alone
 * (threat T8). A redirect may lead to a private address only where the endpoint itself has one: a public hub has no business inside
 * (threat T7). From https to http never.
 */
export class HubRequests {
  readonly #outbound: Outbound;
  readonly #settings: HubSettings;
  #policy: Promise<AddressPolicy> | undefined;

  constructor(outbound: Outbound, settings: HubSettings) {
    this.#outbound = outbound;
    this.#settings = settings;
  }

  /** Follows up to six redirects; what the last answer says is the caller's to judge. Throws `invalid` for a token that cannot be sent. */
  async send(request: HubRequest): Promise<HubReply> {
    if (this.#settings.token !== null && !SENDABLE.test(this.#settings.token))
      throw new Failure(
        'invalid',
        'HF_TOKEN, or the file with the stored token, holds characters that no token has; copy the token again.',
        {
          code: 'InvalidToken',
        },
      );
    const origin = new URL(this.#settings.endpoint).origin;
    let url = new URL(request.url);
    let linked: string | null = null;
    for (let hop = 0; hop <= REDIRECT_LIMIT; hop++) {
      const isHome = url.origin === origin;
      const token: Record<string, string> =
        isHome && this.#settings.token !== null ? { authorization: `Bearer ${this.#settings.token}` } : {};
      const reply = await this.#outbound
        .request({
          url,
          policy: isHome ? 'operator' : await this.#policyAway(),
          proxy: this.#settings.proxies(url),
          headers: { 'user-agent': 'quern', ...request.headers, ...token },
          limits: request.limits,
          signal: request.signal,
        })
        .catch((error: unknown) => {
          throw withNetworkRemedy(error);
        });
      linked ??= unquotedEtag(reply.header('x-linked-etag'));
      const location = reply.header('location');
      if (!REDIRECTS.has(reply.status) || location === undefined)
        return { reply, etag: linked ?? (isHome ? unquotedEtag(reply.header('etag')) : null) };
      reply.discard();
      url = this.#next(url, location);
    }
    throw new Failure('unavailable', `${printableUrl(new URL(request.url))} redirects more than ${REDIRECT_LIMIT} times.`, {
      code: 'RedirectRefused',
    });
  }

  #next(from: URL, location: string): URL {
    const target = URL.canParse(location, from.href) ? new URL(location, from) : null;
    if (target === null || (from.protocol === 'https:' && target.protocol === 'http:')) {
      const why = target === null ? 'to something that is no URL' : 'from https to http';
      throw new Failure('unavailable', `${printableUrl(from)} redirects ${why}, which is refused.`, { code: 'RedirectRefused' });
    }
    return target;
  }

  #policyAway(): Promise<AddressPolicy> {
    this.#policy ??= this.#endpointPolicy();
    return this.#policy;
  }

  async #endpointPolicy(): Promise<AddressPolicy> {
    const { endpoint, proxies } = this.#settings;
    const url = new URL(endpoint);
    const host = hostOf(url);
    const isName = kindOfAddress(host) === undefined;
    // Behind a proxy there may be nobody who resolves names.
    const addresses = !isName ? [host] : proxies(url) ? [] : await systemResolver(host).catch(() => []);
    const isPrivate = addresses.length > 0 && addresses.every((address) => kindOfAddress(address) !== 'public');
    return isPrivate ? 'operator' : 'request';
  }
}

/** A failure to reach the hub at all, with what can be done about the way there. */
function withNetworkRemedy(error: unknown): unknown {
  if (!(error instanceof Failure) || !UNREACHABLE.has(error.code)) return error;
  const { kind, code, message } = error;
  return new Failure(kind, `${message} Look at the network; HTTPS_PROXY names a proxy, and HF_ENDPOINT another hub.`, {
    code,
    cause: error,
  });
}

/** What the hub says of a repository that it has taken from everybody. */
const DISABLED = 'Access to this resource is disabled.';

/** The longest pause that is asked of our own callers. */
const LONGEST_PASSED_ON_S = 3600;

/** Seconds that a `Retry-After` header asks for, in either of its forms; undefined without one. */
function retryAfterS(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** Seconds until requests are counted anew, by the hub's own header, such as `"api";r=0;t=55`; undefined while some are left. */
function resetS(header: string | undefined): number | undefined {
  const ends = (header ?? '').split(',').flatMap((limit) => {
    const [, left, seconds] = /;\s*r\s*=\s*(\d{1,9})\s*;\s*t\s*=\s*(\d{1,9})/.exec(limit) ?? [];
    return left !== undefined && Number(left) === 0 ? [Number(seconds)] : [];
  });
  // One more, because it counts whole seconds.
  return ends.length > 0 ? Math.max(...ends) + 1 : undefined;
}

/** What was asked of the hub, for messages. */
interface HubSubject {
  readonly repository: string;
  /** A file, or empty for the repository itself. */
  readonly path: string;
}

/** The failure that an answer other than success stands for; the hub says more in `X-Error-Code` than in the status. */
export function refusalOf(reply: OutboundReply, { repository, path }: HubSubject, settings: HubSettings): Failure {
  const page = `${settings.endpoint}/${repository}`;
  const what = path === '' ? repository : `${path} of ${repository}`;
  const code = reply.header('x-error-code') ?? '';
  const { status } = reply;
  if (status === 403 && reply.header('x-error-message') === DISABLED)
    return new Failure('forbidden', `${repository} is disabled on the hub: nobody can read it now; see ${page}.`, {
      code: 'ModelForbidden',
    });
  if (code === 'GatedRepo' || (status === 403 && settings.token === null)) {
    const remedy = settings.token === null ? 'set HF_TOKEN to a token of your account' : 'use a token (HF_TOKEN) of an account that has it';
    return new Failure('forbidden', `${repository} is gated: accept its terms at ${page}, and ${remedy}; then try again.`, {
      code: 'ModelGated',
      fields: { model: repository, page },
    });
  }
  if (code === 'EntryNotFound')
    return new Failure('not_found', `${what} is not on the hub; see ${page} for the files that are.`, { code: 'ModelNotFound' });
  if (status === 404 || code === 'RepoNotFound' || (status === 401 && settings.token === null)) {
    const hint =
      settings.token === null ? 'if it is private, set HF_TOKEN' : 'if it is private, HF_TOKEN must belong to an account that sees it';
    return new Failure('not_found', `${what} is not on the hub at ${settings.endpoint} (${status}): check the name; ${hint}.`, {
      code: 'ModelNotFound',
      fields: { model: repository },
    });
  }
  if (status === 401 || status === 403) {
    return new Failure('forbidden', `The hub refuses ${what} (${status}): HF_TOKEN is not valid or has no right to read it; see ${page}.`, {
      code: 'ModelForbidden',
    });
  }
  if (status === 429 || status >= 500) {
    const asked = retryAfterS(reply.header('retry-after')) ?? (status === 429 ? resetS(reply.header('ratelimit')) : undefined);
    const why = status === 429 ? 'has had too many requests' : 'is in trouble';
    return new Failure(
      'unavailable',
      `The hub at ${settings.endpoint} ${why} (${status}); try again ${asked === undefined ? 'later' : `in ${Math.min(asked, LONGEST_PASSED_ON_S)} s`}.`,
      {
        code: status === 429 ? 'HubBusy' : 'HubFailed',
        ...(asked === undefined ? {} : { retryAfterS: Math.min(asked, LONGEST_PASSED_ON_S) }),
      },
    );
  }
  return new Failure('unavailable', `The hub answered ${status} to a request for ${what}.`, { code: 'HubRefused' });
}

/** Tries in a row that bring nothing before a request is given up. */
const TRIES = 6;
const LONGEST_PAUSE_MS = 30_000;
/** A server may ask for a longer pause than ours, up to this. */
const LONGEST_ASKED_S = 120;
const PASSING = new Set([
  ...['HubBusy', 'HubFailed', 'DownloadCut', 'DownloadMismatch'],
  ...['ConnectFailed', 'ConnectTimeout', 'ConnectionLost', 'ResponseTimeout', 'IdleTimeout', 'TotalTimeout', 'BadResponse'],
]);

/** True for failures that another try may not meet. */
export function isTransient(error: unknown): error is Failure {
  return error instanceof Failure && PASSING.has(error.code);
}

/** Whether try number `tried + 1` makes sense: the failure may pass, tries are left, and the server asks for no longer pause than somebody would wait for. */
export function isWorthAnotherTry(error: unknown, tried: number): error is Failure {
  return isTransient(error) && tried < TRIES && (error.retryAfterS ?? 0) <= LONGEST_ASKED_S;
}

/** Milliseconds before try number `tried + 1`: as long as the server asked for, else twice as long each time, with a random share. */
export function pauseBeforeTry(tried: number, pauseMs: number, { retryAfterS = 0 }: Failure): number {
  const own = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
  return Math.max(retryAfterS * 1000, own);
}

/** Waits so long, or throws the reason of the abort. */
export const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());

/** Runs `act` until it succeeds, or until another try makes no sense. */
export async function withRetries<T>(act: () => Promise<T>, pauseMs: number, signal: AbortSignal): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !isWorthAnotherTry(error, tried)) throw error;
      await pauseFor(pauseBeforeTry(tried, pauseMs, error), signal);
    }
  }
}
