import type { Phone } from './dictionary.js';

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
  return stressed(word, sounds);
}

function stressed(word: string, sounds: readonly string[]): Phone[] {
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
