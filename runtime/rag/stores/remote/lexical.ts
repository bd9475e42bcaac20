import { loadCore } from '../../../../native/core.js';
import { stopWordsOf } from '../../../documents/text/stop-words.js';
import { wordsOf } from '../../../documents/text/words.js';
import type { Chunk, Hit } from '../../contract.js';
import { indexedText } from '../indexed-text.js';

/** Words of a question that a server is asked for. */
const MOST_WORDS = 32;
/** A word is looked for by its beginning, so that its other forms are found: so many characters less, but no fewer than the second. */
const CUT = 3;
const LEAST = 4;

/** How the words of a question begin, in lower case, for a server that knows texts but no stems. */
export function beginningsOf(question: string): string[] {
  const stopWords = stopWordsOf('en');
  const words = wordsOf(question)
    .flatMap(({ text }) => text.toLowerCase().split(/[-_'’]/))
    .filter((word) => word !== '');
  const telling = words.filter((word) => !stopWords.has(word));
  const beginnings = (telling.length > 0 ? telling : words).map((word) => word.slice(0, Math.max(LEAST, word.length - CUT)));
  return [...new Set(beginnings)].slice(0, MOST_WORDS);
}

/** The `k` best of some chunks by BM25 over these chunks alone; those without a word of the question are left out. */
export async function rankedByWords(chunks: readonly Chunk[], question: string, k: number): Promise<Hit[]> {
  if (chunks.length === 0) return [];
  const index = loadCore().openTextIndex({ language: 'english' });
  try {
    await index.add(Uint32Array.from(chunks.keys()), chunks.map(indexedText));
    const { ids, scores } = await index.search(question, k);
    return [...ids].map((id, at) => ({ ...chunks[id]!, score: scores[at]! }));
  } finally {
    await index.close();
  }
}
