import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { RetrievalQuery } from './contract.js';

/** The best hits first; equal scores are in the order of their ids, so that an answer is the same each time. */
export function bestHits(hits: readonly Hit[], count: number): Hit[] {
  return hits.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)).slice(0, count);
}

/** The hits by id, the first of each. */
export function hitsById(lists: Iterable<readonly Hit[]>): Map<string, Hit> {
  const found = new Map<string, Hit>();
  for (const list of lists) {
    for (const hit of list) {
      const known = found.get(hit.id);
      // What each ranking says of a hit is kept; the first word counts.
      if (!known) found.set(hit.id, hit);
      else if (hit.explanation) found.set(hit.id, { ...known, explanation: { ...hit.explanation, ...known.explanation } });
    }
  }
  return found;
}

/** A hit with a new score and, where the question asks for it, how that came about beside what was known before. */
export function withScore(query: Pick<RetrievalQuery, 'explain'>, hit: Hit, score: number, how: Metadata): Hit {
  return query.explain ? { ...hit, score, explanation: { ...hit.explanation, ...how } } : { ...hit, score };
}
