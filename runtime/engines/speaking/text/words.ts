import { cardinal, digits, number } from './numbers.js';
import { READ_AS_WORDS, RESPELLED, SIGNS, SPELLED } from './tables.js';

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
