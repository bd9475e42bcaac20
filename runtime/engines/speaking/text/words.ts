import { READ_AS_WORDS, RESPELLED, SIGNS, SPELLED } from './tables.js';

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const SCALES = ['', 'thousand', 'million', 'billion', 'trillion', 'quadrillion'];
/** Longer numbers are read digit by digit. */
const MOST_DIGITS = 18;
const ORDINALS: Readonly<Record<string, string>> = {
  one: 'first', two: 'second', three: 'third', five: 'fifth', eight: 'eighth', nine: 'ninth', twelve: 'twelfth',
}; // biome-ignore format: a table

function belowThousand(value: number): string[] {
  if (value < 20) return [SMALL[value]!];
  if (value < 100) return value % 10 === 0 ? [TENS[Math.floor(value / 10)]!] : [TENS[Math.floor(value / 10)]!, SMALL[value % 10]!];
  const rest = value % 100;
  return [SMALL[Math.floor(value / 100)]!, 'hundred', ...(rest === 0 ? [] : belowThousand(rest))];
}

/** Each digit by its name; other characters say nothing. */
export const digits = (text: string): string[] => [...text].flatMap((one) => (/\d/.test(one) ? [SMALL[Number(one)]!] : []));

/** A whole number in words, from its digits, which may be grouped by commas. */
export function cardinal(text: string): string[] {
  const plain = text.replaceAll(',', '').replace(/^0+(?=\d)/, '');
  if (plain.length > MOST_DIGITS) return digits(plain);
  const words: string[] = [];
  for (let scale = Math.floor((plain.length - 1) / 3); scale >= 0; scale -= 1) {
    const group = Number(plain.slice(Math.max(0, plain.length - 3 * (scale + 1)), plain.length - 3 * scale));
    if (group > 0) words.push(...belowThousand(group), ...(scale > 0 ? [SCALES[scale]!] : []));
  }
  return words.length === 0 ? ['zero'] : words;
}

/** The same for the place in an order: "twenty first". */
export function ordinal(text: string): string[] {
  const words = cardinal(text);
  const last = words.pop()!;
  const named = ORDINALS[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}${last.endsWith('t') ? 'h' : 'th'}`);
  return [...words, named];
}

/** A number of four digits as years are read: "nineteen oh five", "two thousand", "twenty twenty four". */
export function year(text: string): string[] {
  const [first, second] = [text.slice(0, 2), text.slice(2)];
  if (/^[1-9]000$/.test(text) || /^200\d$/.test(text)) return cardinal(text);
  if (second === '00') return [...cardinal(first), 'hundred'];
  return [...cardinal(first), ...(second.startsWith('0') ? ['oh', ...digits(second.slice(1))] : cardinal(second))];
}

/** A number with an optional sign, groups and decimals: "minus three point one four". */
export function number(text: string): string[] {
  const sign = /^[-−–]/.test(text) ? ['minus'] : text.startsWith('+') ? ['plus'] : [];
  const [whole = '', decimals] = text.replace(/^[-−–+]/, '').split('.');
  const point = decimals === undefined ? [] : ['point', ...digits(decimals)];
  return [...sign, ...(whole === '' ? ['zero'] : cardinal(whole)), ...point];
}

/** Words of a plural: "nineties", "thousands". */
export function plural(words: readonly string[]): string[] {
  const last = words.at(-1) ?? '';
  return [...words.slice(0, -1), last.endsWith('y') ? `${last.slice(0, -1)}ies` : last.endsWith('x') ? `${last}es` : `${last}s`];
}

/** The value of a Roman number in capitals, or undefined where it is none or written in another way than usual. */
export function roman(text: string): number | undefined {
  const match = /^(X{0,3})(IX|IV|V?I{0,3})$/.exec(text);
  if (!match || text === '') return undefined;
  const ones = ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'].indexOf(match[2]!);
  return 10 * match[1]!.length + ones;
}

/** Longer rows of letters are no words, and are said piece by piece. */
const LONGEST = /.{1,40}/g;

const letters = (text: string): string[] => [...text.toUpperCase()].filter((one) => /[A-Z]/.test(one));

/** The words of a piece that has no rule of its own: split at hyphens, signs, digits and changes of case, its short forms spelled. */
export function plainWords(core: string, isLoud = false): string[] {
  const known = RESPELLED[core.toLowerCase()];
  if (known !== undefined) return known.split(' ');
  const single = SIGNS[core];
  if (single !== undefined) return single.split(' ');
  if (/^[#@]\w/.test(core)) return [core.startsWith('#') ? 'hashtag' : 'at', ...plainWords(core.slice(1), isLoud)];
  const parts = core.match(/[A-Za-z][A-Za-z']*|\d+(?:\.\d+)?|[&+=×÷@%°<>≤≥±≈→^√§©]/g) ?? [];
  return parts.flatMap((part) => partWords(part, core, isLoud));
}

function partWords(part: string, whole: string, isLoud: boolean): string[] {
  const sign = SIGNS[part];
  if (sign !== undefined) return sign.split(' ');
  if (/^\d/.test(part))
    return part.includes('.') ? number(part) : part.length > 4 || (part.startsWith('0') && part.length > 1) ? digits(part) : cardinal(part);
  const known = RESPELLED[part.toLowerCase()];
  if (known !== undefined) return known.split(' ');
  const many = /^([A-Z]{2,})(?:'s|s'|s)$/.exec(part);
  if (many) return withEnd(partWords(many[1]!, whole, isLoud), "'s");
  if (/^[A-Z]{2,}$/.test(part)) {
    const isWord = READ_AS_WORDS.has(part) || (/[AEIOUY]/.test(part) && !SPELLED.has(part) && (isLoud || part.length > 4));
    return isWord ? [part.toLowerCase()] : letters(part);
  }
  // "A" is a letter beside digits and signs, else an article; "I" is a word.
  if (/^[A-Za-z]$/.test(part)) return /^[aIi]$/.test(part) || (part === 'A' && whole === 'A') ? [part.toLowerCase()] : [part.toUpperCase()];
  if (/^[BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz]{2,5}$/.test(part) && !/^(?:hmm|mm|shh|psst|hm|pfft|brr|tsk|nth)$/i.test(part))
    return letters(part);
  const humps = /^(?:Mc|Mac|O'|De|Di|La|Le|Van)[A-Z]/.test(part) ? [part] : part.split(/(?<=[a-z])(?=[A-Z])/);
  if (humps.length > 1) return humps.flatMap((hump) => partWords(hump, part, isLoud));
  const word = part.toLowerCase().replace(/^'+(?!(?:em|til|cause|bout|round|tis|twas)\b)|'+$/g, '');
  return word.match(LONGEST) ?? [];
}

const withEnd = (words: readonly string[], end: string): string[] => [...words.slice(0, -1), `${words.at(-1) ?? ''}${end}`];
