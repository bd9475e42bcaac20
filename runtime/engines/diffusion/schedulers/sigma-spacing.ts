import type { NoiseConfig } from './contract.js';

/** How strongly small deviations are preferred (Karras et al. 2022, equation 5). */
const RHO = 7;

/** `count` deviations from `most` down to `least`. */
export function spacedSigmas(
  spacing: Exclude<NoiseConfig['sigmaSpacing'], 'trained'>,
  most: number,
  least: number,
  count: number,
): number[] {
  const [to, from] = spacing === 'karras' ? [(value: number) => value ** (1 / RHO), (value: number) => value ** RHO] : [Math.log, Math.exp];
  const [first, last] = [to(most), to(least)];
  return Array.from({ length: count }, (_, index) => from(count === 1 ? first : first + ((last - first) * index) / (count - 1)));
}

/** The timestep at which the trained deviations are as large as `sigma`, between two of them in their logarithm. */
export function timestepOf(trained: Float64Array, sigma: number): number {
  if (trained.length === 1) return 0;
  const above = trained.findIndex((one) => one > sigma);
  const low = Math.min(Math.max(above < 0 ? trained.length : above - 1, 0), trained.length - 2);
  const [from, to] = [Math.log(trained[low]!), Math.log(trained[low + 1]!)];
  return low + Math.min(1, Math.max(0, (Math.log(sigma) - from) / (to - from)));
}
