import { BlockList, isIP, isIPv6 } from 'node:net';
import { Failure } from '../../schemas/errors.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Where browsers come back from a provider that answers with a form: from its origin, and what counts is the state that they bring. */
export const FROM_PROVIDERS = '/api/auth/callback/';

/**
 * Refuses what a page of another origin makes a browser send: `Failure('forbidden')` for a change whose Origin is "null" or none of the
 * trusted ones, for it could sign the person in to the account of another; and for one with a cookie and without an Origin. Requests with
 * a token of their own and those of programs, which have neither cookie nor Origin, pass.
 */
export function refuseForeignOrigin({ method, headers }: Pick<Request, 'method' | 'headers'>, trusted: readonly string[]): void {
  if (READS.has(method)) return;
  const origin = headers.get('origin');
  if (origin !== null && trusted.includes(origin)) return;
  const provesItself = origin === null || headers.has('authorization') || headers.has('x-api-key');
  if (provesItself && !headers.has('cookie')) return;
  throw new Failure(
    'forbidden',
    origin === null
      ? 'a change that carries a cookie must name its origin; send the header Origin, or a bearer token instead of the cookie'
      : `pages of ${JSON.stringify(origin.slice(0, 200))} may not do this; add the origin to auth.trusted_origins if it is yours`,
    { code: 'foreign_origin' },
  );
}

/** What stands among trusted proxies for one that has no address. */
const UNIX = 'unix';

/** Finds out from which address a request comes. */
export type AddressReader = (peer: string, forwardedFor: string | null) => string;

/**
 * A reader that believes X-Forwarded-For as far as it was written by the given proxies (addresses, ranges such as `10.0.0.0/8`, or `unix`
 * for one that comes by a Unix socket and so from no address): the rightmost address that is none of theirs. `onNameless` is told once
 * when a request comes from no address and `unix` is not among them. Throws an `Error` for a range that is none.
 */
export function addressReader(trustedProxies: readonly string[], onNameless: () => void = () => {}): AddressReader {
  const trusted = new BlockList();
  const takesUnix = trustedProxies.includes(UNIX);
  let isTold = false;
  for (const proxy of trustedProxies.filter((each) => each !== UNIX)) {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (!isIP(address)) throw new Error(`auth.trusted_proxies: "${proxy}" is no address and no range`);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean =>
    address === '' ? takesUnix : isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (peer, forwardedFor) => {
    let address = plainAddress(peer);
    if (address === '' && !takesUnix && !isTold) {
      isTold = true;
      onNameless();
    }
    const hops = (forwardedFor ?? '').split(',').map((hop) => plainAddress(withoutPort(hop.trim())));
    while (isTrusted(address)) {
      const before = hops.pop();
      if (before === undefined || isIP(before) === 0) return address;
      address = before;
    }
    return address;
  };
}

/** Some proxies write `1.2.3.4:5678` or `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? hop;
}

/** An IPv4 address in the dress of IPv6 is the IPv4 address. */
function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** What is counted as one visitor: an IPv4 address, or the /64 of an IPv6 address, which one household has whole. */
export function visitorOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail ? tail.split(':') : [];
  const all =
    tail === undefined ? groups : [...groups, ...Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => '0'), ...rest];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
