import { wordsOf } from '../../documents/text/words.js';
import type { Hit } from '../contract.js';
import { best } from './retriever.js';

/** Words of a text that are compared. */
const MOST_WORDS = 500;

/** The different words of a text, in lower case. */
export function wordSet(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .slice(0, MOST_WORDS)
      .map((word) => word.text.toLowerCase()),
  );
}

/** The share of words that two texts have in common, 0 to 1 (Jaccard). */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return common / (a.size + b.size - common);
}

/**
 * Picks hits one by one, each with its score less `boost` times its likeness to the most alike one picked before (as maximal marginal
 * relevance does). Their new scores go down from first to last.
 */
export function diversified(hits: readonly Hit[], boost: number, count: number): Hit[] {
  const left = best(hits, hits.length).map((hit) => ({ hit, words: wordSet(hit.text), alike: 0 }));
  const picked: Hit[] = [];
  while (left.length > 0 && picked.length < count) {
    let first = 0;
    for (let at = 1; at < left.length; at += 1) if (worth(left[at]!, boost) > worth(left[first]!, boost)) first = at;
    const [chosen] = left.splice(first, 1) as [(typeof left)[number]];
    picked.push({ ...chosen.hit, score: worth(chosen, boost) });
    for (const one of left) one.alike = Math.max(one.alike, likeness(one.words, chosen.words));
  }
  return picked;
}

function worth({ hit, alike }: { hit: Hit; alike: number }, boost: number): number {
  return Math.max(0, hit.score * (1 - boost * alike));
}
