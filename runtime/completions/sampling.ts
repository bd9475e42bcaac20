import { randomInt } from 'node:crypto';
import type { GenerateEvent, GenerateRequest, Sampling } from '../engines/contract.js';
import type { TokenLogprob } from './contract.js';

const SEEDS = 2 ** 32;
const MAX_TOP_LOGPROBS = 20;

/** The runtime's sampling defaults; temperature is 0.7 when a client sends null, which the gateway translates. */
const SAMPLING_DEFAULTS = { temperature: 1, top_p: 1, top_k: 40, min_p: 0.05 } as const;

/** Sampling settings for the engine with every default filled in; the seed is random unless given and is cut to 32 bits. */
export function engineSampling(request: Sampling): Omit<GenerateRequest, 'promptId' | 'maxTokens'> {
  const sampling: Omit<GenerateRequest, 'promptId' | 'maxTokens'> = {
    temperature: request.temperature ?? SAMPLING_DEFAULTS.temperature,
    top_p: request.top_p ?? SAMPLING_DEFAULTS.top_p,
    top_k: request.top_k ?? SAMPLING_DEFAULTS.top_k,
    min_p: request.min_p ?? SAMPLING_DEFAULTS.min_p,
    seed: request.seed === undefined ? randomInt(SEEDS) : ((request.seed % SEEDS) + SEEDS) % SEEDS,
  };
  if (request.presence_penalty) sampling.presence_penalty = request.presence_penalty;
  if (request.frequency_penalty) sampling.frequency_penalty = request.frequency_penalty;
  if (request.repeat_penalty) sampling.repeat_penalty = request.repeat_penalty;
  if (request.logit_bias && Object.keys(request.logit_bias).length > 0) sampling.logit_bias = request.logit_bias;
  const stop = request.stop?.filter((text) => text !== '');
  if (stop?.length) sampling.stop = stop;
  if (wantsLogprobs(request)) {
    sampling.logprobs = true;
    sampling.top_logprobs = Math.min(request.top_logprobs ?? 0, MAX_TOP_LOGPROBS);
  }
  return sampling;
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
