import { wordsOf } from '../../documents/text/words.js';
import type { Hit } from '../contract.js';
import type { DenseTrust } from './contract.js';
import { bestHits } from './hits.js';

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
  const left = bestHits(hits, hits.length).map((hit) => ({ hit, words: wordSet(hit.text), alike: 0 }));
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

/** One ranking of things by their id, the best first. */
export type Ranking = readonly { readonly id: string; readonly score: number }[];

/** The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). */
export const RRF_K = 60;

/** What is trusted unless somebody says otherwise: an embedding model, and hashed words (chosen in docs/decisions/retrieval.md). */
export const DENSE_TRUST = { model: { share: 0.7, standing: 3 }, words: { share: 1 / 3, standing: 0 } } as const;

/** The share of dense search for one question, 0 to 1. */
export function denseShare({ share, standing }: DenseTrust, dense: Ranking, lexical: Ranking): number {
  if (standing === 0 || share === 0) return share;
  const [mine, other] = [share * standingOut(dense) ** standing, (1 - share) * standingOut(lexical) ** standing];
  return mine / (mine + other);
}

/** How many standard deviations the best score lies above the mean of its ranking; at least 1, as where there is no other. */
function standingOut(ranking: Ranking): number {
  const scores = ranking.map(({ score }) => score);
  const mean = sumOf(scores) / scores.length;
  const deviation = Math.sqrt(sumOf(scores.map((score) => (score - mean) ** 2)) / scores.length);
  return deviation > 0 ? Math.max(1, (Math.max(...scores) - mean) / deviation) : 1;
}

/** Brings the scores of a ranking to 0..1, the best to 1 and the worst to 0; all to 1 where they are equal. */
export function minMax(ranking: Ranking): Ranking {
  const scores = ranking.map((one) => one.score);
  const low = Math.min(...scores);
  const span = Math.max(...scores) - low;
  return ranking.map((one) => ({ id: one.id, score: span > 0 ? (one.score - low) / span : 1 }));
}

/**
 * Reciprocal rank fusion: the sum of weight / (k + rank), rank from 1, divided by what the first of every ranking would get. So it lies in
 * 0..1, which a threshold needs, in the same order.
 */
export function rankFusion(rankings: readonly Ranking[], weights: readonly number[], k = RRF_K): Map<string, number> {
  const most = sumOf(weights) / (k + 1);
  return sumById(rankings, (_score, rank, list) => (most > 0 ? weights[list]! / (k + rank) / most : 0));
}

/** The weighted mean of the scores over all rankings; a ranking that lacks a thing counts as 0. */
export function weightedMean(rankings: readonly Ranking[], weights: readonly number[]): Map<string, number> {
  const all = sumOf(weights);
  return sumById(rankings, (score, _rank, list) => (all > 0 ? (weights[list]! * score) / all : 0));
}

/** The weighted mean times the share of the rankings that have the thing (CombMNZ, Fox and Shaw, 1994). */
export function scoreFusion(rankings: readonly Ranking[], weights: readonly number[]): Map<string, number> {
  const counts = frequencies(rankings);
  const means = weightedMean(rankings, weights);
  return new Map([...means].map(([id, mean]) => [id, (mean * counts.get(id)!) / rankings.length]));
}

/** The best score of each thing. */
export function maximum(rankings: readonly Ranking[]): Map<string, number> {
  const scores = new Map<string, number>();
  for (const { id, score } of rankings.flat()) scores.set(id, Math.max(score, scores.get(id) ?? score));
  return scores;
}

/** The mean over the rankings that have the thing. */
export function mean(rankings: readonly Ranking[]): Map<string, number> {
  const counts = frequencies(rankings);
  return sumById(rankings, (score, _rank, _list, id) => score / counts.get(id)!);
}

/** How many of the rankings have each thing. */
export function frequencies(rankings: readonly Ranking[]): Map<string, number> {
  return sumById(rankings, () => 1);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function sumById(
  rankings: readonly Ranking[],
  part: (score: number, rank: number, list: number, id: string) => number,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [list, ranking] of rankings.entries())
    for (const [at, { id, score }] of ranking.entries()) sums.set(id, (sums.get(id) ?? 0) + part(score, at + 1, list, id));
  return sums;
}
