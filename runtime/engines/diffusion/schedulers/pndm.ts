import type { NoiseConfig, Scheduler, SchedulerKind } from './contract.js';
import { signalLeft, spreadTimesteps } from './noise.js';

/** Weights of the newest noise and those before it, by how many are known (Adams-Bashforth). */
const WEIGHTS = [[1], [3 / 2, -1 / 2], [23 / 12, -16 / 12, 5 / 12], [55 / 24, -59 / 24, 37 / 24, -9 / 24]] as const;

/** Pseudo linear multistep (Liu et al. 2022, PLMS): its first step is taken twice, the second time with the mean of both answers. */
class Pndm implements Scheduler {
  readonly timesteps: readonly number[];
  readonly initSigma = 1;
  readonly #config: NoiseConfig;
  readonly #left: Float64Array;
  readonly #stride: number;
  #outputs: Float32Array[] = [];
  #steps = 0;
  #first: Float32Array | undefined;

  constructor(config: NoiseConfig, steps: number) {
    this.#config = config;
    this.#left = signalLeft(config);
    this.#stride = Math.floor(config.trainSteps / steps);
    const [noisiest, ...rest] = spreadTimesteps(config, steps, 'leading', true) as [number, ...number[]];
    this.timesteps = rest.length === 0 ? [noisiest] : [noisiest, rest[0]!, ...rest];
  }

  scaled(sample: Float32Array): Float32Array {
    return sample;
  }

  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const at = this.timesteps[index]!;
    const count = this.#steps;
    this.#steps += 1;
    if (count === 1) {
      const before = this.#outputs[0]!;
      const mean = output.map((value, place) => (value + before[place]!) / 2);
      return this.#move(this.#first!, mean, at + this.#stride, at);
    }
    this.#outputs = [output, ...this.#outputs.slice(0, 3)];
    if (count === 0) this.#first = sample;
    const weights = WEIGHTS[this.#outputs.length - 1]!;
    const mixed = output.map((_, place) => weights.reduce((sum, weight, back) => sum + weight * this.#outputs[back]![place]!, 0));
    return this.#move(sample, mixed, at, at - this.#stride);
  }

  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array {
    const left = this.#left[this.timesteps[index]!]!;
    return clean.map((value, place) => Math.sqrt(left) * value + Math.sqrt(1 - left) * noise[place]!);
  }

  /** Equation 9 of the paper. */
  #move(sample: Float32Array, output: Float32Array, from: number, to: number): Float32Array {
    const left = this.#left[Math.min(from, this.#left.length - 1)]!;
    const leftNext = to >= 0 ? this.#left[to]! : this.#config.setAlphaToOne ? 1 : this.#left[0]!;
    const [signal, noise] = [Math.sqrt(left), Math.sqrt(1 - left)];
    const scale = Math.sqrt(leftNext / left);
    const divisor = left * Math.sqrt(1 - leftNext) + Math.sqrt(left * (1 - left) * leftNext);
    const { predictionType } = this.#config;
    return sample.map((value, place) => {
      const given = output[place]!;
      const answer =
        predictionType === 'epsilon'
          ? given
          : predictionType === 'sample'
            ? (value - signal * given) / noise
            : signal * given + noise * value;
      return scale * value - ((leftNext - left) * answer) / divisor;
    });
  }
}

/** The scheduler `pndm`. */
export const pndm: SchedulerKind = { name: 'pndm', className: 'PNDMScheduler', make: (config, steps) => new Pndm(config, steps) };
