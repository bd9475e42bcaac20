import type { NoiseConfig, Scheduler } from './contract.js';
import { sigmasOf, signalLeft } from './noise.js';
import { placesOf, type Shares, sharesOf } from './noise-shares.js';

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
