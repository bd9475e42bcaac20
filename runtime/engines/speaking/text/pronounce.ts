import { dictionary as cmu } from 'cmu-pronouncing-dictionary';

/** A sound of ARPABET; vowels end in 0, 1 or 2 for none, the main or another stress. */
export type Phone = string;

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

/** How one word is said that stands by itself: from the dictionary, from its parts, or by its letters. A capital letter is its name. */
export function phonesOf(word: string): readonly Phone[] {
  const letter = /^([A-Z])('s)?$/.exec(word);
  if (letter) return letter[2] ? withS(LETTERS[letter[1]!]!.split(' ')) : LETTERS[letter[1]!]!.split(' ');
  const bare = word.toLowerCase();
  return lookUp(bare) ?? fromParts(bare) ?? byLetters(bare.replace(/[^a-z]/g, ''));
}

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
  [/ed$/, (stem) => [`${stem}e`, stem, undoubled(stem)], withEd],
  [/ing$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'IH0', 'NG']],
  [/in'$/, (stem) => [`${stem}ing`], (phones) => [...phones.slice(0, -1), 'N']],
  [/er$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'ER0']],
  [/ers$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'ER0', 'Z']],
  [/est$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'AH0', 'S', 'T']],
  [/ly$/, (stem) => [stem, `${stem}le`], (phones) => [...phones, ...(phones.at(-1) === 'L' ? ['IY0'] : ['L', 'IY0'])]],
  [/ness$/, (stem) => [stem, stem.replace(/i$/, 'y')], (phones) => [...phones, 'N', 'AH0', 'S']],
  [/less$/, (stem) => [stem], (phones) => [...phones, 'L', 'AH0', 'S']],
  [/ful$/, (stem) => [stem, stem.replace(/i$/, 'y')], (phones) => [...phones, 'F', 'AH0', 'L']],
  [/ment$/, (stem) => [stem], (phones) => [...phones, 'M', 'AH0', 'N', 'T']],
  [/able$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'AH0', 'B', 'AH0', 'L']],
  [/ish$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'IH0', 'SH']],
  [/y$/, (stem) => [stem, `${stem}e`, undoubled(stem)], (phones) => [...phones, 'IY0']],
  [/n't$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'N', 'T']],
  [/'ll$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'L']],
  [/'re$/, (stem) => [stem], (phones) => [...phones, 'ER0']],
  [/'ve$/, (stem) => [stem], (phones) => [...phones, ...(/\d$/.test(phones.at(-1) ?? '') ? [] : ['AH0']), 'V']],
  [/'d$/, (stem) => [stem], (phones) => [...phones, ...(/^[TD]$/.test(phones.at(-1) ?? '') ? ['IH0'] : []), 'D']],
  [/'m$/, (stem) => [stem], (phones) => [...phones, 'M']],
];

const undoubled = (stem: string): string => (/([bdfglmnprtz])\1$/.test(stem) ? stem.slice(0, -1) : stem);

/** The second of two words carries the lesser stress. */
const lesserStress = (phones: readonly Phone[]): Phone[] => phones.map((phone) => phone.replace('1', '2'));

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
    if (first) return [...lesserStress(first), ...rest];
  }
  return fromTwo(word);
}

/** A word that is two others, such as "webhook"; the longest first part is tried first. */
function fromTwo(word: string): Phone[] | undefined {
  if (word.length > LONGEST_COMPOUND) return undefined;
  for (let at = word.length - LEAST_PART; at >= LEAST_PART; at -= 1) {
    const [first, second] = [lookUp(word.slice(0, at)), lookUp(word.slice(at))];
    if (first && second) return [...first, ...lesserStress(second)];
  }
  return undefined;
}

/** Words that the dictionary lacks or tells otherwise than most people say them. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  thirty: 'TH ER1 T IY0', a: 'AH0', 'an': 'AE0 N', the: 'DH AH0', to: 'T AH0', okay: 'OW2 K EY1', app: 'AE1 P', apps: 'AE1 P S', blog: 'B L AO1 G', email: 'IY1 M EY2 L', wifi: 'W AY1 F AY2',
  online: 'AA1 N L AY1 N', offline: 'AO1 F L AY1 N', website: 'W EH1 B S AY2 T', smartphone: 'S M AA1 R T F OW2 N', laptop: 'L AE1 P T AA2 P', download: 'D AW1 N L OW2 D',
  upload: 'AH1 P L OW2 D', login: 'L AO1 G IH2 N', username: 'Y UW1 Z ER0 N EY2 M', dataset: 'D EY1 T AH0 S EH2 T', runtime: 'R AH1 N T AY2 M', chatbot: 'CH AE1 T B AA2 T',
  podcast: 'P AA1 D K AE2 S T', selfie: 'S EH1 L F IY0', google: 'G UW1 G AH0 L', emoji: 'IH0 M OW1 JH IY0', kokoro: 'K OW1 K ER0 OW2', quern: 'K W ER1 N', linux: 'L IH1 N AH0 K S',
  unix: 'Y UW1 N IH0 K S', python: 'P AY1 TH AA2 N', async: 'EY2 S IH1 NG K', byte: 'B AY1 T', regex: 'R EH1 JH EH2 K S', localhost: 'L OW1 K AH0 L HH OW2 S T', config: 'K AA1 N F IH2 G',
  admin: 'AE1 D M IH2 N', auth: 'AO1 TH', cache: 'K AE1 SH', queue: 'K Y UW1', tuple: 'T AH1 P AH0 L', gif: 'G IH1 F', covid: 'K OW1 V IH2 D', yeah: 'Y AE1', hmm: 'HH AH1 M', uh: 'AH1', um: 'AH1 M',
  mm: 'AH1 M', shh: 'SH AH1', ok: 'OW2 K EY1', et: 'EH1 T', cetera: 'S EH1 T ER0 AH0', celsius: 'S EH1 L S IY0 AH0 S', per: 'P ER1', percent: 'P ER0 S EH1 N T', 'oh': 'OW1', hertz: 'HH ER1 T S',
  kelvin: 'K EH1 L V AH0 N', kibibyte: 'K IH1 B IY0 B AY2 T', mebibyte: 'M EH1 B IY0 B AY2 T', gibibyte: 'G IH1 B IY0 B AY2 T', terabyte: 'T EH1 R AH0 B AY2 T', kilobyte: 'K IH1 L AH0 B AY2 T',
}; // biome-ignore format: a table
const splitPhones = new Map<string, readonly Phone[]>();

function phonesIn(text: string): readonly Phone[] {
  let found = splitPhones.get(text);
  if (!found) {
    found = text.split(' ');
    splitPhones.set(text, found);
  }
  return found;
}

/** How a word in lower case is said: its `variant`, counted from 1, or undefined where there is none. */
export function lookUp(word: string, variant = 1): readonly Phone[] | undefined {
  const own = variant === 1 && Object.hasOwn(OWN_WORDS, word) ? OWN_WORDS[word] : undefined;
  const name = variant === 1 ? word : `${word}(${variant})`;
  const text = own ?? (Object.hasOwn(cmu, name) ? cmu[name] : undefined);
  return text === undefined ? undefined : phonesIn(text);
}

/** Letters, what must stand before and behind them, and how they sound. The first that fits is taken; vowels get their stress later. */
type LetterRule = readonly [letters: string, sounds: string, before?: RegExp, behind?: RegExp];

const V = '[aeiouy]';
const C = '[bcdfghjklmnpqrstvwxz]';
/** A vowel before one consonant and a silent e, or an ending that begins with a vowel, is long. */
const LONG = new RegExp(`^${C}(?:e(?:s|d|ly|ful|ment)?$|ing$|er$|ers$)`);

const RULES: Readonly<Record<string, readonly LetterRule[]>> = {
  a: [
    ['augh', 'AO'], ['aa', 'AA'], ['aigh', 'EY'], ['ai', 'EY'], ['ay', 'EY'], ['au', 'AO'], ['aw', 'AO'], ['ae', 'IY'], ['ar', 'EH R', undefined, /^(?:e$|y|i)/], ['arr', 'EH R'],
    ['a', 'AO', /w$/, /^(?:r|ter|tch)/], ['ar', 'ER', /.{2}$/, /^$/], ['ar', 'AA R'], ['all', 'AO L', undefined, /^(?:$|s$|[^aeiouy])/], ['alk', 'AO K'], ['a', 'EY', undefined, LONG],
    ['a', 'EY', undefined, /^(?:tion|cial|cious|ble|st(?:e|ing)|nge)/], ['a', 'AH', /.{2}$/, /^(?:$|l$|n$|nt$|nce$|ble$|ge$)/], ['a', 'AH', /^$/, new RegExp(`^${C}{1,2}${V}`)], ['a', 'AE'],
  ],
  b: [['bb', 'B'], ['b', '', /m$/, /^(?:$|s$|ing$|er)/], ['b', 'B']],
  c: [['cch', 'K'], ['cqu', 'K W'], ['ch', 'K', undefined, /^[rl]/], ['ch', 'K', /^$/, /^(?:or|em|ar(?:a|i))/], ['tch', 'CH'], ['ch', 'CH'], ['ck', 'K'], ['cc', 'K S', undefined, /^[eiy]/], ['cc', 'K'], ['ci', 'SH', undefined, /^(?:a|o)/], ['c', 'S', undefined, /^[eiy]/], ['c', 'K']],
  d: [['dge', 'JH'], ['dd', 'D'], ['d', 'D']],
  e: [
    ['eigh', 'EY'], ['eau', 'OW'], ['eer', 'IH R'], ['ear', 'ER', undefined, new RegExp(`^${C}`)], ['ear', 'IH R'], ['ee', 'IY'], ['ead', 'EH D', undefined, /^(?:$|s|y|er|ly)/], ['ea', 'IY'], ['ei', 'IY', /c$/], ['ei', 'AY'],
    ['eu', 'Y UW'], ['ew', 'UW', /[rljc]$/], ['ew', 'Y UW'], ['ey', 'IY', undefined, /^(?:$|s$)/], ['ere', 'IH R', undefined, /^$/], ['err', 'EH R'], ['er', 'EH R', undefined, /^[aiouy]/], ['er', 'ER'],
    ['ed', 'IH D', /[td]$/, /^$/], ['ed', 'T', /(?:[pkfscx]|sh|ch|ss)$/, /^$/], ['ed', 'D', /.{2}$/, /^$/], ['es', 'IH Z', /(?:s|z|x|ch|sh|g|c)$/, /^$/], ['es', 'Z', /.{2}$/, /^$/], ['e', '', /.[^aeiouy]$|.{2}[aeiouy]$/, /^(?:$|s$|ly$|ment|ful|less)/],
    ['e', 'IY', /^[^aeiouy]*$/, /^$/], ['e', 'IY', undefined, LONG], ['e', 'IH', /^$|^[bdpr]$/, new RegExp(`^${C}${V}`)], ['e', 'AH', /.{2}$/, /^(?:nt|nce|l$|n$|ns$|m$)/], ['e', 'EH'],
  ],
  f: [['ff', 'F'], ['f', 'F']],
  g: [['gh', '', /[aeiou]$/, /^(?:$|t|s$)/], ['gh', 'G'], ['gn', 'N', /^$/], ['gn', 'N', undefined, /^(?:$|s$|ed|ing)/], ['gg', 'G'], ['ge', 'JH', undefined, /^(?:$|s$)/], ['gue', 'G', undefined, /^$/], ['g', 'JH', undefined, /^(?:e|i(?!rl|ve|ft|gg)|y)/], ['g', 'G']],
  h: [['h', '', /[rgk]$/], ['h', '', /[aeiou]$/, /^(?:$|[^aeiouy])/], ['h', 'HH']],
  i: [
    ['igh', 'AY'], ['ier', 'IY ER', undefined, /^$/], ['ies', 'IY Z', /.{2}$/, /^$/], ['ied', 'IY D', /.{2}$/, /^$/], ['ie', 'AY', /^[^aeiou]$/], ['ie', 'IY'], ['ion', 'Y AH N', /ll$|n$/], ['ir', 'AY R', undefined, /^e/], ['ir', 'ER', undefined, new RegExp(`^(?:$|${C})`)],
    ['i', 'IH', undefined, /^(?:ve|ng|te$)/], ['i', 'IY', undefined, /^(?:que|[aou]|ne$|no$|na$)/], ['i', 'AY', undefined, /^(?:nd$|ld$|gn$)/], ['i', 'AY', undefined, LONG], ['i', 'IY', undefined, /^$/], ['i', 'IH'],
  ],
  j: [['j', 'JH']],
  k: [['kn', 'N', /^$/], ['kk', 'K'], ['k', 'K']],
  l: [['le', 'AH L', new RegExp(`${C}$`), /^(?:$|s$|d$)/], ['ll', 'L'], ['l', '', /a$/, /^(?:f|m|k)/], ['l', 'L']],
  m: [['mm', 'M'], ['m', 'M']],
  n: [['ng', 'NG', undefined, /^(?:$|s$|ed|ing|[^aeiouyrl])/], ['ng', 'NG G', undefined, /^[aourl]/], ['nk', 'NG K'], ['nn', 'N'], ['n', '', /m$/, /^$/], ['n', 'N']],
  o: [
    ['ough', 'AO', undefined, /^t/], ['ough', 'AH F', /[rt]$/], ['ough', 'OW'], ['oor', 'AO R'], ['orr', 'AO R'], ['oo', 'UH', undefined, /^[kd]/], ['oo', 'UW'], ['oar', 'AO R'], ['oa', 'OW'], ['oe', 'OW'], ['oi', 'OY'], ['oy', 'OY'], ['our', 'AO R', undefined, /^(?:t|s|ce|n)/], ['our', 'AW ER'],
    ['ous', 'AH S', /.{2}$/], ['ou', 'AW'], ['ow', 'OW', /.{2}$/, /^(?:$|s$|ed)/], ['ow', 'AW'], ['or', 'ER', /(?:w|.{2}[tsac])$/, /^(?:$|s$|[kdlm])/], ['or', 'AO R'], ['old', 'OW L D'], ['ost', 'OW S T', undefined, /^(?:$|s$)/], ['oll', 'OW L', undefined, /^$/],
    ['o', 'OW', undefined, LONG], ['o', 'OW', undefined, /^(?:$|s$|tion)/], ['on', 'AH N', /.{2}[^aeiouy]$/, /^(?:$|s$)/], ['o', 'AH', /.{3}$/, /^(?:m$|l$)/], ['o', 'OW', undefined, new RegExp(`^${C}[aiou]`)], ['o', 'AA'],
  ],
  p: [['ph', 'F'], ['pn', 'N', /^$/], ['ps', 'S', /^$/], ['pp', 'P'], ['p', 'P']],
  q: [['que', 'K', undefined, /^(?:$|s$)/], ['qu', 'K W'], ['q', 'K']],
  r: [['rh', 'R'], ['rr', 'R'], ['r', 'R']],
  s: [['sch', 'S K'], ['sci', 'S AY', /^$/], ['sc', 'S', undefined, /^[eiy]/], ['sh', 'SH'], ['ssion', 'SH AH N'], ['sion', 'ZH AH N', /[aeiou]$/], ['sion', 'SH AH N'], ['ss', 'S'], ['sm', 'Z AH M', undefined, /^$/], ['s', 'Z', /(?:[aeiouybdglmnrvw])$/, /^$/], ['s', 'Z', /[aeiou]$/, /^(?:e$|ing$|ed$|er$)/], ['s', 'S']],
  t: [['tch', 'CH'], ['tion', 'SH AH N'], ['tial', 'SH AH L'], ['tious', 'SH AH S'], ['tient', 'SH AH N T'], ['ture', 'CH ER'], ['th', 'DH', /^$|[aeiou]$/, /^(?:e$|er|ing$)/], ['th', 'TH'], ['tt', 'T'], ['t', '', /s$/, /^(?:le|en)$/], ['t', 'T']],
  u: [['uy', 'AY'], ['ui', 'UW', /[rjs]$/], ['ur', 'Y UH R', undefined, /^(?:e$|al|i)/], ['ur', 'ER'], ['u', '', /[gq]$/, /^[aei]/], ['u', 'UW', /[rlj]$|ch$/, LONG], ['u', 'Y UW', undefined, LONG], ['u', 'Y UW', /^$/, new RegExp(`^${C}[aeiou]`)], ['u', 'UW', undefined, /^(?:$|s$|[aeo])/], ['u', 'Y UW', /.{1}[cbfmp]$/, new RegExp(`^${C}[aeiou]`)], ['u', 'AH']],
  v: [['vv', 'V'], ['v', 'V']],
  w: [['wh', 'HH', undefined, /^o/], ['wh', 'W'], ['wr', 'R'], ['w', 'W']],
  x: [['x', 'Z', /^$/], ['x', 'K S']],
  y: [['y', 'Y', /^$/, /^[aeiou]/], ['y', 'AY', /^[^aeiouy]*$/, /^(?:$|ing|[^aeiou]e$)/], ['y', 'IY', undefined, /^(?:$|s$|ing)/], ['y', 'AY', undefined, LONG], ['y', 'IH', undefined, new RegExp(`^${C}`)], ['y', 'Y']],
  z: [['zz', 'Z'], ['z', 'Z']],
}; // biome-ignore format: a table
const VOWEL = /^(?:AA|AE|AH|AO|AW|AY|EH|ER|EY|IH|IY|OW|OY|UH|UW)$/;
/** Endings before which the stress lies on the syllable before: counted from the end of the vowels. */
const STRESSED_BEFORE: readonly (readonly [ending: RegExp, fromEnd: number])[] = [
  [/(?:tion|sion|cian|ic|ics|ical|ity|ian|ial|ious|eous|logy|graphy|nomy|ify|itude)s?$/, 2],
  [/(?:ical|ity|logy|graphy|nomy|ify|itude)s?$/, 3],
  [/(?:ee|eer|ette|esque|oon)s?$/, 1],
];

/** How a word that no dictionary has is probably said, by its letters. */
export function byLetters(word: string): Phone[] {
  const sounds: string[] = [];
  for (let at = 0; at < word.length; ) {
    const before = word.slice(0, at);
    const rule = RULES[word[at]!]?.find(
      ([letters, , left, right]) =>
        word.startsWith(letters, at) && (left?.test(before) ?? true) && (right?.test(word.slice(at + letters.length)) ?? true),
    );
    if (rule && rule[1] !== '') sounds.push(...rule[1].split(' '));
    at += rule ? rule[0].length : 1;
  }
  return withStress(word, sounds);
}

function withStress(word: string, sounds: readonly string[]): Phone[] {
  const vowels = sounds.flatMap((sound, index) => (VOWEL.test(sound) ? [index] : []));
  const fromEnd = [...STRESSED_BEFORE].reverse().find(([ending]) => ending.test(word))?.[1];
  const place = fromEnd === undefined ? Math.max(0, vowels.length - 3) : Math.max(0, vowels.length - fromEnd);
  // Two or three syllables carry it on the first that is no weak one.
  const first =
    fromEnd === undefined && vowels.length <= 3 ? vowels.findIndex((index) => sounds[index] !== 'AH' || vowels.length === 1) : place;
  return sounds.map((sound, index) => {
    const nth = vowels.indexOf(index);
    if (nth < 0) return sound;
    return `${sound}${nth === Math.max(0, first) ? 1 : 0}`;
  });
}
