import { lookup } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { Failure } from '../../schemas/errors.js';
import { type AddressPolicy, checkAddresses } from './address.js';

/** Resolves a name to all its addresses; replaced in tests by one that rebinds. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** The system's resolver: all addresses, in the order that it prefers. */
export const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * The `lookup` of every outgoing socket: resolves once, checks every address, and hands only checked ones to `connect`. Nothing looks the
 * name up again between the check and the connection, so a rebinding name gains nothing (threat T7).
 */
export function pinnedLookup(resolve: Resolver, policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname)
      .then((addresses) => checkAddresses(hostname.replace(/\.$/, ''), addresses, policy))
      .then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
          const first = found[0];
          if (!first) callback(new Failure('unavailable', `The host ${hostname} has no address.`, { code: 'ConnectFailed' }), '', 4);
          else if (options.all) callback(null, found);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 4),
      );
  };
}
