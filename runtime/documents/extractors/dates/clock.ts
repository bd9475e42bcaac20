import { Failure } from '../../../../schemas/errors.js';
import type { CalendarDate, ClockTime, Rule } from './contract.js';

const ZONES: Readonly<Record<string, string>> = {
  Z: '+00:00',
  UTC: '+00:00',
  GMT: '+00:00',
  CET: '+01:00',
  CEST: '+02:00',
  BST: '+01:00',
  EST: '-05:00',
  EDT: '-04:00',
  CST: '-06:00',
  CDT: '-05:00',
  MST: '-07:00',
  MDT: '-06:00',
  PST: '-08:00',
  PDT: '-07:00',
  JST: '+09:00',
  IST: '+05:30',
};
const ZONE = `(?:[ ]?(${Object.keys(ZONES).join('|')}|[+-]\\d{2}:?\\d{2})(?![\\p{L}\\p{N}]))?`;
// A T before the hour is ISO 8601's; any other letter or figure makes it something else.
const START = '(?<![\\p{N}.:,/-]|(?!T)\\p{L}|\\p{L}T)';
const END = '(?![\\p{L}\\p{N}]|[.:]\\d)';

function offsetOf(zone: string | undefined): { offset?: string } {
  if (zone === undefined) return {};
  return { offset: ZONES[zone] ?? `${zone.slice(0, 3)}:${zone.slice(-2)}` };
}

function valid(hour: number, minute: number, second: number, zone?: string): ClockTime | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return { hour, minute, second, ...offsetOf(zone) };
}

/** Times of day: `14:30`, `14:30:05.250Z`, `2 pm`, `2:30 p.m.`, noon and midnight. */
export const TIMES: readonly Rule<ClockTime>[] = [
  {
    pattern: '12_hour',
    expression: new RegExp(`${START}(\\d{1,2})(?::(\\d{2}))?(?::(\\d{2}))?[ ]?([AaPp])(?:\\.[Mm]\\.?|[Mm])(?![\\p{L}\\p{N}])${ZONE}`, 'gu'),
    confidence: 0.9,
    read: ([, hour, minute, second, half, zone]) => {
      const late = half!.toLowerCase() === 'p' ? 12 : 0;
      const given = Number(hour);
      return given < 1 || given > 12 ? undefined : valid((given % 12) + late, Number(minute ?? 0), Number(second ?? 0), zone);
    },
  },
  {
    pattern: '24_hour',
    expression: new RegExp(`${START}(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:\\.\\d{1,9})?)?${ZONE}${END}`, 'gu'),
    confidence: 0.85,
    read: ([, hour, minute, second, zone]) => valid(Number(hour), Number(minute), Number(second ?? 0), zone),
  },
  {
    pattern: 'named',
    expression: /(?<![\p{L}\p{N}])(noon|midday|midnight)(?![\p{L}\p{N}])/giu,
    confidence: 0.8,
    read: ([, name]) => valid(name!.toLowerCase() === 'midnight' ? 0 : 12, 0, 0),
  },
];

const two = (number: number): string => String(number).padStart(2, '0');

/** `14:30:00`, with the offset where there is one. */
export function clockText({ hour, minute, second, offset = '' }: ClockTime): string {
  return `${two(hour)}:${two(minute)}:${two(second)}${offset}`;
}

/** Tells what offset from UTC a time of day has in a zone; throws `Failure('invalid')` for a zone that does not exist. */
export function zoneClock(zone: string): (date: Required<Pick<CalendarDate, 'year' | 'month' | 'day'>>, time: ClockTime) => string {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch (cause) {
    throw new Failure('invalid', `default_timezone is '${zone.slice(0, 100)}'; it must be a zone such as UTC or Europe/Vienna.`, { cause });
  }
  const offsetAt = (instant: number): string => {
    const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    return name === 'GMT' ? '+00:00' : name.replace('GMT', '').slice(0, 6);
  };
  return (date, time) => {
    const wall = Date.UTC(date.year, date.month - 1, date.day, time.hour, time.minute, time.second);
    const first = offsetAt(wall);
    const minutes = (Number(first.slice(1, 3)) * 60 + Number(first.slice(4, 6))) * (first.startsWith('-') ? -1 : 1);
    // Near a change of the clocks the first guess is on the wrong side.
    return offsetAt(wall - minutes * 60_000);
  };
}
