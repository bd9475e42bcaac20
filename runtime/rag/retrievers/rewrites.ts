import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { stopWordsOf } from '../../documents/text/stop-words.js';
import { wordsOf } from '../../documents/text/words.js';
import type { RetrievalMeans } from './contract.js';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'];
/** Words of a question that are looked at. */
const MOST_WORDS = 200;
const stopWords = new Set(LANGUAGES.flatMap((language) => [...stopWordsOf(language)]));

/** The words of a text that carry a topic, as they are written. */
export function keywordsOf(text: string): string[] {
  return wordsOf(text)
    .slice(0, MOST_WORDS)
    .map((word) => word.text)
    .filter((word) => !stopWords.has(word.toLowerCase()));
}

const ENDINGS: readonly (readonly [ending: RegExp, stem: string])[] = [
  [/(?<=\w{3})ies$/, 'y'],
  [/(?<=\w{2}(?:s|x|z|ch|sh))es$/, ''],
  [/(?<=\w{3})(?:ing|edly|ed|ingly|ly|ment|ments)$/, ''],
  [/(?<=\w{2}[^su])s$/, ''],
];

/** A word without its most common English endings. */
export function stemOf(word: string): string {
  const [ending, stem] = ENDINGS.find(([pattern]) => pattern.test(word)) ?? [/$^/, ''];
  return word.replace(ending, stem);
}

const LOOKS_LIKE_A_NAME = /[\p{Lu}\p{N}_]/u;

/**
 * Other ways to put a question, by rules: itself, its keywords, their stems, the keywords with the longest first, those that look like names
 * or numbers, each half of them, and the keywords backwards. At most `count`, each different, the surest first.
 */
export function rewritesOf(text: string, count: number): string[] {
  const keywords = keywordsOf(text);
  const half = Math.ceil(keywords.length / 2);
  // The first word of a sentence has its capital from there.
  const named = keywords.filter(
    (word) => LOOKS_LIKE_A_NAME.test(word) && !(LOOKS_LIKE_A_NAME.test(word[0]!) && text.trimStart().startsWith(word)),
  );
  const forms = [
    keywords,
    keywords.map((word) => stemOf(word.toLowerCase())),
    keywords.toSorted((a, b) => b.length - a.length),
    named,
    keywords.length > 3 ? keywords.slice(0, half) : [],
    keywords.length > 3 ? keywords.slice(half) : [],
    keywords.toReversed(),
  ].map((words) => words.join(' '));
  const different = new Map([text.trim(), ...forms].filter((form) => form !== '').map((form) => [form.toLowerCase(), form]));
  return [...different.values()].slice(0, count);
}

/** Tokens that a model may spend on one line. */
const TOKENS_PER_LINE = 60;
const LONGEST_LINE = 1000;

/** The lines of a model's answer as questions: without numbers, bullets and quotes, each once. */
export function linesOfAnswer(answer: string, count: number): string[] {
  const lines = answer
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*/, '')
        .replace(/^["'“”]|["'“”]$/g, '')
        .trim(),
    )
    .filter((line) => line !== '' && line.length <= LONGEST_LINE && !line.endsWith(':'));
  return [...new Set(lines)].slice(0, count);
}

/**
 * Questions that a chat model writes to an instruction, at most `count`; none where the model is not available, so that rules take over. A
 * model that the project does not know is thrown, and so is the abort.
 */
export async function questionsByModel(
  model: string,
  instruction: string,
  count: number,
  means: RetrievalMeans,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    return linesOfAnswer(await means.complete(model, instruction, count * TOKENS_PER_LINE), count);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'not_found') throw error;
    log('warn', 'a model that rewrites questions failed; rules rewrite them instead', { model, error });
    return [];
  }
}
