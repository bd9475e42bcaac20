import type { NoiseConfig, Scheduler, SchedulerKind } from './contract.js';
import { between, cleanOf, roundHalfEven, sigmasOf, signalLeft } from './noise.js';

/** With fewer steps the last one is of first order: the second order would overshoot. */
const FEW_STEPS = 15;

/** DPM-Solver++ with two steps of memory (Lu et al. 2022, algorithm 2M): works on clean samples, in the logarithm of signal over noise. */
class DpmMultistep implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma = 1;
  readonly #config: NoiseConfig;
  /** Noise over signal per step, and where the last one leads. */
  readonly #sigmas: readonly number[];
  #before: Float32Array | undefined;

  constructor(config: NoiseConfig, steps: number) {
    this.#config = config;
    const trained = sigmasOf(signalLeft(config));
    this.timesteps = placesOf(config, steps);
    this.#sigmas = [...this.timesteps.map((at) => between(trained, at)), config.finalSigma === 'zero' ? 0 : trained[0]!];
  }

  scaled(sample: Float32Array): Float32Array {
    return sample;
  }

  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const here = sharesOf(this.#sigmas[index]!);
    const next = sharesOf(this.#sigmas[index + 1]!);
    const { predictionType } = this.#config;
    const clean = sample.map((value, place) => cleanOf(predictionType, output[place]!, value, here.signal, here.noise));
    const before = this.#before;
    this.#before = clean;
    const isLast = index === this.timesteps.length - 1;
    const width = next.ratio - here.ratio;
    // At no noise the width is infinite, and what is left is the clean sample.
    const move = next.noise === 0 ? 0 : next.noise / here.noise;
    const pull = next.signal * -Math.expm1(-width);
    if (!before || (isLast && (next.noise === 0 || this.timesteps.length < FEW_STEPS)))
      return sample.map((value, place) => move * value + pull * clean[place]!);
    const behind = here.ratio - sharesOf(this.#sigmas[index - 1]!).ratio;
    const bend = width / behind / 2;
    return sample.map((value, place) => move * value + pull * (clean[place]! + bend * (clean[place]! - before[place]!)));
  }

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    const here = sharesOf(this.#sigmas[index]!);
    return clean.map((value, place) => here.signal * value + here.noise * noise[place]!);
  }
}

/** The two shares of a sample, and half the logarithm of their ratio squared. */
function sharesOf(sigma: number): { signal: number; noise: number; ratio: number } {
  const signal = 1 / Math.sqrt(sigma * sigma + 1);
  return { signal, noise: sigma * signal, ratio: -Math.log(sigma) };
}

/** As many steps plus one are spread over the training steps, and the last place, where nothing is left to do, is not one. */
function placesOf({ trainSteps, timestepSpacing = 'linspace', stepsOffset }: NoiseConfig, steps: number): number[] {
  const rows = Array.from({ length: steps }, (_, index) => index);
  if (timestepSpacing === 'linspace') return rows.map((index) => roundHalfEven(((steps - index) * (trainSteps - 1)) / steps));
  if (timestepSpacing === 'trailing') return rows.map((index) => roundHalfEven(trainSteps - (index * trainSteps) / steps) - 1);
  const ratio = Math.floor(trainSteps / (steps + 1));
  return rows.map((index) => Math.min((steps - index) * ratio + stepsOffset, trainSteps - 1));
}

/** The scheduler `dpm++`. */
export const dpmMultistep: SchedulerKind = {
  name: 'dpm++',
  className: 'DPMSolverMultistepScheduler',
  make: (config, steps) => new DpmMultistep(config, steps),
};
