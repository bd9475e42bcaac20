import { pageRank } from '../../text/rank.js';
import type { Candidate } from './choose.js';
import { type Fragment, type Fragments, phraseOf, runsOf } from './tokens.js';

/** Words at most so far apart are linked. */
const REACH = 2;
/** The best third of the words make phrases, as in the paper, but at least so many. */
const LEAST_WORDS = 10;

function ranksOf(fragments: readonly Fragment[]): Map<string, number> {
  const nodes = new Map<string, number>();
  const edges = new Map<string, { from: number; to: number; weight: number }>();
  const node = (word: string): number => {
    const known = nodes.get(word) ?? nodes.size;
    nodes.set(word, known);
    return known;
  };
  for (const fragment of fragments) {
    fragment.forEach((token, index) => {
      if (token.stop) return;
      const a = node(token.lower);
      for (const other of fragment.slice(index + 1, index + 1 + REACH)) {
        const b = other.stop ? a : node(other.lower);
        if (a === b) continue;
        const [from, to] = a < b ? [a, b] : [b, a];
        const edge = edges.get(`${from} ${to}`) ?? { from, to, weight: 0 };
        edge.weight += 1;
        edges.set(`${from} ${to}`, edge);
      }
    });
  }
  const all = [...edges.values()];
  const ranks = pageRank({
    size: nodes.size,
    from: all.map((edge) => edge.from),
    to: all.map((edge) => edge.to),
    weights: all.map((edge) => edge.weight),
  });
  return new Map([...nodes].map(([word, index]) => [word, ranks[index]!]));
}

/**
 * TextRank (Mihalcea and Tarau 2004): words near each other are linked and ranked by weighted PageRank; runs of the best third become
 * phrases that score the sum of their words. Without a tagger, every word that is no stop word takes part. High is good.
 */
export function textrank({ fragments }: Fragments, least: number, most: number): Candidate[] {
  const ranks = ranksOf(fragments);
  const best = [...ranks].sort((a, b) => b[1] - a[1]).slice(0, Math.max(LEAST_WORDS, Math.ceil(ranks.size / 3)));
  const strong = new Set(best.map(([word]) => word));
  const found = new Map<string, { score: number; count: number }>();
  for (const run of runsOf(fragments, (token) => !token.stop && strong.has(token.lower))) {
    if (run.length < least || run.length > most) continue;
    const phrase = phraseOf(run);
    const score = run.reduce((sum, token) => sum + ranks.get(token.lower)!, 0);
    found.set(phrase, { score, count: (found.get(phrase)?.count ?? 0) + 1 });
  }
  return [...found].map(([phrase, one]) => ({ phrase, ...one }));
}
