import { randomInt } from 'node:crypto';
import type { GenerateEvent, GenerateRequest, Sampling } from '../engines/contracts/language.js';
import type { RecommendedSampling } from '../formats/recommended.js';
import type { TokenLogprob } from './contract.js';
import { DRY_SETTINGS } from './options.js';

const SEEDS = 2 ** 32;
const MAX_TOP_LOGPROBS = 20;

/** Where neither a request nor the model's file says anything. */
const SAMPLING_DEFAULTS = { temperature: 1, top_p: 1, top_k: 40, min_p: 0.05 } as const;
/** Sent to the engine only where they do something. */
const PENALTIES = ['presence_penalty', 'frequency_penalty', 'repeat_penalty'] as const;

/**
 * Sampling settings for the engine: the request's, else what the model's file recommends, else the default. The seed is random unless given, 0 for
 * deterministic texts, and is cut to 32 bits. Where an answer is `held` to a form whose signs repeat, such as JSON, recommended penalties are left out.
 */
export function engineSampling(
  request: Sampling,
  recommended: RecommendedSampling,
  held = false,
): Omit<GenerateRequest, 'promptId' | 'maxTokens'> {
  const settings = { ...SAMPLING_DEFAULTS, ...recommended };
  const seed = request.seed ?? (request.deterministic ? 0 : randomInt(SEEDS));
  const sampling: Omit<GenerateRequest, 'promptId' | 'maxTokens'> = {
    temperature: request.temperature ?? settings.temperature,
    top_p: request.top_p ?? settings.top_p,
    top_k: request.top_k ?? settings.top_k,
    min_p: request.min_p ?? settings.min_p,
    seed: seedAfter(seed, 0),
  };
  for (const name of PENALTIES) {
    const value = request[name] ?? (held ? undefined : recommended[name]);
    if (value) sampling[name] = value;
  }
  // Where a grammar holds, the engine leaves DRY out by itself.
  if (request.dry_multiplier ?? recommended.dry_multiplier) {
    for (const name of DRY_SETTINGS) {
      const value = request[name] ?? recommended[name];
      if (value !== undefined) sampling[name] = value;
    }
  }
  if (request.logit_bias && Object.keys(request.logit_bias).length > 0) sampling.logit_bias = request.logit_bias;
  if (request.deterministic) sampling.deterministic = true;
  const stop = request.stop?.filter((text) => text !== '');
  if (stop?.length) sampling.stop = stop;
  if (wantsLogprobs(request)) {
    sampling.logprobs = true;
    sampling.top_logprobs = Math.min(request.top_logprobs ?? 0, MAX_TOP_LOGPROBS);
  }
  return sampling;
}

/** The seed that many behind another, cut to 32 bits. */
export function seedAfter(seed: number, steps: number): number {
  return ((seed % SEEDS) + SEEDS + steps) % SEEDS;
}

/** True when the answer carries logprobs: asked for, or implied by `top_logprobs`. */
export function wantsLogprobs(request: Sampling): boolean {
  return request.logprobs ?? (request.top_logprobs !== undefined && request.top_logprobs > 0);
}

/** The engine's logprobs in the chat format, each list cut to `top` alternatives. */
export function wireLogprobs(logprobs: NonNullable<GenerateEvent['logprobs']>, top: number): TokenLogprob[] {
  return logprobs.map((entry) => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes,
    top_logprobs: entry.top.slice(0, top),
  }));
}
