import { Failure } from '../../../schemas/errors.js';
import { type AddressPolicy, hostOf, printableUrl, systemResolver } from '../../net/address.js';
import { kindOfAddress } from '../../net/ip.js';
import type { Outbound, OutboundLimits } from '../../net/outbound.js';
import type { OutboundReply } from '../../net/reply.js';
import type { HubSettings } from './settings.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HOPS = 6;

/** The last answer of a chain of redirects, and what the answers before it said about the file. */
export interface Landed {
  readonly reply: OutboundReply;
  /** Of the file as the hub names it, without quotes; null where no answer told. */
  readonly etag: string | null;
}

/** One request to the hub. */
export interface HubRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits: Partial<OutboundLimits>;
  readonly signal: AbortSignal;
}

/** What an HTTP header can carry; more is no token, and would look like a broken connection. */
const SENDABLE = /^[\x21-\x7e]+$/;

const bare = (etag: string | undefined): string | null => etag?.replace(/^W\//, '').replaceAll('"', '') || null;

/**
 * Sends requests to the hub and follows its redirects to wherever it keeps its files. The token goes to the endpoint's own origin alone
 * (threat T8). A redirect may lead to a private address only where the endpoint itself has one: a public hub has no business inside
 * (threat T7). From https to http never.
 */
export class Hops {
  readonly #outbound: Outbound;
  readonly #settings: HubSettings;
  #policy: Promise<AddressPolicy> | undefined;

  constructor(outbound: Outbound, settings: HubSettings) {
    this.#outbound = outbound;
    this.#settings = settings;
  }

  /** Follows up to six redirects; what the last answer says is the caller's to judge. Throws `invalid` for a token that cannot be sent. */
  async send(request: HubRequest): Promise<Landed> {
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
    for (let hop = 0; hop <= HOPS; hop++) {
      const isHome = url.origin === origin;
      const token: Record<string, string> =
        isHome && this.#settings.token !== null ? { authorization: `Bearer ${this.#settings.token}` } : {};
      const reply = await this.#outbound.request({
        url,
        policy: isHome ? 'operator' : await this.#policyAway(),
        headers: { 'user-agent': 'quern', ...request.headers, ...token },
        limits: request.limits,
        signal: request.signal,
      });
      linked ??= bare(reply.header('x-linked-etag'));
      const location = reply.header('location');
      if (!REDIRECTS.has(reply.status) || location === undefined)
        return { reply, etag: linked ?? (isHome ? bare(reply.header('etag')) : null) };
      reply.discard();
      url = this.#next(url, location);
    }
    throw new Failure('unavailable', `${printableUrl(new URL(request.url))} redirects more than ${HOPS} times.`, {
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
    const host = hostOf(new URL(this.#settings.endpoint));
    const kind = kindOfAddress(host);
    const addresses = kind === undefined ? await systemResolver(host).catch(() => []) : [host];
    const isPrivate = addresses.length > 0 && addresses.every((address) => kindOfAddress(address) !== 'public');
    return isPrivate ? 'operator' : 'request';
  }
}
