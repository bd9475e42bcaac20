import { emailsIn, urlsIn } from '../../text/addresses.js';
import type { Span } from '../../text/words.js';
import { completeDates } from '../dates/calendar.js';
import { scan } from '../dates/contract.js';

/** A pattern that comes with the product. */
export interface Predefined {
  readonly description: string;
  /** Linear in the length of the text. */
  find(text: string, caseSensitive: boolean): Iterable<Span>;
}

/** All matches of an expression that `accept` agrees to. Its quantifiers are bounded. */
function* matches(text: string, source: string, caseSensitive: boolean, accept: (match: string) => boolean = () => true): Generator<Span> {
  for (const match of text.matchAll(new RegExp(source, caseSensitive ? 'gu' : 'giu'))) {
    if (accept(match[0])) yield { text: match[0], start: match.index, end: match.index + match[0].length };
  }
}

const digitsOf = (text: string): number[] => [...text].filter((letter) => /\d/.test(letter)).map(Number);

/** The check digit of card numbers (Luhn, ISO/IEC 7812). */
function luhn(text: string): boolean {
  const sum = digitsOf(text)
    .reverse()
    .reduce((total, digit, index) => total + (index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0);
  return sum % 10 === 0;
}

const PHONE =
  '(?<![\\p{L}\\p{N}_.+-])(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{1,4}\\)[ .-]?)?\\d{2,5}(?:[ .-]\\d{2,5}){1,4}(?![\\p{L}\\p{N}_-]|\\.\\d)';

/** Telephone numbers: groups of 7 to 15 figures in all, that are not a date. */
export function phonesIn(text: string): Iterable<Span> {
  return matches(text, PHONE, true, (match) => {
    const digits = digitsOf(match).length;
    return digits >= 7 && digits <= 15 && !/^\d{4}-\d{2}-\d{2}$|^\d{1,2}[.-]\d{1,2}[.-]\d{4}$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(match);
  });
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ip: Predefined = {
  description: 'IPv4 addresses',
  find: (text, sensitive) => matches(text, `(?<![\\p{L}\\p{N}_.])${OCTET}(?:\\.${OCTET}){3}(?![\\p{L}\\p{N}_]|\\.\\d)`, sensitive),
};
/** Releases such as `1.2.3`, `v2.0` and `1.0.0-rc.1`; three parts, or two behind a `v`. */
export const VERSION =
  '(?<![\\p{L}\\p{N}_./-])(?:v?\\d{1,5}\\.\\d{1,5}\\.\\d{1,5}(?:[-+][0-9a-z.-]{1,32})?|v\\d{1,5}(?:\\.\\d{1,5})?)(?![\\p{L}\\p{N}_]|\\.\\d)';

/** Every predefined pattern by name. */
export const PREDEFINED = {
  email: { description: 'Mail addresses', find: (text) => emailsIn(text) },
  phone: { description: 'Telephone numbers', find: (text) => phonesIn(text) },
  url: {
    description: 'Web addresses',
    find: (text, sensitive) => [...urlsIn(text)].filter((span) => !sensitive || /^(?:[a-z]+:|www)/.test(span.text)),
  },
  ip,
  ip_address: ip,
  ssn: {
    description: 'Social security numbers of the United States',
    find: (text, sensitive) =>
      matches(text, '(?<![\\p{L}\\p{N}-])(?!000|666|9)\\d{3}-(?!00)\\d{2}-(?!0000)\\d{4}(?![\\p{L}\\p{N}-])', sensitive),
  },
  credit_card: {
    description: 'Card numbers with a right check digit',
    find: (text, sensitive) =>
      matches(text, '(?<![\\p{L}\\p{N}-])\\d{4}(?:[ -]?\\d{2,6}){2,4}(?![\\p{L}\\p{N}-])', sensitive, (match) => {
        const count = digitsOf(match).length;
        return count >= 13 && count <= 19 && luhn(match);
      }),
  },
  zip_code: {
    description: 'Postal codes of the United States',
    find: (text, sensitive) => matches(text, '(?<![\\p{L}\\p{N}.,$€£-])\\d{5}(?:-\\d{4})?(?![\\p{L}\\p{N}-]|[.,]\\d)', sensitive),
  },
  file_path: {
    description: 'Paths of Unix and Windows',
    find: (text, sensitive) =>
      matches(
        text,
        '(?<![^\\s"\'`(\\[=])(?:[A-Za-z]:\\\\|~?/|\\.{1,2}/)(?:[\\p{L}\\p{N}_.@+-]{1,255}[\\\\/]){0,32}[\\p{L}\\p{N}_@+-][\\p{L}\\p{N}_.@+-]{0,254}',
        sensitive,
      ),
  },
  version: { description: 'Version numbers', find: (text, sensitive) => matches(text, VERSION, sensitive) },
  date: { description: 'Dates with day, month and year', find: (text) => scan(text, completeDates(false)) },
} as const satisfies Record<string, Predefined>;

/** Name of a predefined pattern. */
export type PredefinedName = keyof typeof PREDEFINED;
