import type { NoiseConfig, Scheduler, SchedulerKind } from './contract.js';
import { cleanOf, signalLeft, spreadTimesteps } from './noise.js';

/** Denoising diffusion implicit models (Song et al. 2020), without noise of its own (eta = 0). */
class Ddim implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma = 1;
  readonly #config: NoiseConfig;
  readonly #left: Float64Array;
  readonly #stride: number;

  constructor(config: NoiseConfig, steps: number) {
    this.#config = config;
    this.#left = signalLeft(config);
    this.timesteps = spreadTimesteps(config, steps, 'leading', true);
    this.#stride = Math.floor(config.trainSteps / steps);
  }

  scaled(sample: Float32Array): Float32Array {
    return sample;
  }

  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const { predictionType, setAlphaToOne, clipSample, clipRange } = this.#config;
    const at = this.timesteps[index]!;
    const next = at - this.#stride;
    const left = this.#left[at]!;
    const leftNext = next >= 0 ? this.#left[next]! : setAlphaToOne ? 1 : this.#left[0]!;
    const [signal, noise] = [Math.sqrt(left), Math.sqrt(1 - left)];
    const [signalNext, noiseNext] = [Math.sqrt(leftNext), Math.sqrt(1 - leftNext)];
    return sample.map((value, place) => {
      const whole = cleanOf(predictionType, output[place]!, value, signal, noise);
      const guess = predictionType === 'v_prediction' ? signal * output[place]! + noise * value : (value - signal * whole) / noise;
      const clean = clipSample ? Math.min(Math.max(whole, -clipRange), clipRange) : whole;
      return signalNext * clean + noiseNext * guess;
    });
  }

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    const left = this.#left[this.timesteps[index]!]!;
    return clean.map((value, place) => Math.sqrt(left) * value + Math.sqrt(1 - left) * noise[place]!);
  }
}

/** The scheduler `ddim`. */
export const ddim: SchedulerKind = { name: 'ddim', className: 'DDIMScheduler', make: (config, steps) => new Ddim(config, steps) };
