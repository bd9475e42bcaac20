import type { SchedulerKind } from './contract.js';
import { SigmaScheduler } from './sigma.js';

const ORDER = 4;
/** Places and weights of Gauss-Legendre integration over [-1, 1]; two points are exact for the cubic polynomials here. */
const POINTS = [-1 / Math.sqrt(3), 1 / Math.sqrt(3)] as const;

/** Linear multistep: the line of the newest directions is continued over the step (Adams-Bashforth with uneven steps). */
class Lms extends SigmaScheduler {
  #directions: Float32Array[] = [];

  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    this.#directions = [this.direction(output, index, sample), ...this.#directions.slice(0, ORDER - 1)];
    const weights = this.#directions.map((_, back) => this.#weight(index, back));
    return sample.map((value, place) => weights.reduce((sum, weight, back) => sum + weight * this.#directions[back]![place]!, value));
  }

  /** The integral over the step of the Lagrange polynomial that is 1 at the direction `back` steps ago and 0 at the others. */
  #weight(index: number, back: number): number {
    const [from, to] = [this.sigmas[index]!, this.sigmas[index + 1]!];
    const polynomial = (at: number): number =>
      this.#directions.reduce((product, _, other) => {
        if (other === back) return product;
        const place = this.sigmas[index - other]!;
        return (product * (at - place)) / (this.sigmas[index - back]! - place);
      }, 1);
    const half = (to - from) / 2;
    return half * POINTS.reduce((sum, point) => sum + polynomial((from + to) / 2 + half * point), 0);
  }
}

/** The scheduler `lms`. */
export const lms: SchedulerKind = { name: 'lms', className: 'LMSDiscreteScheduler', make: (config, steps) => new Lms(config, steps) };
