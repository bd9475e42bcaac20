import { rememberLatest } from '../../base/once.js';
import { wordsOf } from './words.js';

/** What is known of a word, wherever it stands. */
export interface WordFacts {
  readonly lower: string;
  readonly syllables: number;
  readonly hasLetter: boolean;
  /** All of it capitals and digits, the first a capital. */
  readonly isUpper: boolean;
  /** Begins with a digit. */
  readonly isNumber: boolean;
}

/** What is known of each of the words of a text. */
export const wordFactsOf = rememberLatest((text: string): readonly WordFacts[] => wordsOf(text).map((word) => lookUpWord(word.text)));

const known = new Map<string, WordFacts>();

/** Words that are remembered, and the longest of them. */
const MOST_WORDS = 2 ** 15;
const WORD_UNITS = 64;
const LETTER = /\p{L}/u;
const UPPER = /^\p{Lu}[\p{Lu}\p{N}]*$/u;
const NUMBER = /^\p{N}/u;

/** Looks a word up; texts repeat their words, so that most are looked at once. */
function lookUpWord(word: string): WordFacts {
  const found = known.get(word);
  if (found !== undefined) return found;
  const lower = word.toLowerCase();
  const made = {
    lower,
    syllables: syllablesOf(word),
    hasLetter: LETTER.test(lower),
    isUpper: UPPER.test(word.slice(0, WORD_UNITS)),
    isNumber: NUMBER.test(word),
  };
  if (word.length > WORD_UNITS) return made;
  if (known.size >= MOST_WORDS) known.clear();
  // A copy: the word may be a view of its text, which would stay in memory with it.
  known.set(Buffer.from(word, 'utf16le').toString('utf16le'), made);
  return made;
}

/** Longest word that is looked at: longer ones are no words. */
const SYLLABLE_UNITS = 64;

/**
 * Syllables of one word, at least 1. English spelling rules for Latin letters: groups of vowels, less silent endings, plus vowels that
 * meet without joining; vowel letters for Cyrillic and Greek; one per character for Han and kana.
 */
export function syllablesOf(word: string): number {
  const plain = word.slice(0, SYLLABLE_UNITS).toLowerCase();
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(plain)) return [...plain].length;
  const others = plain.match(/[аеёиоуыэюяєіїαεηιουωάέήίόύώ]/gu);
  if (others) return others.length;
  const latin = plain
    .normalize('NFC')
    .replace(/[éè](?=s?$)/, 'a')
    .normalize('NFD')
    .replace(/\p{M}/gu, '');
  // Parts of a compound are words of their own; what follows an apostrophe is not.
  return (
    latin
      .split(/[-_]/)
      .map((part) => part.replace(/['’].*$/, '').replace(/[^a-z]/g, ''))
      .reduce((sum, part) => sum + (part === '' ? 0 : englishSyllables(part)), 0) || 1
  );
}

/** Words that spelling misleads about. */
const IRREGULAR: Readonly<Record<string, number>> = {
  area: 3, areas: 3, being: 2, business: 2, businesses: 3, colonel: 2, create: 2, created: 3, creates: 2, doesn: 2, every: 2, everyone: 3,
  everything: 3, evening: 2, evenings: 2, idea: 3, ideas: 3, lion: 2, lions: 2, naked: 2, people: 2, poem: 2, poems: 2, poet: 2, poetry: 3,
  recipe: 3, recipes: 3, apostrophe: 4, catastrophe: 4, simile: 3, science: 2, sciences: 3, something: 2, sometimes: 2, somewhere: 2,
  someone: 2, therefore: 2, wednesday: 2, chocolate: 2, different: 3, interest: 3, several: 3, hour: 1, hours: 1, our: 1, quiet: 2, diet: 2,
  queue: 1, queues: 1, forever: 3, whatever: 3, whenever: 3, heaven: 2, aged: 1, wicked: 2,
}; // biome-ignore format: a dense table

const SILENT = [
  /[^aeiouyl]e$/, // make, but not table
  /[aeiouy]le$/, // whole
  /(?:[^aeiouysxzcghl]|[^aeiouysc]h|[aeiouy]l)es$/, // makes, but not boxes, watches and tables
  /(?:[^aeiouytdlr]|[aeiouylr]l|[aeiouyr]r)ed$/, // baked, but not waited, settled and hundred
  /[aeiouy]gues?$/, // league
  /[^aeiouyl]e(?:ly|ments?|ful(?:ly)?|less(?:ly|ness)?|ness)$/, // safely
];
const APART = [
  /i(?:a(?!ge)|u)/, // media, medium
  /[aeiou]ing(?:s|ly)?$/, // going
  /ying$/,
  /(?<![lntscgxh])io/, // radio, but not nation
  /[lntscgx]io(?![nu])/, // ratio
  /eo(?![nu])/, // video
  /(?<![qg])ua(?!rd)/, // actual
  /uou|uity|uit(?:ous|ive)/, // continuous, continuity
  /iet(?:y|ies|al)|(?:sc|cl|l|p|or|r|b|d|n)ien(?:t|ce|cy)/, // society, client
  /(?:[^aeiouy]|^)rea(?:l(?!m)|ct|te|tion|tiv)/, // reality, creation
  /(?<![aeiouyq])uel$|(?:[dfg])uel|uet$/, // cruel, fuel, duet
  /sms?$|thms?$/, // prism, rhythm
  /ao|oet|oem/,
  /iest$|[^aeiouy]ier$/, // happiest, carrier
];
/** Where `ia` is one vowel after all: social, brilliant, familiar. */
const TOGETHER = /[cts]ia[ln]|lliant|iliar/;

function englishSyllables(word: string): number {
  const known = Object.hasOwn(IRREGULAR, word) ? IRREGULAR[word] : undefined;
  if (known !== undefined) return known;
  let count = word.match(/[aeiouy]+/g)?.length ?? 0;
  if (count > 1 && SILENT.some((ending) => ending.test(word))) count -= 1;
  for (const pattern of APART) if (pattern.test(word)) count += 1;
  if (TOGETHER.test(word)) count -= 1;
  return Math.max(count, 1);
}
