import type { NoiseConfig, SchedulerKind } from './contract.js';
import { Multistep, type Shares } from './multistep.js';
import { cleanOf } from './noise.js';

/** With fewer steps the last one is of first order: the second order would overshoot. */
const FEW_STEPS = 15;

/**
 * DPM-Solver and DPM-Solver++ with two steps of memory (Lu et al. 2022, algorithm 2M), for the ordinary and for the stochastic equation: works in
 * the logarithm of signal over noise, on clean samples (`++`) or on the noise in them.
 */
class DpmMultistep extends Multistep {
  #before: Float32Array | undefined;

  step(output: Float32Array, index: number, sample: Float32Array, noise: () => Float32Array): Float32Array {
    const here = this.at(index);
    const next = this.at(index + 1);
    const { predictionType, isFirstOrder } = this.config;
    const { onClean, isStochastic } = formOf(this.config);
    const guess = sample.map((value, place) => {
      const clean = cleanOf(predictionType, output[place]!, value, here.signal, here.noise);
      if (onClean) return clean;
      return predictionType === 'epsilon' ? output[place]! : (value - here.signal * clean) / here.noise;
    });
    const before = this.#before;
    this.#before = guess;
    const width = next.ratio - here.ratio;
    const { keep, pull, stir } = onClean ? cleanMove(here, next, width, isStochastic) : noiseMove(here, next, width, isStochastic);
    const fresh = stir > 0 ? noise() : undefined;
    const stirred = (value: number, place: number): number => (fresh ? value + stir * fresh[place]! : value);
    if (!before || isFirstOrder || (index === this.timesteps.length - 1 && this.#lastIsLower(next.noise)))
      return sample.map((value, place) => stirred(keep * value + pull * guess[place]!, place));
    const behind = here.ratio - this.at(index - 1).ratio;
    const bend = width / behind / 2;
    return sample.map((value, place) => {
      return stirred(keep * value + pull * (guess[place]! + bend * (guess[place]! - before[place]!)), place);
    });
  }

  #lastIsLower(noiseLeft: number): boolean {
    const { lowerLast, eulerLast } = this.config;
    return noiseLeft === 0 || eulerLast || (lowerLast && this.timesteps.length < FEW_STEPS);
  }
}

/** What a step makes of the sample, of the network's answer, and of fresh noise. */
interface Move {
  readonly keep: number;
  readonly pull: number;
  readonly stir: number;
}

function formOf({ algorithm, finalSigma }: NoiseConfig): { onClean: boolean; isStochastic: boolean } {
  // Steps on the noise cannot reach a sample without any.
  return { onClean: algorithm.endsWith('++') || finalSigma === 'zero', isStochastic: algorithm.startsWith('sde-') };
}

/** For clean samples. At no noise the width is infinite, and what is left is the clean sample. */
function cleanMove(here: Shares, next: Shares, width: number, isStochastic: boolean): Move {
  const share = next.noise === 0 ? 0 : next.noise / here.noise;
  if (!isStochastic) return { keep: share, pull: next.signal * -Math.expm1(-width), stir: 0 };
  const gone = -Math.expm1(-2 * width);
  return { keep: share * Math.exp(-width), pull: next.signal * gone, stir: next.noise * Math.sqrt(gone) };
}

/** For the noise in samples. */
function noiseMove(here: Shares, next: Shares, width: number, isStochastic: boolean): Move {
  const pull = -next.noise * Math.expm1(width) * (isStochastic ? 2 : 1);
  return { keep: next.signal / here.signal, pull, stir: isStochastic ? next.noise * Math.sqrt(Math.expm1(2 * width)) : 0 };
}

/** The scheduler `dpm++`. */
export const dpmMultistep: SchedulerKind = {
  name: 'dpm++',
  className: 'DPMSolverMultistepScheduler',
  make: (config, steps) => new DpmMultistep(config, steps),
};
