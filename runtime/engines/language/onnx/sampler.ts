import { randomInt } from 'node:crypto';
import type { Sampling } from '../../contracts/language.js';

const SEED_RANGE = 2 ** 32;
const DEFAULT_TOP_K = 40;
const DEFAULT_MIN_P = 0.05;
/** Tokens that are chosen one by one rather than by sorting all. */
const FEW = 100;

/** A token with its logarithm of probability. */
interface Candidate {
  readonly token: number;
  readonly logprob: number;
}

/** Chooses tokens by the settings of one generation; the same seed and logits give the same tokens. */
export class Sampler {
  readonly #settings: Sampling;
  readonly #bias: readonly (readonly [number, number])[];
  readonly #counts = new Map<number, number>();
  readonly #seen: Set<number>;
  #state: number;

  constructor(settings: Sampling, prompt: Int32Array) {
    this.#settings = settings;
    this.#bias = Object.entries(settings.logit_bias ?? {}).map(([token, value]) => [Number(token), value]);
    this.#seen = new Set(prompt);
    this.#state = (settings.seed ?? randomInt(SEED_RANGE)) >>> 0;
  }

  /** The next token; `logits` are changed. */
  choose(logits: Float32Array): number {
    this.#adjust(logits);
    const { temperature = 1, top_k = DEFAULT_TOP_K, top_p = 1, min_p = DEFAULT_MIN_P } = this.#settings;
    if (temperature === 0 || top_k === 1) return greatest(logits);
    const sorted = mostLikely(logits, top_k > 0 ? top_k : logits.length);
    const total = sorted.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
    let mass = 0;
    const kept = sorted.filter(({ logprob }, rank) => {
      const share = Math.exp(logprob) / total;
      const isIn = rank === 0 || (mass < top_p && share >= (min_p * Math.exp(sorted[0]!.logprob)) / total);
      mass += share;
      return isIn;
    });
    const weights = kept.map(({ logprob }) => Math.exp((logprob - kept[0]!.logprob) / temperature));
    let left = this.#unit() * weights.reduce((sum, weight) => sum + weight, 0);
    const at = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return kept[at < 0 ? kept.length - 1 : at]!.token;
  }

  /** Counts a token that was written. */
  accept(token: number): void {
    this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    this.#seen.add(token);
  }

  #adjust(logits: Float32Array): void {
    const { repeat_penalty = 1, presence_penalty = 0, frequency_penalty = 0 } = this.#settings;
    for (const [token, value] of this.#bias) if (token < logits.length) logits[token]! += value;
    if (repeat_penalty !== 1)
      for (const token of this.#seen)
        logits[token] = logits[token]! > 0 ? logits[token]! / repeat_penalty : logits[token]! * repeat_penalty;
    for (const [token, count] of this.#counts) logits[token]! -= presence_penalty + frequency_penalty * count;
  }

  /** From 0 up to 1 (mulberry32). */
  #unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / SEED_RANGE;
  }
}

/** The likeliest `count` tokens, likeliest first, with true logarithms of probability. */
export function mostLikely(logits: Float32Array, count: number): Candidate[] {
  const offset = logOfSum(logits);
  return greatestFirst(logits, count).map((token) => ({ token, logprob: logits[token]! - offset }));
}

/** Ids of the greatest `count` logits; of a few without sorting all, which takes a vocabulary of 150,000 tokens some 100 ms. */
function greatestFirst(logits: Float32Array, count: number): number[] {
  if (count > FEW) {
    const order = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
    return order.slice(0, count);
  }
  const order: number[] = [];
  for (let token = 0; token < logits.length; token += 1) {
    const logit = logits[token]!;
    if (order.length === count && !(logit > logits[order[count - 1]!]!)) continue;
    let at = order.length;
    while (at > 0 && logits[order[at - 1]!]! < logit) at -= 1;
    order.splice(at, 0, token);
    if (order.length > count) order.pop();
  }
  return order;
}

/** The logarithm of what all probabilities together are without scaling. */
export function logOfSum(logits: Float32Array): number {
  const most = logits[greatest(logits)]!;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  return most + Math.log(sum);
}

function greatest(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token += 1) if (logits[token]! > logits[best]!) best = token;
  return best;
}

/** The tags of a thinking block, as tokens. */
export interface ThinkingTags {
  readonly start: readonly number[];
  readonly end: readonly number[];
}

/** Longest beginning of `tag` that a text ends with when `token` follows one that ended with `matched` tokens of it. */
function matchedTag(tag: readonly number[], matched: number, token: number): number {
  const seen = [...tag.slice(0, matched), token];
  for (let length = Math.min(tag.length, seen.length); length > 0; length -= 1) {
    if (seen.slice(-length).every((one, at) => one === tag[at])) return length;
  }
  return 0;
}

/** Counts the tokens of a thinking block, and says which token must come next once its budget is spent; the native engine counts the same way. */
export class ThinkingBudget {
  readonly #tags: ThinkingTags;
  readonly #budget: number;
  #isInside: boolean;
  #matched = 0;
  /** Tokens spent so far, without the tags. */
  count = 0;

  /** `budget` is infinite where nobody set one; `isInside`: the prompt has opened a block. */
  constructor(tags: ThinkingTags, budget: number, isInside: boolean) {
    this.#tags = tags;
    this.#budget = budget;
    this.#isInside = isInside;
  }

  /** The token that has to be next; undefined where the model may choose. */
  get forced(): number | undefined {
    return this.#isInside && this.count - this.#matched >= this.#budget ? this.#tags.end[this.#matched] : undefined;
  }

  /** Takes the token that was chosen. */
  accept(token: number): void {
    const tag = this.#isInside ? this.#tags.end : this.#tags.start;
    if (tag.length === 0) return;
    if (this.#isInside) this.count += 1;
    this.#matched = matchedTag(tag, this.#matched, token);
    if (this.#matched < tag.length) return;
    if (this.#isInside) this.count -= tag.length;
    this.#isInside = !this.#isInside;
    this.#matched = 0;
  }
}
