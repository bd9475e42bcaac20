import type { NoiseConfig, Scheduler } from './contract.js';
import { cleanOf, interpolate, sigmasOf, signalLeft, spacedSigmas, spreadTimesteps, timestepOf } from './noise.js';

/** What the schedulers share that see a sample as a clean one plus noise of a known deviation (Karras et al. 2022). */
export abstract class SigmaScheduler implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma: number;
  /** One per step, and a last 0. */
  protected readonly sigmas: readonly number[];
  readonly #config: NoiseConfig;

  constructor(config: NoiseConfig, steps: number) {
    this.#config = config;
    const trained = sigmasOf(signalLeft(config));
    const even = spreadTimesteps(config, steps, 'linspace', false);
    const sigmas = even.map((at) => interpolate(trained, at));
    const spacing = this.followsSpacing ? config.sigmaSpacing : 'trained';
    if (spacing === 'trained') {
      this.timesteps = even;
      this.sigmas = [...sigmas, 0];
    } else {
      const spaced = spacedSigmas(spacing, sigmas[0]!, sigmas.at(-1)!, steps);
      this.timesteps = spaced.map((sigma) => timestepOf(trained, sigma));
      this.sigmas = [...spaced, 0];
    }
    const most = Math.max(...this.sigmas);
    this.initSigma = config.timestepSpacing === 'leading' ? Math.sqrt(most * most + 1) : most;
  }

  scaled(sample: Float32Array, index: number): Float32Array {
    const divisor = Math.sqrt(this.sigmas[index]! ** 2 + 1);
    return sample.map((value) => value / divisor);
  }

  /** Whether it takes the spacing of deviations that the model was published with. */
  protected get followsSpacing(): boolean {
    return true;
  }

  abstract step(output: Float32Array, index: number, sample: Float32Array, noise: () => Float32Array): Float32Array;

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    return clean.map((value, place) => value + this.sigmas[index]! * noise[place]!);
  }

  /** Where the sample moves per unit of sigma. */
  protected direction(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const sigma = this.sigmas[index]!;
    const scale = Math.sqrt(sigma * sigma + 1);
    return sample.map((value, place) => {
      const clean = this.#clean(output[place]!, value, sigma, scale);
      return (value - clean) / sigma;
    });
  }

  #clean(output: number, value: number, sigma: number, scale: number): number {
    const { predictionType } = this.#config;
    // In these units the signal has its full size; the network saw it divided by `scale`.
    return predictionType === 'v_prediction'
      ? cleanOf(predictionType, output, value / scale, 1 / scale, sigma / scale)
      : cleanOf(predictionType, output, value, 1, sigma);
  }
}
