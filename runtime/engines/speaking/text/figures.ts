import { MONEY, MONTHS, MULTIPLES, monthOf, ONLY_ATTACHED, UNITS } from './tables.js';
import { byWord, type Chunk, type Rule } from './token.js';
import { cardinal, digits, number, ordinal, plainWords, plural, year } from './words.js';

const GROUPED = String.raw`\d{1,3}(?:,\d{3})+|\d+`;
const AMOUNT = new RegExp(`^([-−+]?)([$£€¥₹])(${GROUPED})?(\\.\\d+)?([kKmMbBT]|mn|bn|tn)?$`);
const AMOUNT_BEFORE = new RegExp(`^(${GROUPED})(\\.\\d+)?([kKmMbB]|mn|bn)?([£€¥₹])$`);
const CLOCK = /^([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?([aApP]\.?[mM])?$/;
const HOUR = /^(1[0-2]|0?[1-9])([aApP]\.?[mM])$/;
const HALF_DAY = /^[aApP]\.?[mM]$/;
const ISO_DATE = /^([12]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const US_DATE = /^(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9])\/((?:19|20)\d{2}|\d{2})$/;
const DAY = /^(3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?$/;
const YEAR = /^(?:1[1-9]|20)\d{2}$/;
const MAIL = /^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}$/;
const SITE = /^(?:(https?|ftp):\/\/)?((?:[\w-]{1,63}\.){1,8}[a-zA-Z]{2,18})(?::\d{1,5})?(\/[^\s]*)?$/;
/** Ends of names that are no sentences run together. */
const TOP_DOMAIN =
  /\.(?:com|org|net|edu|gov|io|ai|dev|app|co|uk|de|fr|eu|us|info|me|tv|ch|at|nl|jp|cn|in|ca|au|biz|xyz|so|to|gg|ly|fm|js|py|md|txt|pdf|json|ts|html|csv|zip|exe|png|jpg|mp3|wav|yaml|yml|sh)$/i;
const NUMBER = new RegExp(`^([-−+]?)(${GROUPED})?(\\.\\d+)?$`);
const FRACTIONS = byWord<string>({
  '1/2': 'one half',
  '1/4': 'one quarter',
  '3/4': 'three quarters',
  '1/3': 'one third',
  '2/3': 'two thirds',
  '24/7': 'twenty four seven',
  '9/11': 'nine eleven',
});
/** Path segments of an address that are read; nobody follows more. */
const SEGMENTS = 3;
const SPOKEN_SIGNS: Readonly<Record<string, string>> = { '.': 'dot', '-': 'dash', _: 'underscore', '/': 'slash', '+': 'plus', '@': 'at' };

const wordsOf = (text: string): string[] => text.split(' ');

/** E-mail addresses and those of pages: "ann at example dot com". Scheme, port and query are not read. */
export const addressWords: Rule = (core) => {
  if (MAIL.test(core)) return { words: nameWords(core) };
  const site = SITE.exec(core);
  if (!site || (site[1] === undefined && site[3] === undefined && !TOP_DOMAIN.test(site[2]!) && !/^www\./i.test(core))) return undefined;
  const path = (site[3] ?? '')
    .split(/[?#]/)[0]!
    .split('/')
    .filter((one) => one !== '')
    .slice(0, SEGMENTS);
  return { words: nameWords([site[2]!.replace(/^www\./i, ''), ...path].join('/')) };
};

/** A name with its signs read out, and its letters as words where they are some. */
function nameWords(text: string): string[] {
  return (text.match(/[A-Za-z]+|\d+|[._/@+-]/g) ?? []).flatMap((part) => {
    const sign = SPOKEN_SIGNS[part];
    if (sign !== undefined) return [sign];
    if (/^\d+$/.test(part)) return part.length > 4 ? digits(part) : cardinal(part);
    return plainWords(/^[A-Z]+$/.test(part) ? part : part.toLowerCase());
  });
}

/** "$5.50", "£3m", "€2 billion", "20€". */
export const moneyWords: Rule = (core, chunks, at) => {
  const before = AMOUNT.exec(core);
  const behind = before ? undefined : AMOUNT_BEFORE.exec(core);
  const [sign, unit, whole, decimals, multiple] = before
    ? [before[1]!, before[2]!, before[3], before[4], before[5]]
    : behind
      ? ['', behind[4]!, behind[1], behind[2], behind[3]]
      : [];
  if (unit === undefined || (whole === undefined && decimals === undefined)) return undefined;
  const [one, many, cent, cents] = MONEY[unit]!;
  const minus = sign === '-' || sign === '−' ? ['minus'] : [];
  const next = chunks[at]!.mark === '' ? chunks[at + 1]?.core : undefined;
  const later = multiple === undefined && next !== undefined && next.length > 1 ? MULTIPLES[next] : undefined;
  const times = multiple === undefined ? later : MULTIPLES[multiple];
  if (times !== undefined)
    return { words: [...minus, ...number(`${whole ?? ''}${decimals ?? ''}`), times, many], took: later === undefined ? 1 : 2 };
  const words = whole === undefined || whole === '0' ? [] : [...cardinal(whole), whole === '1' ? one : many];
  if (decimals !== undefined && decimals.length !== 3) return { words: [...minus, ...number(`${whole ?? ''}${decimals}`), many] };
  const part = (decimals ?? '').slice(1).replace(/^0+/, '');
  const small = part === '' ? [] : [...cardinal(part), part === '1' ? cent : cents];
  const joined = words.length > 0 && small.length > 0 ? [...words, 'and', ...small] : [...words, ...small];
  return { words: [...minus, ...(joined.length === 0 ? ['zero', many] : joined)] };
};

/** "10:30", "9:05 p.m.", "7am". */
export const timeWords: Rule = (core, chunks, at) => {
  const clock = CLOCK.exec(core);
  const alone = clock ? undefined : HOUR.exec(core);
  const follows = chunks[at]!.mark === '' && HALF_DAY.test(chunks[at + 1]?.core ?? '');
  const bare = !clock && !alone && follows && /^(?:1[0-2]|[1-9])$/.test(core);
  const hour = clock?.[1] ?? alone?.[1] ?? (bare ? core : undefined);
  if (hour === undefined) return undefined;
  const half = clock?.[4] ?? alone?.[2] ?? (follows ? chunks[at + 1]!.core : undefined);
  const minutes = clock?.[2] ?? '00';
  const words = hour === '00' || hour === '0' ? ['zero'] : cardinal(hour);
  if (minutes !== '00') words.push(...(minutes.startsWith('0') ? ['oh'] : []), ...cardinal(minutes));
  else if (clock && half === undefined) words.push(...(Number(hour) > 12 || hour.startsWith('0') ? ['hundred'] : ["o'clock"]));
  if (clock?.[3] !== undefined) words.push('and', ...cardinal(clock[3]), 'seconds');
  if (half !== undefined) words.push(/^a/i.test(half) ? 'A' : 'P', 'M');
  return { words, took: (half !== undefined && clock?.[4] === undefined && alone === null) || (follows && !clock?.[4] && !alone) ? 2 : 1 };
};

/** "2024-05-03", "5/3/2024", "May 3rd, 2024", "3 May 2024", "May 2024". */
export const dateWords: Rule = (core, chunks, at) => {
  const iso = ISO_DATE.exec(core);
  if (iso) return { words: [MONTHS[Number(iso[2]) - 1]!, ...ordinal(iso[3]!), ...year(iso[1]!)] };
  const us = US_DATE.exec(core);
  if (us) return { words: [MONTHS[Number(us[1]) - 1]!, ...ordinal(us[2]!), ...(us[3]!.length === 4 ? year(us[3]!) : yearOfTwo(us[3]!))] };
  const month = /^[A-Z]/.test(core) ? monthOf(core) : undefined;
  const [next, third] = [chunks[at + 1], chunks[at + 2]];
  if (month !== undefined && next !== undefined) {
    const isShort = month !== core.toLowerCase();
    if (DAY.test(next.core) && !isBroken(chunks[at]!)) {
      const withYear = third !== undefined && YEAR.test(third.core) && (next.mark === '' || next.mark === ',');
      const day = ordinal(next.core.replace(/\D+$/, ''));
      return { words: [month, ...day, ...(withYear ? year(third.core) : [])], took: withYear ? 3 : 2 };
    }
    if (YEAR.test(next.core) && !isBroken(chunks[at]!)) return { words: [month, ...year(next.core)], took: 2 };
    if (isShort && chunks[at]!.hasPoint) return { words: [month] };
  }
  if (DAY.test(core) && next !== undefined && chunks[at]!.mark === '' && /^[A-Z]/.test(next.core)) {
    const named = monthOf(next.core);
    if (named === undefined) return undefined;
    const withYear = third !== undefined && YEAR.test(third.core) && !isBroken(next);
    return {
      words: ['the', ...ordinal(core.replace(/\D+$/, '')), 'of', named, ...(withYear ? year(third.core) : [])],
      took: withYear ? 3 : 2,
    };
  }
  return undefined;
};

/** Whether a mark ends what stands before; the point of "Jan." does not. */
const isBroken = ({ mark, hasPoint }: Chunk): boolean => mark !== '' && !(mark === '.' && hasPoint);

const yearOfTwo = (text: string): string[] => (text.startsWith('0') ? ['oh', ...digits(text.slice(1))] : cardinal(text));

/** "3/4", "10/2". */
export const fractionWords: Rule = (core) => {
  const known = FRACTIONS[core];
  if (known !== undefined) return { words: wordsOf(known) };
  const parts = /^(\d{1,4})\/(\d{1,4})$/.exec(core);
  return parts ? { words: [...cardinal(parts[1]!), 'over', ...cardinal(parts[2]!)] } : undefined;
};

/** Everything else that begins with a figure: amounts with units, years, orders, ranges, telephone numbers, versions. */
export const numberWords: Rule = (core, chunks, at) => {
  if (!/^[-−+#]?\.?\d/.test(core)) return undefined;
  const numbered = /^#(\d+)$/.exec(core);
  if (numbered) return { words: ['number', ...cardinal(numbered[1]!)] };
  const order = /^(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)$/i.exec(core);
  if (order) return { words: ordinal(order[1]!) };
  const decade = /^'?((?:1[1-9]|20)\d0|\d0)'?s$/.exec(core);
  if (decade)
    return {
      words: plural(decade[1]!.length === 4 ? (decade[1]!.endsWith('00') ? cardinal(decade[1]!) : year(decade[1]!)) : cardinal(decade[1]!)),
    };
  const telephone = /^\+?\d{1,4}(?:[-.]\d{2,4}){2,4}$/.test(core) && core.replace(/\D/g, '').length > 6;
  if (telephone && !core.includes('.')) return { words: digits(core) };
  const dotted = /^\d+(?:\.\d+){2,5}$/.test(core);
  if (dotted)
    return {
      words: core
        .split('.')
        .flatMap((part, index) => [...(index > 0 ? [core.split('.').length > 3 ? 'dot' : 'point'] : []), ...cardinal(part)]),
    };
  const feet = FEET.exec(core);
  if (feet) return { words: [...cardinal(feet[1]!), 'foot', ...cardinal(feet[2]!)] };
  const range = /^(\d+(?:\.\d+)?)[-–](\d+(?:\.\d+)?)([a-zA-Z%°/]{0,4})$/.exec(core);
  if (range) return withRange(range[1]!, range[2]!, range[3]!, chunks, at);
  return withUnit(core, chunks, at);
};

/** Lengths of people: `5'10"`. */
const FEET = /^(\d{1,2})'(\d{1,2})$/;

const plainNumber = (text: string): string[] => (YEAR.test(text) ? year(text) : number(text));

function withRange(from: string, to: string, rest: string, chunks: readonly Chunk[], at: number): ReturnType<Rule> {
  const words = [...plainNumber(from), 'to', ...plainNumber(to)];
  if (rest === '%') return { words: [...words, 'percent'] };
  const next = rest === '' && chunks[at]!.mark === '' ? (chunks[at + 1]?.core ?? '') : '';
  const unit = UNITS[rest] ?? (ONLY_ATTACHED.has(next) ? undefined : UNITS[next]);
  return unit ? { words: [...words, ...unitWords(unit, to)], took: rest === '' ? 2 : 1 } : { words: [...words, ...plainWords(rest)] };
}

function withUnit(core: string, chunks: readonly Chunk[], at: number): ReturnType<Rule> {
  const parts = /^([-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)(.*)$/.exec(core)!;
  const [amount, rest] = [parts[1]!, parts[2]!];
  if (!NUMBER.test(amount) || amount === '') return undefined;
  const next = chunks[at]!.mark === '' ? chunks[at + 1]?.core : undefined;
  if (rest === '') {
    const apart = next !== undefined && !ONLY_ATTACHED.has(next) ? UNITS[next] : undefined;
    if (apart) return { words: [...number(amount), ...unitWords(apart, amount)], took: 2 };
    if (next === '%') return { words: [...number(amount), 'percent'], took: 2 };
    if (/^0\d/.test(amount)) return { words: digits(amount) };
    return { words: YEAR.test(amount) ? year(amount) : number(amount) };
  }
  if (rest === '%') return { words: [...number(amount), 'percent'] };
  const unit = UNITS[rest];
  if (unit) return { words: [...number(amount), ...unitWords(unit, amount)] };
  const times = MULTIPLES[rest];
  if (times !== undefined && rest !== 'T' && rest !== 'K') return { words: [...number(amount), times] };
  if (rest === 'x' || rest === '×') return { words: [...number(amount), 'times'] };
  // "3-year", "2x4", "3D": the figure, and what follows it read on its own.
  return { words: [...number(amount), ...plainWords(rest.replace(/^[-–/]/, ''))] };
}

function unitWords(unit: readonly [string, string?], amount: string): string[] {
  const [one, many] = unit;
  if (/^[-+]?1$/.test(amount)) return wordsOf(one);
  return many === undefined ? plural(wordsOf(one)) : wordsOf(many);
}
