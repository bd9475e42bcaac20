import type { SchedulerKind } from './contract.js';
import { SigmaScheduler } from './sigma.js';

/** Steps too far down, then adds fresh noise up to the next deviation. */
class EulerAncestral extends SigmaScheduler {
  protected override get followsSpacing(): boolean {
    return false;
  }

  step(output: Float32Array, index: number, sample: Float32Array, noise: () => Float32Array): Float32Array {
    const direction = this.direction(output, index, sample);
    const [from, to] = [this.sigmas[index]!, this.sigmas[index + 1]!];
    const up = Math.sqrt((to ** 2 * (from ** 2 - to ** 2)) / from ** 2);
    const length = Math.sqrt(to ** 2 - up ** 2) - from;
    const fresh = up > 0 ? noise() : undefined;
    return sample.map((value, place) => value + direction[place]! * length + (fresh ? fresh[place]! * up : 0));
  }
}

/** The scheduler `euler_a`. */
export const eulerAncestral: SchedulerKind = {
  name: 'euler_a',
  className: 'EulerAncestralDiscreteScheduler',
  make: (config, steps) => new EulerAncestral(config, steps),
};
