import type { SchedulerKind } from './contract.js';
import { Multistep, type Shares } from './multistep.js';
import { cleanOf } from './noise.js';

/** A sample before a step, and what is needed to take the step once more. */
interface Taken {
  readonly sample: Float32Array;
  readonly order: 1 | 2;
}

/**
 * UniPC of second order (Zhao et al. 2023, the variant B2): a step of DPM-Solver++, which is taken once more, with what the network saw at its
 * end, before the next one.
 */
class UniPc extends Multistep {
  /** Clean samples that the network saw, the newest first. */
  #seen: Float32Array[] = [];
  #taken: Taken | undefined;

  step(output: Float32Array, index: number, sample: Float32Array): Float32Array {
    const { predictionType, isFirstOrder, lowerLast } = this.config;
    const here = this.at(index);
    const clean = sample.map((value, place) => cleanOf(predictionType, output[place]!, value, here.signal, here.noise));
    const from = this.#taken ? this.#again(this.#taken, clean, index) : sample;
    this.#seen = [clean, ...this.#seen.slice(0, 1)];
    const next = this.at(index + 1);
    const isLast = index === this.timesteps.length - 1;
    const order = this.#seen.length < 2 || isFirstOrder || (isLast && (lowerLast || next.noise === 0)) ? 1 : 2;
    this.#taken = { sample: from, order };
    const { keep, pull } = moveOf(here, next);
    if (order === 1) return from.map((value, place) => keep * value + pull * clean[place]!);
    const before = this.#seen[1]!;
    const bend = (next.ratio - here.ratio) / (here.ratio - this.at(index - 1).ratio) / 2;
    return from.map((value, place) => keep * value + pull * (clean[place]! + bend * (clean[place]! - before[place]!)));
  }

  /** The step that led to `index`, knowing the clean sample there. */
  #again({ sample, order }: Taken, clean: Float32Array, index: number): Float32Array {
    const [from, to] = [this.at(index - 1), this.at(index)];
    const { keep, pull } = moveOf(from, to);
    const [first, before] = this.#seen as [Float32Array, Float32Array];
    if (order === 1) return sample.map((value, place) => keep * value + (pull * (first[place]! + clean[place]!)) / 2);
    const width = from.ratio - to.ratio;
    const place1 = (this.at(index - 2).ratio - from.ratio) / -width;
    const [older, newer] = weightsOf(width, place1);
    return sample.map((value, place) => {
      const slope = (before[place]! - first[place]!) / place1;
      return keep * value + pull * (first[place]! + older * slope + newer * (clean[place]! - first[place]!));
    });
  }
}

/** What a first-order step makes of the sample and of the clean one. */
function moveOf(here: Shares, next: Shares): { keep: number; pull: number } {
  if (next.noise === 0) return { keep: 0, pull: next.signal };
  return { keep: next.noise / here.noise, pull: next.signal * -Math.expm1(here.ratio - next.ratio) };
}

/** Weights of the slope before a step and of that within it, for both to fit a line and a parabola; `width` is below 0. */
function weightsOf(width: number, place: number): [older: number, newer: number] {
  const whole = Math.expm1(width);
  const line = whole / width - 1;
  const parabola = (line / width - 1 / 2) * 2;
  const older = (line - parabola) / whole / (1 - place);
  return [older, line / whole - older];
}

/** The scheduler `unipc`. */
export const unipc: SchedulerKind = {
  name: 'unipc',
  className: 'UniPCMultistepScheduler',
  make: (config, steps) => new UniPc(config, steps),
};
