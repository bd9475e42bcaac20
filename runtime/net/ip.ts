import { isIP } from 'node:net';

/** What an address reaches, by the IANA special-purpose registries (RFC 6890 and its updates) and the metadata services of the large clouds. */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'reserved';

/** Says what an IPv4 or IPv6 address reaches (brackets and zone allowed); `undefined` when the text is no address. */
export function kindOfAddress(text: string): AddressKind | undefined {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const family = isIP(bare);
  if (family === 0) return undefined;
  return family === 4 ? kindOfV4(bytesOfV4(bare)) : kindOfV6(bytesOfV6(bare.toLowerCase()));
}

type Range = readonly [base: string, bits: number, kind: AddressKind];

/** First match wins, so single addresses stand before the ranges that hold them. */
const V4_RANGES: readonly Range[] = [
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.169.253', 32, 'metadata'],
  ['169.254.169.123', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['169.254.170.23', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['0.0.0.0', 8, 'unspecified'],
  ['127.0.0.0', 8, 'loopback'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['169.254.0.0', 16, 'link_local'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['255.255.255.255', 32, 'broadcast'],
  ['240.0.0.0', 4, 'reserved'],
];

const V6_RANGES: readonly Range[] = [
  ['fd00:ec2::254', 128, 'metadata'],
  ['fd00:ec2::253', 128, 'metadata'],
  ['fd00:ec2::23', 128, 'metadata'],
  ['fd20:ce::254', 128, 'metadata'],
  ['fd00:42::42', 128, 'metadata'],
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['fe80::', 10, 'link_local'],
  ['fec0::', 10, 'private'],
  ['fc00::', 7, 'private'],
  ['ff00::', 8, 'multicast'],
  // Teredo, ORCHID and documentation lie inside 2000::/3; all else there is public.
  ['2001::', 32, 'reserved'],
  ['2001:10::', 28, 'reserved'],
  ['2001:20::', 28, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['3fff::', 20, 'reserved'],
  ['2000::', 3, 'public'],
  ['::', 0, 'reserved'],
];

/** Prefixes that carry an IPv4 address from byte `at` on: such an address is judged by what it carries. */
const CARRIERS: readonly (readonly [base: string, bits: number, at: number])[] = [
  ['::ffff:0:0', 96, 12],
  ['::ffff:0:0:0', 96, 12],
  ['64:ff9b::', 96, 12],
  ['64:ff9b:1::', 48, 12],
  ['2002::', 16, 2],
  ['::', 96, 12],
];

const v4Table = V4_RANGES.map(([base, bits, kind]) => ({ base: bytesOfV4(base), bits, kind }));
const v6Table = V6_RANGES.map(([base, bits, kind]) => ({ base: bytesOfV6(base), bits, kind }));
const carrierTable = CARRIERS.map(([base, bits, at]) => ({ base: bytesOfV6(base), bits, at }));

function bytesOfV4(text: string): Uint8Array {
  return Uint8Array.from(text.split('.').map(Number));
}

function kindOfV4(bytes: Uint8Array): AddressKind {
  return v4Table.find(({ base, bits }) => within(bytes, base, bits))?.kind ?? 'public';
}

function within(bytes: Uint8Array, base: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== base[i]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return (bytes[whole]! & mask) === (base[whole]! & mask);
}

function kindOfV6(bytes: Uint8Array): AddressKind {
  const own = v6Table.find(({ base, bits }) => within(bytes, base, bits))!.kind;
  // `::` and `::1` lie inside the v4-compatible prefix but are themselves.
  if (own === 'unspecified' || own === 'loopback') return own;
  const carrier = carrierTable.find(({ base, bits }) => within(bytes, base, bits));
  if (carrier) return kindOfV4(bytes.subarray(carrier.at, carrier.at + 4));
  if (isIsatap(bytes)) {
    const carried = kindOfV4(bytes.subarray(12));
    return carried === 'public' ? own : carried;
  }
  return own;
}

/** ISATAP keeps an IPv4 address behind 0000:5efe or 0200:5efe in the interface part of any prefix. */
function isIsatap(bytes: Uint8Array): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

function bytesOfV6(text: string): Uint8Array {
  let groups = text;
  const dotted = /[\d.]*\.[\d.]*$/.exec(groups)?.[0];
  if (dotted) {
    const [a, b, c, d] = bytesOfV4(dotted) as unknown as [number, number, number, number];
    groups = `${groups.slice(0, -dotted.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [left, right] = groups.split('::') as [string, string | undefined];
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
}

/** Whose an address is, as a text to count by: an IPv4 address itself, also inside IPv6 (`::ffff:1.2.3.4`), else the /64 network, of which one host may use all. */
export function networkOf(text: string): string {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIP(bare) !== 6) return bare;
  const bytes = bytesOfV6(bare.toLowerCase());
  const [mapped] = carrierTable;
  return within(bytes, mapped!.base, mapped!.bits)
    ? bytes.subarray(12).join('.')
    : `${Buffer.from(bytes.subarray(0, 8)).toString('hex')}/64`;
}
