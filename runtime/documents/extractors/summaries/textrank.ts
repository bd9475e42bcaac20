import { type Graph, pageRank } from '../../text/rank.js';
import type { Ranking, Sentence } from './sentences.js';

/** A graph of sentences whose edges weigh as alike as the two are; those of `least` or less are left out. */
export function alikeness(sentences: readonly Sentence[], alike: (a: Sentence, b: Sentence) => number, least = 0): Graph {
  const edges: { from: number[]; to: number[]; weights: number[] } = { from: [], to: [], weights: [] };
  sentences.forEach((a, from) => {
    for (let to = from + 1; to < sentences.length; to += 1) {
      const weight = alike(a, sentences[to]!);
      if (weight <= least) continue;
      edges.from.push(from);
      edges.to.push(to);
      edges.weights.push(weight);
    }
  });
  return { size: sentences.length, ...edges };
}

/** Words in common over the logarithms of both lengths, as in the paper. */
function overlap(a: Sentence, b: Sentence): number {
  let common = 0;
  for (const term of a.terms.keys()) if (b.terms.has(term)) common += 1;
  const lengths = Math.log(a.words.length) + Math.log(b.words.length);
  return common === 0 || lengths <= 0 ? 0 : common / lengths;
}

/** TextRank (Mihalcea and Tarau 2004): sentences linked by the words they share, ranked by PageRank. */
export const textrank: Ranking = (sentences) => pageRank(alikeness(sentences, overlap));
