import type { NoiseConfig, Scheduler } from './contract.js';
import { interpolate, roundHalfEven, sigmasOf, signalLeft, spacedSigmas, timestepOf } from './noise.js';

/** What solvers of the DPM family have in common: their timesteps, and what a sample consists of at each. */
export abstract class Multistep implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma = 1;
  protected readonly config: NoiseConfig;
  /** Noise over signal per step, and where the last one leads. */
  readonly #sigmas: readonly number[];

  constructor(config: NoiseConfig, steps: number) {
    this.config = config;
    const trained = sigmasOf(signalLeft(config));
    const { timesteps, sigmas } = placesOf(config, trained, steps);
    this.timesteps = timesteps;
    this.#sigmas = [...sigmas, config.finalSigma === 'zero' ? 0 : trained[0]!];
  }

  abstract step(...given: Parameters<Scheduler['step']>): Float32Array;

  scaled(sample: Float32Array): Float32Array {
    return sample;
  }

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    const here = this.at(index);
    return clean.map((value, place) => here.signal * value + here.noise * noise[place]!);
  }

  /** What a sample consists of before a step; after the last one with one index more. */
  protected at(index: number): Shares {
    return sharesOf(this.#sigmas[index]!);
  }
}

/** What a sample at some deviation consists of. */
export interface Shares {
  readonly signal: number;
  readonly noise: number;
  /** The logarithm of signal over noise. */
  readonly ratio: number;
}

/** The two shares of a sample, and the logarithm of their ratio. */
function sharesOf(sigma: number): Shares {
  const signal = 1 / Math.sqrt(sigma * sigma + 1);
  return { signal, noise: sigma * signal, ratio: -Math.log(sigma) };
}

/** Timesteps and deviations: evenly spread timesteps, or deviations spaced from the noisiest training step down to the first. */
function placesOf(config: NoiseConfig, trained: Float64Array, steps: number): { timesteps: number[]; sigmas: number[] } {
  const { sigmaSpacing } = config;
  if (sigmaSpacing === 'trained') {
    const timesteps = evenPlaces(config, steps);
    return { timesteps, sigmas: timesteps.map((at) => interpolate(trained, at)) };
  }
  const sigmas = spacedSigmas(sigmaSpacing, trained.at(-1)!, trained[0]!, steps);
  const timesteps = sigmas.map((sigma) => timestepOf(trained, sigma));
  return { timesteps: timesteps.map((at) => (sigmaSpacing === 'karras' ? roundHalfEven(at) : Math.floor(at))), sigmas };
}

/** As many steps plus one are spread over the training steps, and the last place, where nothing is left to do, is not one. */
function evenPlaces({ trainSteps, timestepSpacing = 'linspace', stepsOffset }: NoiseConfig, steps: number): number[] {
  const rows = Array.from({ length: steps }, (_, index) => index);
  if (timestepSpacing === 'linspace') return rows.map((index) => roundHalfEven(((steps - index) * (trainSteps - 1)) / steps));
  if (timestepSpacing === 'trailing') return rows.map((index) => roundHalfEven(trainSteps - (index * trainSteps) / steps) - 1);
  const ratio = Math.floor(trainSteps / (steps + 1));
  return rows.map((index) => Math.min((steps - index) * ratio + stepsOffset, trainSteps - 1));
}
