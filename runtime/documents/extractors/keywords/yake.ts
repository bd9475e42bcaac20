import type { Candidate } from './choose.js';
import { type Fragment, type Fragments, gramsOf, phraseOf } from './tokens.js';
import { type Term, termsOf } from './yake-terms.js';

/** Stop words inside a phrase weigh by how surely they link their neighbours. */
function stopWeight(terms: Map<string, Term>, before: string, stop: string, after: string): number {
  const forward = (terms.get(before)!.right.get(stop) ?? 0) / terms.get(before)!.frequency;
  const backward = (terms.get(stop)!.right.get(after) ?? 0) / terms.get(after)!.frequency;
  return forward * backward;
}

function scoreOf(gram: Fragment, count: number, terms: Map<string, Term>): number {
  let product = 1;
  let sum = 0;
  gram.forEach((token, index) => {
    if (!token.stop) {
      product *= terms.get(token.lower)!.score;
      sum += terms.get(token.lower)!.score;
      return;
    }
    const weight = stopWeight(terms, gram[index - 1]!.lower, token.lower, gram[index + 1]!.lower);
    product *= 1 + (1 - weight);
    sum -= 1 - weight;
  });
  // Weak links can push the sum below -1, where the quotient would turn round.
  return product / (count * (1 + Math.max(sum, 0)));
}

/**
 * YAKE (Campos, Mangaravite, Pasquali, Jorge, Nunes and Jatowt 2020): stretches of words that neither start nor end with a stop word
 * score the product of their words' scores over (1 + their sum), the lower the more often they occur. **Low is good.**
 */
export function yake(fragments: Fragments, least: number, most: number): Candidate[] {
  const terms = termsOf(fragments);
  const found = new Map<string, { gram: Fragment; count: number }>();
  for (const gram of gramsOf(fragments.fragments, least, most)) {
    if (gram[0]!.stop || gram.at(-1)!.stop) continue;
    const phrase = phraseOf(gram);
    const known = found.get(phrase);
    if (known) known.count += 1;
    else found.set(phrase, { gram, count: 1 });
  }
  return [...found].map(([phrase, { gram, count }]) => ({ phrase, count, score: scoreOf(gram, count, terms) }));
}
