import type { NoiseConfig } from './contract.js';
import { between, roundHalfEven } from './noise.js';
import { spacedSigmas, timestepOf } from './sigma-spacing.js';

/** What a sample at some deviation consists of. */
export interface Shares {
  readonly signal: number;
  readonly noise: number;
  /** The logarithm of signal over noise. */
  readonly ratio: number;
}

/** The two shares of a sample, and the logarithm of their ratio. */
export function sharesOf(sigma: number): Shares {
  const signal = 1 / Math.sqrt(sigma * sigma + 1);
  return { signal, noise: sigma * signal, ratio: -Math.log(sigma) };
}

/** Timesteps and deviations: evenly spread timesteps, or deviations spaced from the noisiest training step down to the first. */
export function placesOf(config: NoiseConfig, trained: Float64Array, steps: number): { timesteps: number[]; sigmas: number[] } {
  const { sigmaSpacing } = config;
  if (sigmaSpacing === 'trained') {
    const timesteps = evenPlaces(config, steps);
    return { timesteps, sigmas: timesteps.map((at) => between(trained, at)) };
  }
  const sigmas = spacedSigmas(sigmaSpacing, trained.at(-1)!, trained[0]!, steps);
  const timesteps = sigmas.map((sigma) => timestepOf(trained, sigma));
  return { timesteps: timesteps.map((at) => (sigmaSpacing === 'karras' ? roundHalfEven(at) : Math.floor(at))), sigmas };
}

/** As many steps plus one are spread over the training steps, and the last place, where nothing is left to do, is not one. */
function evenPlaces({ trainSteps, timestepSpacing = 'linspace', stepsOffset }: NoiseConfig, steps: number): number[] {
  const rows = Array.from({ length: steps }, (_, index) => index);
  if (timestepSpacing === 'linspace') return rows.map((index) => roundHalfEven(((steps - index) * (trainSteps - 1)) / steps));
  if (timestepSpacing === 'trailing') return rows.map((index) => roundHalfEven(trainSteps - (index * trainSteps) / steps) - 1);
  const ratio = Math.floor(trainSteps / (steps + 1));
  return rows.map((index) => Math.min((steps - index) * ratio + stepsOffset, trainSteps - 1));
}
