import { isIPv6 } from 'node:net';

/** A string format: how a grammar writes it, and what a finished text may be. */
interface Format {
  /** A regular expression of the whole text; everything that it matches is accepted by common validators, and short, so that a model comes to its end. */
  readonly written: string;
  /** What is accepted in a finished text that was not written by it; `written` when absent. */
  readonly accepted?: string | ((text: string) => boolean);
  /** Texts of it; a pattern that matches them all is taken for one that matches whatever is written. */
  readonly samples?: readonly string[];
}

const LEAP_YEAR = '(?:[1-9]\\d(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00)';
const DATE = `(?:[1-9]\\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29)`;
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
const OFFSET = '(?:Z|[-+](?:[01]\\d|2[0-3]):[0-5]\\d)';
const FRACTION = '(?:\\.\\d{1,6})?';
/** Also without seconds or an offset, as zod's local times and pydantic's naive ones are. */
const ANY_TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::(?:[0-5]\\d|60)(?:\\.\\d+)?)?(?:[Zz]|[-+](?:[01]\\d|2[0-3]):?(?:[0-5]\\d)?)?';
const ANY_DATE = `\\d{4}${DATE.slice('(?:[1-9]\\d{3}'.length, DATE.indexOf(`|${LEAP_YEAR}`))}`;
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?';
const DOMAIN = `(?:${LABEL}\\.){1,4}[A-Za-z]{2,24}`;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const GROUP = '[0-9a-fA-F]{1,4}';
/** In full, or with the zeros of its middle left out. */
const IPV6 = `(?:${[7, 6, 5, 4, 3, 2, 1]
  .map((before) => (before === 7 ? `(?:${GROUP}:){7}${GROUP}` : `(?:${GROUP}:){${before}}(?::${GROUP}){1,${7 - before}}`))
  .join('|')}|::(?:${GROUP}:){0,5}${GROUP}|::)`;
const HOURS = 'T(?:\\d{1,6}H(?:\\d{1,6}M)?(?:\\d{1,6}S)?|\\d{1,6}M(?:\\d{1,6}S)?|\\d{1,6}S)';
const DURATION = `P(?:\\d{1,6}W|\\d{1,6}Y(?:\\d{1,6}M)?(?:\\d{1,6}D)?(?:${HOURS})?|\\d{1,6}M(?:\\d{1,6}D)?(?:${HOURS})?|\\d{1,6}D(?:${HOURS})?|${HOURS})`;
const uuid = (version: string) => `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-${version}[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}`;
const ANY_UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const URI_TAIL = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}){0,200}";
const URL = `https?://${DOMAIN}(?::[1-9]\\d{1,3})?(?:/${URI_TAIL})?`;
const URI: Format = { written: URL, accepted: '[A-Za-z][A-Za-z0-9+.-]*:[^\\s<>"{}|\\\\^`]+' };
const EMAIL: Format = {
  written: `[A-Za-z0-9]{1,24}(?:[._+-][A-Za-z0-9]{1,24}){0,3}@${DOMAIN}`,
  accepted: '[^\\s@]+@[^\\s@]+\\.[^\\s@]+',
  samples: ['a@b.co', '9Z.a_B+c-0@x1-y.9.Museum'],
};

/** The formats that are kept, by name (RFC 3339, 5321, 1123, 3986, 4291, 9562, ISO 8601, and pydantic's names of versions). */
const FORMATS: Readonly<Record<string, Format>> = {
  date: { written: DATE, accepted: `${DATE}|${ANY_DATE}` },
  time: { written: `${CLOCK}${FRACTION}${OFFSET}`, accepted: ANY_TIME },
  'date-time': { written: `${DATE}T${CLOCK}${FRACTION}${OFFSET}`, accepted: `(?:${DATE}|${ANY_DATE})[Tt ]${ANY_TIME}` },
  duration: { written: DURATION, accepted: '[-+]?P(?=[\\dT])(?:[\\d.]+[YMWD])*(?:T(?:[\\d.]+[HMS])+)?' },
  email: EMAIL,
  'idn-email': EMAIL,
  'name-email': { written: EMAIL.written, accepted: '[\\s\\S]*@[\\s\\S]*' },
  hostname: { written: DOMAIN, accepted: `${LABEL.replace('30', '61')}(?:\\.${LABEL.replace('30', '61')})*\\.?` },
  ipv4: { written: IPV4 },
  ipv6: { written: IPV6, accepted: isIPv6 },
  uri: URI,
  url: URI,
  iri: URI,
  'uri-reference': { written: URL, accepted: '[^\\s<>"{}|\\\\^`]*' },
  uuid: { written: uuid('[1-8]'), accepted: ANY_UUID },
  ...Object.fromEntries([1, 3, 4, 5, 6, 7, 8].map((version) => [`uuid${version}`, { written: uuid(String(version)) }])),
  'multi-host-uri': { written: `[a-z]{1,20}://${DOMAIN}(?::[1-9]\\d{1,3})?(?:/[A-Za-z0-9_-]{1,60})?`, accepted: URI.accepted! },
  ipv6network: { written: `${IPV6}/128`, accepted: '[0-9a-fA-F:.]+(?:/\\d{1,3})?' },
  base64: { written: BASE64 },
  byte: { written: BASE64 },
  ipv4network: { written: `${IPV4}/32`, accepted: `${IPV4}(?:/\\d{1,2})?` },
  ipvanyaddress: { written: IPV4, accepted: `${IPV4}|[0-9a-fA-F:.]+` },
  'json-pointer': { written: '(?:/[A-Za-z0-9_-]{1,40}){0,8}', accepted: '(?:/(?:[^/~]|~[01])*)*' },
};

/** Formats that every text has: they tell a reader what it is for. */
const FREE: ReadonlySet<string> = new Set([
  'password',
  'binary',
  'path',
  'file-path',
  'directory-path',
  'text',
  'string',
  'markdown',
  'textarea',
]);

/** Whether a format of this name says nothing about a text. */
export function isFreeFormat(name: string): boolean {
  return FREE.has(name);
}

/** The format of this name; undefined for one that is not kept. */
export function findFormat(name: string): Format | undefined {
  return Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
}

/** A regular expression of the whole text. */
export function anchored(source: string): string {
  return `^(?:${source})$`;
}
