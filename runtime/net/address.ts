import { lookup } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { Failure } from '../../schemas/errors.js';
import { type AddressKind, kindOfAddress } from './ip.js';

/**
 * Who named the host (threat T7). `operator`: it stands in a project file or on the command line, so loopback and private networks are
 * meant; link-local and metadata addresses never are. `request`: it came with a request, so only public addresses are allowed.
 */
export type AddressPolicy = 'operator' | 'request';

const ALLOWED: Record<AddressPolicy, ReadonlySet<AddressKind>> = {
  operator: new Set(['public', 'loopback', 'private']),
  request: new Set(['public']),
};

const MAX_URL_CHARS = 4096;
/** Names that only mean something inside a host or a local network. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|home\.arpa|localdomain)$/;
const METADATA_NAME = /^(metadata|instance-data|metadata\.goog|metadata\.google\.internal|instance-data\.ec2\.internal)$/;

function addressRefused(message: string, hint = ''): Failure {
  return new Failure('bad_request', `${message}${hint}`, { code: 'AddressRefused' });
}

/** An URL as it may stand in a message or a log line: scheme, host, port and path, no credentials, query or fragment. */
export function printableUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** True when a host under this policy may have this kind of address. */
export function permits(policy: AddressPolicy, kind: AddressKind): boolean {
  return ALLOWED[policy].has(kind);
}

/** The failure of a host whose address is not allowed. */
export function addressKindRefused(host: string, address: string, kind: AddressKind, policy: AddressPolicy): Failure {
  const where = host === address || host === `[${address}]` ? host : `${host} (${address})`;
  const allowed =
    policy === 'operator' ? 'link-local, metadata and reserved addresses are never used' : 'only public hosts may come in a request';
  const hint = kind === 'unspecified' && policy === 'operator' ? '; write 127.0.0.1 or [::1] to reach this machine' : '';
  return addressRefused(`The host ${where} is refused: its address is ${kind.replace('_', '-')}, and ${allowed}`, `${hint}.`);
}

/** The host of an URL as names are compared: without brackets and without the root dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/**
 * Reads an URL that is about to be requested and checks all that can be checked before its name is resolved: http or https, no user or
 * password in it, no refused literal address in any spelling (the WHATWG parser turns decimal, octal, hex and short IPv4 forms into
 * dotted ones), no refused name. Throws `Failure('bad_request')`.
 */
export function checkUrl(text: string | URL, policy: AddressPolicy): URL {
  const url = typeof text === 'string' ? parseUrl(text) : text;
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw addressRefused(`An URL with the scheme '${url.protocol.slice(0, -1)}' is refused: use http or https.`);
  if (url.username !== '' || url.password !== '')
    throw addressRefused(`The URL of the host ${url.host} holds a user name or password: keep credentials out of URLs.`);
  const host = hostOf(url);
  const kind = kindOfAddress(host);
  if (kind !== undefined) {
    if (!permits(policy, kind)) throw addressKindRefused(url.hostname, host, kind, policy);
    return url;
  }
  if (METADATA_NAME.test(host) || host === '') throw addressRefused(`The host '${host}' is refused: it names a metadata service.`);
  if (policy === 'request' && (LOCAL_NAME.test(host) || !host.includes('.')))
    throw addressRefused(`The host '${host}' is refused: it is a local name, and only public hosts may come in a request.`);
  return url;
}

function parseUrl(text: string): URL {
  if (text.length > MAX_URL_CHARS)
    throw addressRefused(`An URL of ${text.length} characters is refused: at most ${MAX_URL_CHARS} are allowed.`);
  try {
    return new URL(text);
  } catch {
    // The text may hold a credential, so it is not repeated.
    throw addressRefused('A host address cannot be read as an URL: write it as http://host:port/path or https://host/path.');
  }
}

/**
 * Keeps the resolved addresses that may be connected to. Under `request` one refused address refuses the host, because a public name has
 * no business pointing inside; under `operator` refused ones are left out. Throws when none is left.
 */
export function checkAddresses(host: string, addresses: readonly string[], policy: AddressPolicy): string[] {
  const kinds = addresses.map((address) => kindOfAddress(address) ?? 'reserved');
  const bad = kinds.findIndex((kind) => !permits(policy, kind));
  const kept = addresses.filter((_address, i) => permits(policy, kinds[i]!));
  const metadata = kinds.indexOf('metadata');
  if (metadata >= 0) throw addressKindRefused(host, addresses[metadata]!, 'metadata', policy);
  if (bad >= 0 && (policy === 'request' || kept.length === 0)) throw addressKindRefused(host, addresses[bad]!, kinds[bad]!, policy);
  return kept;
}

/** Whether an address is one of these ports of this machine, so that no HTTP is needed. Throws `bad_request` for what is no address. */
export function isOwnAddress(base: string, ports: readonly (number | undefined)[]): boolean {
  const url = checkUrl(base, 'operator');
  const here = hostOf(url) === 'localhost' || kindOfAddress(hostOf(url)) === 'loopback';
  return here && ports.includes(Number(url.port || '80'));
}

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
