import type { Said } from './contract.js';
import { isBackChannel, unfinishedWords } from './languages.js';
import type { VoiceSettings } from './settings.js';

/** Speech shorter than this is given more time, in seconds and by so much. */
const SHORT_S = 2;
const SHORT_FACTOR = 1.5;
/** Less speech than this has no words that tell whether it is complete, in seconds. */
const TELLING_S = 0.5;
const AMBIGUOUS_FACTOR = 1.25;

/** A pause in speech. */
interface Pause {
  readonly speechS: number;
  /** What was said; absent while it is not known. */
  readonly said: Said | undefined;
}

/** Seconds of silence: `least` after which the words are asked for, `most` after which the utterance is over. */
export function requiredSilence({ speechS, said }: Pause, settings: VoiceSettings): { least: number; most: number } {
  const { baseSilence, maxSilence, thinkingSilence } = settings;
  const least = Math.min(maxSilence, baseSilence * (speechS < SHORT_S ? SHORT_FACTOR : 1));
  if (said === undefined) return { least, most: maxSilence };
  const completeness = speechS < TELLING_S ? 'complete' : completenessOf(said.text, said.language);
  const wanted = { complete: least, ambiguous: least * AMBIGUOUS_FACTOR, incomplete: thinkingSilence }[completeness];
  return { least, most: Math.min(maxSilence, wanted) };
}

/** Whether a text sounds as if its speaker had finished. */
export type Completeness = 'complete' | 'incomplete' | 'ambiguous';

/** No more than the end of a text is looked at. */
const LOOKED_AT = 2000;
const wordsIn = (text: string): string[] => text.split(' ');

/** After these words of English more is to come. */
const UNFINISHED: ReadonlySet<string> = new Set([
  ...wordsIn('and but or so because since although though while if when unless until after before as than that which who whom whose where'),
  ...wordsIn('to for with at by from in on of about into onto upon through during without within between among under over'),
  ...wordsIn('the a an this that these those my your his her its our their some any no'),
  ...wordsIn('is are was were be been being have has had do does did will would shall should can could may might must'),
  ...wordsIn('um uh er ah like well so anyway basically i you we they he she it'),
  ...wordsIn('first second third one two three firstly secondly finally also another'),
]);

const UNFINISHED_PAIRS: ReadonlySet<string> = new Set(['you know', 'i mean']);

/** Words that no sentence ends with: a recogniser that puts a full stop there has heard a pause. */
const NEVER_LAST: ReadonlySet<string> = new Set(wordsIn('the a an my your our their and but or because although unless'));

const CLOSING: ReadonlySet<string> = new Set(
  wordsIn('yes no yeah yep nope okay ok sure thanks please right correct exactly absolutely definitely'),
);

const CLOSING_PAIRS: ReadonlySet<string> = new Set(['thank you', 'got it', 'i see']);
const QUESTION = /\b(?:what|where|when|why|how|who|which|is it|are you|can you|do you|does it|(?:will|would|could) you)\b/;
const COMMAND = /\b(?:stop|start|go|come|help|(?:tell|show|give|let) me|(?:make|do|try) it)\b(?!,)/;
const BREAKS_OFF = /(?:\.\.|…|[,:，、：])["'”’」』]?$/;
const ENDS = /[.!?。！？]["'”’)」』]*$/;

/** Scripts whose words are not parted by spaces. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;

/** Whether the speaker of a transcript in a language (ISO 639-1) seems to have finished, by its last words. */
export function completenessOf(transcript: string, language: string): Completeness {
  const text = transcript.slice(-LOOKED_AT).toLowerCase().replace(/\s+/g, ' ').trim();
  if (text === '') return 'ambiguous';
  const spoken = text
    .replace(/[^\p{L}\p{N}'’ ]+/gu, ' ')
    .replace(/’/g, "'")
    .replace(/ +/g, ' ')
    .trim();
  const all = wordsIn(spoken);
  const last = all.at(-1) ?? '';
  if (!language.startsWith('en')) return completenessElsewhere(text, spoken, last, language);
  const pair = all.slice(-2).join(' ');
  // A short answer is one, whatever else its word may be.
  if (CLOSING.has(spoken) || CLOSING_PAIRS.has(spoken)) return 'complete';
  if (isUnfinished(text, last, pair)) return 'incomplete';
  if (ENDS.test(text)) return 'complete';
  if (CLOSING.has(last) || CLOSING_PAIRS.has(pair)) return 'complete';
  if (QUESTION.test(spoken) || COMMAND.test(text)) return 'complete';
  return all.length <= 2 ? 'incomplete' : 'ambiguous';
}

/** The same in a language other than English, of which less is known. */
function completenessElsewhere(text: string, spoken: string, last: string, language: string): Completeness {
  if (isBackChannel(spoken, language)) return 'complete';
  if (BREAKS_OFF.test(text)) return 'incomplete';
  if (ENDS.test(text)) return 'complete';
  if (isQuoting(text) || unfinishedWords(language).has(last)) return 'incomplete';
  return UNSPACED.test(spoken) || wordsIn(spoken).length > 2 ? 'ambiguous' : 'incomplete';
}

function isUnfinished(text: string, last: string, pair: string): boolean {
  if (BREAKS_OFF.test(text)) return true;
  // A quotation that ends with the sentence has ended, also where its mark was left out.
  if (!/[.!?]$/.test(text) && isQuoting(text)) return true;
  if (/[!?]["'”’)]*$/.test(text)) return false;
  if (/\.["'”’)]*$/.test(text)) return NEVER_LAST.has(last);
  // "Thank you" and "got it" end with words after which otherwise more comes.
  return (UNFINISHED.has(last) && !CLOSING_PAIRS.has(pair)) || UNFINISHED_PAIRS.has(pair);
}

/** Words whose first letters are left out: their apostrophe opens no quotation. */
const CLIPPED = /(?<![\p{L}\p{N}])['’](?:em|til|till|cause|bout|round|n|tis|twas|\d0s)(?![\p{L}\p{N}])/giu;
const OPENING_SINGLE = /(?<![\p{L}\p{N}])['‘](?=[\p{L}\p{N}])/gu;
const CLOSING_SINGLE = /(?<=[\p{L}\p{N}.,!?])['’](?![\p{L}\p{N}])/gu;

/** Whether a quotation has begun and not ended; the apostrophe of "don't" begins none. */
function isQuoting(text: string): boolean {
  if (countMatches(text, /"/g) % 2 === 1 || countMatches(text, /“/g) > countMatches(text, /”/g)) return true;
  const plain = text.replace(CLIPPED, '');
  // A plural's apostrophe ("the dogs' bowl") looks like an end: it must not hide a beginning, nor count as one.
  const opened = countMatches(plain, OPENING_SINGLE);
  return opened > 0 && opened > countMatches(plain, CLOSING_SINGLE);
}

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
