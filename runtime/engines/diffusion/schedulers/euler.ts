import type { SchedulerKind } from './contract.js';
import { SigmaScheduler } from './sigma.js';

/** One straight line per step (Karras et al. 2022, algorithm 2 without churn and correction). */
class Euler extends SigmaScheduler {
  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const direction = this.direction(output, index, sample);
    const length = this.sigmas[index + 1]! - this.sigmas[index]!;
    return sample.map((value, place) => value + direction[place]! * length);
  }
}

/** The scheduler `euler`. */
export const euler: SchedulerKind = {
  name: 'euler',
  className: 'EulerDiscreteScheduler',
  make: (config, steps) => new Euler(config, steps),
};
