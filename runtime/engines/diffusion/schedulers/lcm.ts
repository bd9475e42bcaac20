import type { NoiseConfig, Scheduler, SchedulerKind } from './contract.js';
import { cleanOf, signalLeft } from './noise.js';

/** Deviation of the data that the weights of `Lcm` are made for. */
const DATA = 0.5;

/** Sampling of latent consistency models (Luo et al. 2023): every step guesses the clean sample, and adds fresh noise for the next one. */
class Lcm implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma = 1;
  readonly isShortened: boolean;
  readonly #config: NoiseConfig;
  readonly #left: Float64Array;

  constructor(config: NoiseConfig, steps: number, share: number) {
    this.#config = config;
    this.#left = signalLeft(config);
    this.isShortened = share < 1;
    this.timesteps = placesOf(config, steps, share);
  }

  scaled(sample: Float32Array): Float32Array {
    return sample;
  }

  step(output: Float32Array, index: number, sample: Float32Array, noise: () => Float32Array): Float32Array {
    const { predictionType, clipSample, clipRange, timestepScaling } = this.#config;
    const at = this.timesteps[index]!;
    const left = this.#left[at]!;
    const [signal, spoilt] = [Math.sqrt(left), Math.sqrt(1 - left)];
    const scaled = at * timestepScaling;
    const keep = DATA ** 2 / (scaled ** 2 + DATA ** 2);
    const pull = scaled / Math.sqrt(scaled ** 2 + DATA ** 2);
    const clean = sample.map((value, place) => {
      const whole = cleanOf(predictionType, output[place]!, value, signal, spoilt);
      return pull * (clipSample ? Math.min(Math.max(whole, -clipRange), clipRange) : whole) + keep * value;
    });
    return index === this.timesteps.length - 1 ? clean : this.noised(clean, noise(), index + 1);
  }

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    const left = this.#left[this.timesteps[index]!]!;
    return clean.map((value, place) => Math.sqrt(left) * value + Math.sqrt(1 - left) * noise[place]!);
  }
}

/** Steps of the run that the model was made from, or of its end, evenly chosen; where more are asked for than it has there, of a finer run. */
function placesOf({ trainSteps, originalSteps }: NoiseConfig, steps: number, share: number): number[] {
  const base = Math.floor(originalSteps * share) >= steps ? originalSteps : Math.max(originalSteps, Math.ceil(steps / share));
  const all = Math.min(trainSteps, base);
  const stride = Math.floor(trainSteps / all);
  const most = Math.max(Math.floor(all * share), Math.min(all, steps));
  return Array.from({ length: steps }, (_, index) => Math.max(0, (most - Math.floor((index * most) / steps)) * stride - 1));
}

/** The scheduler `lcm`. */
export const lcm: SchedulerKind = {
  name: 'lcm',
  className: 'LCMScheduler',
  make: (config, steps, share = 1) => new Lcm(config, steps, share),
};
