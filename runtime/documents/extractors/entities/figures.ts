import { emailsIn, urlsIn } from '../../text/addresses.js';
import type { Span } from '../../text/words.js';
import { completeDates, OPEN_DATES } from '../dates/calendar.js';
import { TIMES } from '../dates/clock.js';
import { scan } from '../dates/contract.js';
import { RELATIVE_DATES } from '../dates/spoken.js';
import { phonesIn, VERSION } from '../patterns/predefined.js';

/** Kinds of entity, as the configuration names them. */
export const ENTITY_TYPES = [
  'PERSON',
  'ORG',
  'GPE',
  'LOC',
  'FAC',
  'DATE',
  'TIME',
  'MONEY',
  'PERCENT',
  'PRODUCT',
  'EVENT',
  'LAW',
  'EMAIL',
  'PHONE',
  'URL',
  'VERSION',
] as const;

/** Kind of an entity. */
export type EntityType = (typeof ENTITY_TYPES)[number];

/** How an entity was recognised: by its own form, by words in or around it, or by its capitals alone. */
export type Method = 'regex' | 'pattern' | 'capitalization';

/** How sure each method is. */
export const CONFIDENCE: Readonly<Record<Method, number>> = { regex: 0.8, pattern: 0.7, capitalization: 0.6 };

/** Something with a name, or a figure with a meaning. Offsets are UTF-16 code units. */
export interface Entity {
  readonly type: EntityType;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly method: Method;
}

const NUMBER = '\\d{1,15}(?:,\\d{3}){0,5}(?:\\.\\d{1,6})?';
const SCALE = '(?:[ ]?(?:thousand|million|billion|trillion|bn|[kKmM])(?![\\p{L}\\p{N}]))?';
const START = '(?<![\\p{L}\\p{N}_.,$€£¥])';
const MONEY = new RegExp(
  `${START}(?:(?:US|A|C)?[$€£¥₹][ ]?${NUMBER}${SCALE}|${NUMBER}${SCALE}[ ]?(?:€|£|¥|(?:USD|EUR|GBP|JPY|CHF|dollars?|euros?|pounds?|yen|francs?|cents?)(?![\\p{L}\\p{N}])))`,
  'gu',
);
const PERCENT = new RegExp(`${START}${NUMBER}[ ]?(?:%|(?:percent|per cent)(?![\\p{L}\\p{N}]))`, 'gu');

function* matches(text: string, expression: RegExp): Generator<Span> {
  for (const match of text.matchAll(expression)) yield { text: match[0], start: match.index, end: match.index + match[0].length };
}

const FORMS: readonly (readonly [EntityType, Method, (text: string) => Iterable<Span>])[] = [
  ['EMAIL', 'regex', emailsIn],
  ['URL', 'regex', urlsIn],
  ['PHONE', 'regex', phonesIn],
  ['MONEY', 'regex', (text) => matches(text, MONEY)],
  ['PERCENT', 'regex', (text) => matches(text, PERCENT)],
  ['VERSION', 'regex', (text) => matches(text, new RegExp(VERSION, 'giu'))],
  ['DATE', 'regex', (text) => scan(text, completeDates(false))],
  ['TIME', 'regex', (text) => scan(text, TIMES)],
];
const ENGLISH_FORMS: typeof FORMS = [
  ['DATE', 'regex', (text) => scan(text, OPEN_DATES)],
  ['DATE', 'pattern', (text) => scan(text, RELATIVE_DATES)],
];

/** Entities with a form of their own: addresses, figures, dates. `english` adds the forms that English words make. */
export function* figuresIn(text: string, english: boolean, limit: number): Generator<Entity> {
  for (const [type, method, find] of [...FORMS, ...(english ? ENGLISH_FORMS : [])]) {
    let count = 0;
    for (const { text: found, start, end } of find(text)) {
      yield { type, text: found, start, end, method };
      count += 1;
      if (count >= limit) break;
    }
  }
}
