import type { NoiseConfig } from './contract.js';

/** Cap of a single beta, against a division by nothing (Nichol and Dhariwal 2021). */
const BETA_LIMIT = 0.999;
const COSINE_OFFSET = 0.008;
/** The share of the signal that stands for none: the rest divides by it. */
const NO_SIGNAL = 2 ** -24;

function betas({ trainSteps, betaStart, betaEnd, betaSchedule, trainedBetas }: NoiseConfig): readonly number[] {
  if (trainedBetas) return trainedBetas;
  const line = (from: number, to: number, at: number): number => (trainSteps === 1 ? from : from + ((to - from) * at) / (trainSteps - 1));
  const bar = (t: number): number => Math.cos((((t + COSINE_OFFSET) / (1 + COSINE_OFFSET)) * Math.PI) / 2) ** 2;
  return Array.from({ length: trainSteps }, (_, at) => {
    if (betaSchedule === 'linear') return line(betaStart, betaEnd, at);
    if (betaSchedule === 'scaled_linear') return line(Math.sqrt(betaStart), Math.sqrt(betaEnd), at) ** 2;
    return Math.min(1 - bar((at + 1) / trainSteps) / bar(at / trainSteps), BETA_LIMIT);
  });
}

/** The share of the clean signal that is left after each training step: the running product of 1 - beta (Ho et al. 2020). */
export function signalLeft(config: NoiseConfig): Float64Array {
  const left = new Float64Array(config.trainSteps);
  let product = 1;
  for (const [at, beta] of betas(config).entries()) {
    product *= 1 - beta;
    left[at] = product;
  }
  return config.zeroEnd ? toNoSignal(left) : left;
}

/** The square roots moved down so far that the last one is 0, then stretched until the first one is as before (Lin et al. 2023, algorithm 1). */
function toNoSignal(left: Float64Array): Float64Array {
  const [first, last] = [Math.sqrt(left[0]!), Math.sqrt(left.at(-1)!)];
  if (left.length === 1) return left;
  return left.map((share) => Math.max(NO_SIGNAL, (((Math.sqrt(share) - last) * first) / (first - last)) ** 2));
}

/** Noise over signal at each training step. */
export function sigmasOf(left: Float64Array): Float64Array {
  return left.map((share) => Math.sqrt((1 - share) / share));
}

/** The value between the points of `values` at a place counted in points, held at the ends. */
export function interpolate(values: Float64Array, at: number): number {
  const low = Math.min(Math.max(Math.floor(at), 0), values.length - 1);
  const high = Math.min(low + 1, values.length - 1);
  const share = Math.min(Math.max(at - low, 0), 1);
  return values[low]! * (1 - share) + values[high]! * share;
}

/** Half values go to the even neighbour, as in numpy. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Timesteps from the noisiest down. `whole` = rounded also where they are spread evenly. */
export function spreadTimesteps(config: NoiseConfig, steps: number, otherwise: 'leading' | 'linspace', whole: boolean): number[] {
  const { trainSteps, timestepSpacing = otherwise, stepsOffset } = config;
  const rows = Array.from({ length: steps }, (_, index) => index);
  if (timestepSpacing === 'linspace') {
    const line = rows.map((index) => (steps === 1 ? 0 : (index * (trainSteps - 1)) / (steps - 1)));
    return line.reverse().map((at) => (whole ? roundHalfEven(at) : at));
  }
  if (timestepSpacing === 'trailing') return rows.map((index) => roundHalfEven(trainSteps - (index * trainSteps) / steps) - 1);
  const ratio = Math.floor(trainSteps / steps);
  return rows.reverse().map((index) => Math.min(index * ratio + stepsOffset, trainSteps - 1));
}

/** The clean sample that the network's answer means, and the noise in `sample`; `signal` and `noise` are its two shares. */
export function cleanOf(type: NoiseConfig['predictionType'], output: number, sample: number, signal: number, noise: number): number {
  if (type === 'sample') return output;
  if (type === 'v_prediction') return signal * sample - noise * output;
  return (sample - noise * output) / signal;
}

/** How strongly small deviations are preferred (Karras et al. 2022, equation 5). */
const RHO = 7;

/** `count` deviations from `most` down to `least`. */
export function spacedSigmas(
  spacing: Exclude<NoiseConfig['sigmaSpacing'], 'trained'>,
  most: number,
  least: number,
  count: number,
): number[] {
  const [to, from] = spacing === 'karras' ? [(value: number) => value ** (1 / RHO), (value: number) => value ** RHO] : [Math.log, Math.exp];
  const [first, last] = [to(most), to(least)];
  return Array.from({ length: count }, (_, index) => from(count === 1 ? first : first + ((last - first) * index) / (count - 1)));
}

/** The timestep at which the trained deviations are as large as `sigma`, between two of them in their logarithm. */
export function timestepOf(trained: Float64Array, sigma: number): number {
  if (trained.length === 1) return 0;
  const above = trained.findIndex((one) => one > sigma);
  const low = Math.min(Math.max(above < 0 ? trained.length : above - 1, 0), trained.length - 2);
  const [from, to] = [Math.log(trained[low]!), Math.log(trained[low + 1]!)];
  return low + Math.min(1, Math.max(0, (Math.log(sigma) - from) / (to - from)));
}
