import { lookUp, type Phone } from './dictionary.js';
import { byLetters } from './letter-sounds.js';

/** Longest word that is taken apart into two others. */
const LONGEST_COMPOUND = 24;
const LEAST_PART = 3;
const UNVOICED = /^(?:P|T|K|F|TH)$/;
const HISSING = /^(?:S|Z|SH|ZH|CH|JH)$/;
const PREFIXES =
  'un re non pre anti over under super inter multi sub micro mega mini auto bio cyber de dis mis co counter hyper meta neuro photo poly post pseudo semi tele trans ultra video e'.split(
    ' ',
  );

/** Letters by their names. */
const LETTERS: Readonly<Record<string, string>> = {
  A: 'EY1', B: 'B IY1', C: 'S IY1', D: 'D IY1', E: 'IY1', F: 'EH1 F', G: 'JH IY1', H: 'EY1 CH', I: 'AY1', J: 'JH EY1', K: 'K EY1', L: 'EH1 L', M: 'EH1 M', N: 'EH1 N', O: 'OW1', P: 'P IY1', Q: 'K Y UW1',
  R: 'AA1 R', S: 'EH1 S', T: 'T IY1', U: 'Y UW1', V: 'V IY1', W: 'D AH1 B AH0 L Y UW0', X: 'EH1 K S', Y: 'W AY1', Z: 'Z IY1',
}; // biome-ignore format: a table

/** The same as `phones` with the sound of a plural or possessive behind it. */
function withS(phones: readonly Phone[]): Phone[] {
  const last = phones.at(-1) ?? '';
  if (HISSING.test(last)) return [...phones, 'IH0', 'Z'];
  return [...phones, UNVOICED.test(last) ? 'S' : 'Z'];
}

function withEd(phones: readonly Phone[]): Phone[] {
  const last = phones.at(-1) ?? '';
  if (last === 'T' || last === 'D') return [...phones, 'IH0', 'D'];
  return [...phones, UNVOICED.test(last) || /^(?:S|SH|CH)$/.test(last) ? 'T' : 'D'];
}

/** Endings of words, how the stem before them may be spelled, and what they sound like. */
const ENDINGS: readonly (readonly [ending: RegExp, stems: (stem: string) => string[], add: (phones: readonly Phone[]) => Phone[]])[] = [
  [/'s$/, (stem) => [stem], withS],
  [/s'$/, (stem) => [`${stem}s`, stem], (phones) => [...phones]],
  [/ies$/, (stem) => [`${stem}y`, `${stem}ie`], withS],
  [/es$/, (stem) => [`${stem}e`, stem], withS],
  [/s$/, (stem) => [stem], withS],
  [/ied$/, (stem) => [`${stem}y`], withEd],
  [/ed$/, (stem) => [`${stem}e`, stem, halved(stem)], withEd],
  [/ing$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'IH0', 'NG']],
  [/in'$/, (stem) => [`${stem}ing`], (phones) => [...phones.slice(0, -1), 'N']],
  [/er$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'ER0']],
  [/ers$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'ER0', 'Z']],
  [/est$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'AH0', 'S', 'T']],
  [/ly$/, (stem) => [stem, `${stem}le`], (phones) => [...phones, ...(phones.at(-1) === 'L' ? ['IY0'] : ['L', 'IY0'])]],
  [/ness$/, (stem) => [stem, stem.replace(/i$/, 'y')], (phones) => [...phones, 'N', 'AH0', 'S']],
  [/less$/, (stem) => [stem], (phones) => [...phones, 'L', 'AH0', 'S']],
  [/ful$/, (stem) => [stem, stem.replace(/i$/, 'y')], (phones) => [...phones, 'F', 'AH0', 'L']],
  [/ment$/, (stem) => [stem], (phones) => [...phones, 'M', 'AH0', 'N', 'T']],
  [/able$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'AH0', 'B', 'AH0', 'L']],
  [/ish$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'IH0', 'SH']],
  [/y$/, (stem) => [stem, `${stem}e`, halved(stem)], (phones) => [...phones, 'IY0']],
  [/n't$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'N', 'T']],
  [/'ll$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'L']],
  [/'re$/, (stem) => [stem], (phones) => [...phones, 'ER0']],
  [/'ve$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'V']],
  [/'d$/, (stem) => [stem], (phones) => [...phones, ...(/^[TD]$/.test(phones.at(-1) ?? '') ? ['IH0'] : []), 'D']],
  [/'m$/, (stem) => [stem], (phones) => [...phones, 'M']],
];

const halved = (stem: string): string => (/([bdfglmnprtz])\1$/.test(stem) ? stem.slice(0, -1) : stem);

/** The second of two words carries the lesser stress. */
const lesser = (phones: readonly Phone[]): Phone[] => phones.map((phone) => phone.replace('1', '2'));

function fromParts(word: string): Phone[] | undefined {
  for (const [ending, stems, add] of ENDINGS) {
    const match = ending.exec(word);
    if (!match || match.index < 2) continue;
    for (const stem of stems(word.slice(0, match.index))) {
      const phones =
        stem.length < 2 ? undefined : (lookUp(stem) ?? (match[0].startsWith("'") || match[0] === "n't" ? phonesOf(stem) : undefined));
      if (phones) return add(phones);
    }
  }
  for (const prefix of PREFIXES) {
    const rest = word.startsWith(prefix) && word.length - prefix.length > LEAST_PART ? lookUp(word.slice(prefix.length)) : undefined;
    const first = rest && lookUp(prefix);
    if (first) return [...lesser(first), ...rest];
  }
  return fromTwo(word);
}

/** A word that is two others, such as "webhook"; the longest first part is tried first. */
function fromTwo(word: string): Phone[] | undefined {
  if (word.length > LONGEST_COMPOUND) return undefined;
  for (let at = word.length - LEAST_PART; at >= LEAST_PART; at -= 1) {
    const [first, second] = [lookUp(word.slice(0, at)), lookUp(word.slice(at))];
    if (first && second) return [...first, ...lesser(second)];
  }
  return undefined;
}

/** How one word is said that stands by itself: from the dictionary, from its parts, or by its letters. A capital letter is its name. */
export function phonesOf(word: string): readonly Phone[] {
  const letter = /^([A-Z])('s)?$/.exec(word);
  if (letter) return letter[2] ? withS(LETTERS[letter[1]!]!.split(' ')) : LETTERS[letter[1]!]!.split(' ');
  const bare = word.toLowerCase();
  return lookUp(bare) ?? fromParts(bare) ?? byLetters(bare.replace(/[^a-z]/g, ''));
}
