import type { Phone } from './pronounce.js';

/** The English that a voice speaks. */
export type Accent = 'US' | 'GB';

const CONSONANTS: Readonly<Record<string, string>> = {
  B: 'b', CH: 'ʧ', D: 'd', DH: 'ð', F: 'f', G: 'ɡ', HH: 'h', JH: 'ʤ', K: 'k', L: 'l', M: 'm', N: 'n', NG: 'ŋ', P: 'p', R: 'ɹ', S: 's', SH: 'ʃ', T: 't', TH: 'θ', V: 'v', W: 'w', Y: 'j', Z: 'z', ZH: 'ʒ',
}; // biome-ignore format: a table
const AMERICAN: Readonly<Record<string, string>> = {
  AA: 'ɑ', AE: 'æ', AH: 'ʌ', AO: 'ɔ', AW: 'W', AY: 'I', EH: 'ɛ', ER: 'ɜɹ', EY: 'A', IH: 'ɪ', IY: 'i', OW: 'O', OY: 'Y', UH: 'ʊ', UW: 'u',
}; // biome-ignore format: a table
const BRITISH: Readonly<Record<string, string>> = {
  AA: 'ɑː', AE: 'a', AH: 'ʌ', AO: 'ɔː', AW: 'W', AY: 'I', EH: 'ɛ', ER: 'ɜː', EY: 'A', IH: 'ɪ', IY: 'iː', OW: 'Q', OY: 'Y', UH: 'ʊ', UW: 'uː',
}; // biome-ignore format: a table
const STRESS = ['', 'ˈ', 'ˌ'];
/** Words and their families whose "a" is long in the south of England. */
const BATH =
  /^(?:aft|after\w*|ask\w*|bask\w*|bath|bath'?s|bathroom\w*|blast\w*|branch\w*|brass|broadcast\w*|calf|calves|can't|cast(?:s|ing|le\w*)?|chance\w*|chant\w*|clasp\w*|class\w*|contrast\w*|craft\w*|dance\w*|dancing|demand\w*|disast\w*|downcast|draft\w*|enchant\w*|example\w*|fast\w*|flask\w*|forecast\w*|france|gasp\w*|giraffe\w*|glance\w*|glass\w*|graft\w*|grant\w*|graph|graphs|grasp\w*|grass\w*|half\w*|halves|lance\w*|last\w*|laugh\w*|mask\w*|mast|masts|master\w*|nasty|overcast|pass|passed|passes|passing|past\w*|password\w*|paragraph\w*|path\w*|photograph|photographs|plant\w*|plaster\w*|podcast\w*|raft\w*|rather|sample\w*|shaft\w*|slant\w*|staff\w*|task\w*|telegraph|vast\w*|advan\w+|answer\w*|aunt\w*|command\w*|basket\w*|ghastly|casket|rascal|shan't|trance|prance|stance|sharp|surpass\w*|bypass\w*|trespass\w*|outlast\w*|broadcaster)$/;
/** Spellings whose sound is long in England; other words of the kind have the short one of "lot". */
const LONG_O = /au|aw|al|ough|oar|oor|our|or|war|broad/;

const isVowel = (phone: Phone | undefined): boolean => phone !== undefined && /\d$/.test(phone);
const kindOf = (phone: Phone): string => phone.replace(/\d$/, '');

/** How a word's sounds are written for Kokoro: the mark of a stress stands right before its vowel. `word` is its spelling in lower case. */
export function symbolsOf(phones: readonly Phone[], word: string, accent: Accent): string {
  if (accent === 'US') return american(phones, word);
  return Object.hasOwn(BRITISH_WORDS, word) ? BRITISH_WORDS[word]! : british(phones, word);
}

/** The weak vowel of "wanted" and "roses". */
function isWeakEnding(phones: readonly Phone[], at: number, word: string): boolean {
  if (at !== phones.length - 2 || at < 1 || !/^[AI]H0$/.test(phones[at]!)) return false;
  const [before, last] = [phones[at - 1]!, phones[at + 1]!];
  return last === 'D'
    ? /^[TD]$/.test(before) && word.endsWith('ed')
    : last === 'Z' && /^(?:S|Z|SH|ZH|CH|JH)$/.test(before) && /s$/.test(word);
}

function american(phones: readonly Phone[], word: string): string {
  return phones
    .map((phone, at) => {
      const kind = kindOf(phone);
      if (!isVowel(phone)) return kind === 'T' && isFlap(phones, at) ? 'T' : CONSONANTS[kind]!;
      if (isWeakEnding(phones, at, word)) return 'ᵻ';
      const stress = STRESS[Number(phone.at(-1))]!;
      if (phone === 'AH0') return isSyllabic(phones, at) ? 'ᵊ' : phones[at + 1] === 'JH' && at + 2 === phones.length ? 'ɪ' : 'ə';
      if (isWeakPrefix(phones, at, word)) return 'ə';
      if (phone === 'ER0') return 'əɹ';
      return stress + AMERICAN[kind]!;
    })
    .join('');
}

/** The vowel before the last "l" or "n", which is hardly there: "table", "moment", "instance". */
function isSyllabic(phones: readonly Phone[], at: number): boolean {
  const [before, next, after] = [phones[at - 1], phones[at + 1], phones[at + 2]];
  if (before === undefined || isVowel(before) || /^(?:R|W|Y|M|N|NG|HH)$/.test(before))
    return before === 'M' && next === 'N' && after === 'T';
  return (
    (next === 'L' && (after === undefined || /^[ZSD]$/.test(after))) || (next === 'N' && (after === undefined || /^[ZSTD]$/.test(after)))
  );
}

/** The first vowel of "return", "before", "describe" and "event". */
function isWeakPrefix(phones: readonly Phone[], at: number, word: string): boolean {
  return at < 3 && /^I[HY]0$/.test(phones[at]!) && /^(?:re|de|be|e|pre|se)[^aeiou]/.test(word) && !phones.slice(0, at).some(isVowel);
}

/** A "t" between vowels of which the second has no stress, as in "water" and "thirty". */
function isFlap(phones: readonly Phone[], at: number): boolean {
  const [before, after] = [phones[at - 1], phones[at + 1]];
  const isOpen = isVowel(before) || (before === 'R' && isVowel(phones[at - 2]));
  return isOpen && after !== undefined && /0$/.test(after) && !(after === 'AH0' && phones[at + 2] === 'N');
}

function british(phones: readonly Phone[], word: string): string {
  let symbols = '';
  for (let at = 0; at < phones.length; at += 1) {
    const phone = phones[at]!;
    const kind = kindOf(phone);
    if (!isVowel(phone)) {
      if (kind === 'R' && !isVowel(phones[at + 1])) continue;
      symbols += CONSONANTS[kind]!;
      if (isYod(phones, at, word)) symbols += 'j';
      continue;
    }
    symbols += STRESS[Number(phone.at(-1))]! + britishVowel(phones, at, word);
  }
  return symbols;
}

/** The "y" of "new" and "tune", which American dictionaries leave out. */
function isYod(phones: readonly Phone[], at: number, word: string): boolean {
  const next = phones[at + 1];
  return (
    next !== undefined && /^UW/.test(next) && /^[TDN]$/.test(phones[at]!) && /(?:[tdn]u|[tdn]ew|neu|deu)/.test(word) && !/oo|ou/.test(word)
  );
}

/** Whether a weak vowel is written with "i", or with the "e" of "basket" and "message": English keeps it nearer to "i" than American does. */
function isSpelledWithI(phones: readonly Phone[], at: number, word: string): boolean {
  const isLast = at + 2 === phones.length;
  if (isLast && phones[at + 1] === 'JH') return true;
  const groups = word.replace(/e(?=s?$)/, '').match(/[aeiouy]+/g) ?? [];
  if (groups.length !== phones.filter(isVowel).length) return isWeakEnding(phones, at, word);
  const group = groups[phones.slice(0, at).filter(isVowel).length]!;
  return group === 'i' || group === 'y' || (group === 'e' && isLast && /^[TDSZK]$/.test(phones[at + 1]!));
}

/** Words that British English says with other vowels than American, as they are written here. */
const BRITISH_WORDS: Readonly<Record<string, string>> = {
  of: 'ɒv', from: 'fɹɒm', what: 'wˈɒt', was: 'wɒz', been: 'biːn', because: 'bɪkˈɒz', either: 'ˈIðə', neither: 'nˈIðə', schedule: 'ʃˈɛdjuːl', always: 'ˈɔːlwAz', also: 'ˈɔːlsQ', data: 'dˈAtə', process: 'pɹˈQsɛs', progress: 'pɹˈQɡɹɛs', vitamin: 'vˈɪtəmɪn', privacy: 'pɹˈɪvəsi', tomato: 'təmˈɑːtQ',
  lieutenant: 'lɛftˈɛnənt', leisure: 'lˈɛʒə', herb: 'hˈɜːb', garage: 'ɡˈaɹɑːʒ', advertisement: 'ədvˈɜːtɪsmənt', laboratory: 'ləbˈɒɹətɹi', mobile: 'mˈQbIl', missile: 'mˈɪsIl', fragile: 'fɹˈaʤIl', address: 'ədɹˈɛs', route: 'ɹˈuːt', vase: 'vˈɑːz', zebra: 'zˈɛbɹə', z: 'zˈɛd', status: 'stˈAtəs', beta: 'bˈiːtə', library: 'lˈIbɹəɹi', military: 'mˈɪlɪtɹi', secretary: 'sˈɛkɹətɹi', february: 'fˈɛbɹuəɹi', water: 'wˈɔːtə', can: 'kan', anti: 'ˈanti', semi: 'sˈɛmi', version: 'vˈɜːʃᵊn', figure: 'fˈɪɡə', character: 'kˈaɹɪktə', clerk: 'klˈɑːk', were: 'wɜː', shone: 'ʃˈɒn', ate: 'ˈɛt', again: 'əɡˈɛn', issue: 'ˈɪʃuː', tissue: 'tˈɪʃuː', asia: 'ˈAʒə', software: 'sˈɒftwɛː', private: 'pɹˈIvɪt',
}; // biome-ignore format: a table

function britishVowel(phones: readonly Phone[], at: number, word: string): string {
  const phone = phones[at]!;
  const kind = kindOf(phone);
  const next = phones[at + 1];
  const beforeR = next === 'R';
  const linked = beforeR && isVowel(phones[at + 2]);
  if (phone === 'ER0') return isVowel(next) ? 'əɹ' : 'ə';
  if (kind === 'ER') return isVowel(next) ? (/urr|our|orr/.test(word) ? 'ʌɹ' : 'ɜːɹ') : 'ɜː';
  if (isWeakPrefix(phones, at, word)) return 'ɪ';
  if (phone === 'AH0') return isSyllabic(phones, at) ? 'ᵊ' : isSpelledWithI(phones, at, word) ? 'ɪ' : 'ə';
  if (beforeR) {
    if (kind === 'EH') return linked && /err|eri|ery|erry/.test(word) ? 'ɛ' : 'ɛː';
    if (kind === 'IH' || kind === 'IY') return linked && /irr|iri|yri/.test(word) ? 'ɪ' : 'ɪə';
    if (kind === 'UH') return /oor|sure/.test(word) ? 'ɔː' : 'ʊə';
    if (kind === 'AE') return 'a';
    if (kind === 'AO') return linked && /orr|ori|oro|ora|fore|ore[nsv]/.test(word) && !/tori|gori|glori|stor|oral/.test(word) ? 'ɒ' : 'ɔː';
    if (kind === 'AA') return linked && /orr|or/.test(word) ? 'ɒ' : 'ɑː';
  }
  if (kind === 'AA' && /[ao]ught|aw/.test(word)) return 'ɔː';
  if (kind === 'AA') return /o/.test(word) || /(?:^|[^aeiou])(?:wa|qua|wha)/.test(word) ? 'ɒ' : 'ɑː';
  if (kind === 'AO') return LONG_O.test(word) && !/^(?:always|also)$/.test(word) ? 'ɔː' : 'ɒ';
  if (kind === 'AE') return BATH.test(word) ? 'ɑː' : 'a';
  if (phone === 'IY0') return 'i';
  return BRITISH[kind]!;
}
