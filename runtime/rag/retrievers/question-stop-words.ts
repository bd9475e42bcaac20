import { stopWordsOf } from '../../documents/text/stop-words.js';

/** Languages whose questions are known by their function words. */
const OTHER_LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl'] as const;
/** Function words of another language that make a question one of it; a single one may be an English word, such as "bin". */
const LEAST_FUNCTION_WORDS = 2;

/**
 * A question without its function words, which few texts have in a small collection and which BM25 would therefore take for the rarest.
 * Left as it is with quotation marks in it, or where nothing would remain; what `+` or `-` stands before stays.
 */
export function withoutStopWords(question: string): string {
  if (question.includes('"')) return question;
  const tokens = question.split(/\s+/).filter((token) => token !== '');
  const stopWords = stopWordsFor(tokens.map(wordOf));
  const left = tokens.filter((token) => /^[+-]/.test(token) || !stopWords.has(wordOf(token)));
  return left.length > 0 ? left.join(' ') : question;
}

/** The stop words of the language that a question is in, as far as they tell. */
function stopWordsFor(words: readonly string[]): ReadonlySet<string> {
  let best = stopWordsOf('en');
  let most = Math.max(LEAST_FUNCTION_WORDS - 1, words.filter((word) => best.has(word)).length);
  for (const language of OTHER_LANGUAGES) {
    const list = stopWordsOf(language);
    const count = words.filter((word) => list.has(word)).length;
    if (count > most) [best, most] = [list, count];
  }
  return best;
}

/** The word in a token: lower case, without the punctuation around it. */
function wordOf(token: string): string {
  return token
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .replaceAll('’', "'")
    .toLowerCase();
}
