import { pageRank } from '../../text/rank.js';
import type { Ranking, Sentence } from './sentences.js';
import { alikeness } from './textrank.js';
import { dot, tfidfVectors } from './weights.js';

/** Sentences less alike than this are not linked. */
const THRESHOLD = 0.1;

/** LexRank (Erkan and Radev 2004): sentences linked where the cosine of their TF-IDF vectors is over 0.1, every link alike, ranked by PageRank. */
export const lexrank: Ranking = (sentences) => {
  const vectors = new Map<Sentence, Map<string, number>>(tfidfVectors(sentences).map((vector, index) => [sentences[index]!, vector]));
  const norms = new Map([...vectors].map(([sentence, vector]) => [sentence, Math.sqrt(dot(vector, vector))]));
  const cosine = (a: Sentence, b: Sentence): number => {
    const lengths = norms.get(a)! * norms.get(b)!;
    return lengths === 0 ? 0 : dot(vectors.get(a)!, vectors.get(b)!) / lengths;
  };
  return pageRank(alikeness(sentences, (a, b) => (cosine(a, b) > THRESHOLD ? 1 : 0)));
};
