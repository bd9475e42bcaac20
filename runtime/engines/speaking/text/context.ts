import { type Phone, phonesOf } from './pronounce.js';
import { type Accent, symbolsOf } from './sounds.js';
import { byWord } from './token.js';

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Small words that carry no stress among others. */
const WEAK = wordSet(
  "a an the to of and or for from with at by in as if is are was were am be been has have had can could would will he she it its it's we you they i'm this that these those than there their there's your my got get per through we're we'll we've you're he's she's they're do",
);
/** Small words that carry a lesser one. */
const LESSER = wordSet(
  'on not but so when while where which who what why how whose some them him me us our up down might should shall make made go put though near',
);
/** Their vowels where they are weak, in ARPABET; the dictionary tells them as they are said alone. */
const AS_WEAK = byWord<string>({ and: 'AE0 N D', was: 'W AH2 Z', than: 'DH AH0 N', a: 'AH0', of: 'AH2 V' });

/** Words said in one way as a verb and in another as a noun or adjective: the variants of the dictionary, or the sounds. */
const HOMOGRAPHS = byWord<readonly [noun: string, verb: string]>({
  use: ['Y UW1 S', 'Y UW1 Z'], close: ['K L OW1 S', 'K L OW1 Z'], house: ['HH AW1 S', 'HH AW1 Z'], excuse: ['IH0 K S K Y UW1 S', 'IH0 K S K Y UW1 Z'], abuse: ['AH0 B Y UW1 S', 'AH0 B Y UW1 Z'],
  present: ['P R EH1 Z AH0 N T', 'P R IH0 Z EH1 N T'], object: ['AA1 B JH EH0 K T', 'AH0 B JH EH1 K T'], record: ['R EH1 K ER0 D', 'R IH0 K AO1 R D'], project: ['P R AA1 JH EH0 K T', 'P R AH0 JH EH1 K T'],
  produce: ['P R OW1 D UW0 S', 'P R AH0 D UW1 S'], subject: ['S AH1 B JH IH0 K T', 'S AH0 B JH EH1 K T'], contract: ['K AA1 N T R AE2 K T', 'K AH0 N T R AE1 K T'], conduct: ['K AA1 N D AH0 K T', 'K AH0 N D AH1 K T'],
  content: ['K AA1 N T EH0 N T', 'K AH0 N T EH1 N T'], perfect: ['P ER1 F IH0 K T', 'P ER0 F EH1 K T'], separate: ['S EH1 P R AH0 T', 'S EH1 P ER0 EY2 T'], estimate: ['EH1 S T AH0 M AH0 T', 'EH1 S T AH0 M EY2 T'],
  graduate: ['G R AE1 JH AH0 W AH0 T', 'G R AE1 JH AH0 W EY2 T'], moderate: ['M AA1 D ER0 AH0 T', 'M AA1 D ER0 EY2 T'], duplicate: ['D UW1 P L AH0 K AH0 T', 'D UW1 P L AH0 K EY2 T'], delegate: ['D EH1 L AH0 G AH0 T', 'D EH1 L AH0 G EY2 T'],
  permit: ['P ER1 M IH2 T', 'P ER0 M IH1 T'], export: ['EH1 K S P AO0 R T', 'IH0 K S P AO1 R T'], import: ['IH1 M P AO2 R T', 'IH2 M P AO1 R T'], increase: ['IH1 N K R IY2 S', 'IH0 N K R IY1 S'], decrease: ['D IY1 K R IY2 S', 'D IH0 K R IY1 S'],
  refuse: ['R EH1 F Y UW2 Z', 'R IH0 F Y UW1 Z'], rebel: ['R EH1 B AH0 L', 'R IH0 B EH1 L'], conflict: ['K AA1 N F L IH0 K T', 'K AH0 N F L IH1 K T'], protest: ['P R OW1 T EH2 S T', 'P R AH0 T EH1 S T'], progress: ['P R AA1 G R EH2 S', 'P R AH0 G R EH1 S'],
  transfer: ['T R AE1 N S F ER0', 'T R AE0 N S F ER1'], insult: ['IH1 N S AH2 L T', 'IH0 N S AH1 L T'], suspect: ['S AH1 S P EH2 K T', 'S AH0 S P EH1 K T'], desert: ['D EH1 Z ER0 T', 'D IH0 Z ER1 T'], convict: ['K AA1 N V IH0 K T', 'K AH0 N V IH1 K T'],
  live: ['L AY1 V', 'L IH1 V'], wind: ['W IH1 N D', 'W AY1 N D'], tear: ['T IH1 R', 'T EH1 R'], wound: ['W UW1 N D', 'W AW1 N D'], lead: ['L IY1 D', 'L IY1 D'], minute: ['M IH1 N AH0 T', 'M IH1 N AH0 T'], resume: ['R EH1 Z AH0 M EY2', 'R IH0 Z UW1 M'],
  advocate: ['AE1 D V AH0 K AH0 T', 'AE1 D V AH0 K EY2 T'], approximate: ['AH0 P R AA1 K S AH0 M AH0 T', 'AH0 P R AA1 K S AH0 M EY2 T'], appropriate: ['AH0 P R OW1 P R IY0 AH0 T', 'AH0 P R OW1 P R IY0 EY2 T'], alternate: ['AO1 L T ER0 N AH0 T', 'AO1 L T ER0 N EY2 T'],
  deliberate: ['D IH0 L IH1 B ER0 AH0 T', 'D IH0 L IH1 B ER0 EY2 T'], elaborate: ['IH0 L AE1 B R AH0 T', 'IH0 L AE1 B ER0 EY2 T'], associate: ['AH0 S OW1 S IY0 AH0 T', 'AH0 S OW1 S IY0 EY2 T'], coordinate: ['K OW0 AO1 R D AH0 N AH0 T', 'K OW0 AO1 R D AH0 N EY2 T'],
  attribute: ['AE1 T R AH0 B Y UW2 T', 'AH0 T R IH1 B Y UW0 T'], compound: ['K AA1 M P AW0 N D', 'K AH0 M P AW1 N D'], console: ['K AA1 N S OW0 L', 'K AH0 N S OW1 L'], extract: ['EH1 K S T R AE2 K T', 'IH0 K S T R AE1 K T'], invalid: ['IH0 N V AE1 L AH0 D', 'IH0 N V AE1 L AH0 D'],
}); // biome-ignore format: a table
/** Those that are a verb unless something says otherwise; the others are a noun or adjective then. */
const MOSTLY_VERBS = wordSet('use close live produce refuse increase decrease transfer resume extract');
/** Words before a verb, and before a noun or adjective. */
const BEFORE_VERB = wordSet(
  "to will would can could should must may might shall not don't doesn't didn't won't can't cannot couldn't shouldn't let's let i you we they please who and never always often also i'll you'll we'll they'll it'll that did does do help",
);
const BEFORE_NOUN = wordSet(
  'a an the my your his her its our their this that these those some any no each every of in on for with from by into at as is are was were very so too more most new old first last good bad great one two three another whose which what same such',
);
const BEFORE_PAST = wordSet(
  "have has had having was were been be is are already just never i've you've we've they've he's she's yesterday been",
);
/** What is live rather than lives: behind "live". */
const BEHIND_LIVE = wordSet(
  'music stream streams streaming show shows audio video demo event events chat broadcast concert performance coverage tv television wire data captions session recording voice preview',
);

/** Which sounds a word has where it stands. */
function phonesHere(word: string, before: string, behind: string): readonly Phone[] {
  const vowelBehind = /^\p{L}/u.test(behind) && /\d$/.test(phonesOf(behind)[0] ?? '');
  if (word === 'the') return ['DH', vowelBehind ? 'IY0' : 'AH0'];
  if (word === 'to') return ['T', vowelBehind || behind === '' ? 'UW0' : 'AH0'];
  if (word === 'read') return BEFORE_PAST.has(before) || behind === 'yesterday' ? ['R', 'EH1', 'D'] : ['R', 'IY1', 'D'];
  const kinds = HOMOGRAPHS[word];
  if (kinds) return kinds[isVerb(word, before, behind) ? 1 : 0].split(' ');
  const weak = AS_WEAK[word];
  return weak === undefined ? phonesOf(word) : weak.split(' ');
}

function isVerb(word: string, before: string, behind: string): boolean {
  if (word === 'live' && BEHIND_LIVE.has(behind)) return false;
  if (word === 'close' && (behind === 'to' || BEFORE_NOUN.has(before)) && before !== 'to') return false;
  if (BEFORE_VERB.has(before)) return true;
  if (BEFORE_NOUN.has(before)) return false;
  return MOSTLY_VERBS.has(word) || before === '';
}

/** Kokoro's symbols for a word between two others; those are empty at the ends of a phrase and where a mark stands between. */
export function symbolsHere(word: string, before: string, behind: string, accent: Accent): string {
  const symbols = symbolsOf(phonesHere(word, before, behind), word.toLowerCase(), accent);
  // Alone, or last before a mark, a small word is said in full.
  if (behind === '' && before === '') return symbols;
  if (WEAK.has(word)) return symbols.replace(/[ˈˌ]/g, '');
  return LESSER.has(word) ? symbols.replace('ˈ', 'ˌ') : symbols;
}
