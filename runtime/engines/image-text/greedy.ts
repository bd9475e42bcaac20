import type { Tensor } from '../onnx/contract.js';
import type { Decoder } from './decoder.js';

/** A token that a decoder chose. */
export interface Chosen {
  readonly id: number;
  /** Among all tokens, 0 to 1. */
  readonly probability: number;
  /** Of the tokens that were watched, in their order. */
  readonly watched: readonly number[];
}

/** When and what a decoder writes. */
export interface GreedyOptions {
  /** Not empty. */
  readonly start: readonly number[];
  readonly endId: number;
  /** Never chosen. */
  readonly banned: readonly number[];
  /** Tokens in all, the start included. */
  readonly maxLength: number;
  readonly watch?: readonly number[];
}

/** The likeliest token each time, until the end token or the length; the end token is not among them. */
export async function writeGreedily(decoder: Decoder, seen: Tensor, options: GreedyOptions, signal: AbortSignal): Promise<Chosen[]> {
  const { start, endId, banned, maxLength, watch = [] } = options;
  const writing = decoder.begin(seen);
  const chosen: Chosen[] = [];
  let next: readonly number[] = start;
  while (start.length + chosen.length < maxLength) {
    signal.throwIfAborted();
    const logits = await decoder.step(writing, next);
    for (const id of banned) if (id < logits.length) logits[id] = Number.NEGATIVE_INFINITY;
    let id = 0;
    for (let at = 1; at < logits.length; at += 1) if (logits[at]! > logits[id]!) id = at;
    if (id === endId) break;
    const highest = logits[id]!;
    let sum = 0;
    for (const logit of logits) sum += Math.exp(logit - highest);
    chosen.push({ id, probability: 1 / sum, watched: watch.map((one) => Math.exp(logits[one]! - highest) / sum) });
    next = [id];
  }
  return chosen;
}

/** The mean probability of tokens; 0 without any. */
export function meanOf(chosen: readonly Pick<Chosen, 'probability'>[]): number {
  return chosen.length === 0 ? 0 : chosen.reduce((sum, { probability }) => sum + probability, 0) / chosen.length;
}
