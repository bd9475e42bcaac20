import type { Candidate } from './choose.js';
import { type Fragments, gramsOf, phraseOf, runsOf } from './tokens.js';

/**
 * Term frequency by inverse document frequency, the sentences of the text being the documents: count * (ln((1 + sentences) / (1 + sentences
 * with it)) + 1), the smoothed form. Terms are runs of words without stop words. High is good.
 */
export function tfidf({ fragments, sentences }: Fragments, least: number, most: number): Candidate[] {
  const found = new Map<string, { count: number; spread: number; last: number }>();
  for (const gram of gramsOf(
    runsOf(fragments, (token) => !token.stop),
    least,
    most,
  )) {
    const phrase = phraseOf(gram);
    const term = found.get(phrase) ?? { count: 0, spread: 0, last: -1 };
    term.count += 1;
    if (term.last !== gram[0]!.sentence) term.spread += 1;
    term.last = gram[0]!.sentence;
    found.set(phrase, term);
  }
  return [...found].map(([phrase, { count, spread }]) => ({
    phrase,
    count,
    score: count * (Math.log((1 + sentences) / (1 + spread)) + 1),
  }));
}
