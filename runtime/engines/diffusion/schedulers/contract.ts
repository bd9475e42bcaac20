/** How a model was trained to be denoised: the members of `scheduler_config.json` that matter here. */
export interface NoiseConfig {
  readonly trainSteps: number;
  readonly betaStart: number;
  readonly betaEnd: number;
  readonly betaSchedule: 'linear' | 'scaled_linear' | 'squaredcos_cap_v2';
  /** One beta per training step, instead of the schedule. */
  readonly trainedBetas?: readonly number[] | undefined;
  /** The last training step has no signal at all (Lin et al. 2023). */
  readonly zeroEnd: boolean;
  /** What the network gives: the noise, the velocity, or the clean sample. */
  readonly predictionType: 'epsilon' | 'v_prediction' | 'sample';
  /** How timesteps lie between the ends; absent = what the scheduler itself prefers. */
  readonly timestepSpacing?: 'leading' | 'linspace' | 'trailing' | undefined;
  readonly stepsOffset: number;
  /** The step after the last has no noise at all, else that of the first training step. */
  readonly setAlphaToOne: boolean;
  readonly clipSample: boolean;
  readonly clipRange: number;
  /** Where `dpm++` ends. */
  readonly finalSigma: 'zero' | 'sigma_min';
  /** How deviations lie between the ends where a scheduler works on them; `trained` = as at evenly spread timesteps. */
  readonly sigmaSpacing: 'trained' | 'karras' | 'exponential';
  /** What `dpm++` solves: for clean samples or for noise (without `++`), with fresh noise at every step (`sde-`) or without. */
  readonly algorithm: 'dpmsolver++' | 'sde-dpmsolver++' | 'dpmsolver' | 'sde-dpmsolver';
  /** `dpm++` looks at no earlier step. */
  readonly isFirstOrder: boolean;
  /** With few steps, `dpm++` takes the last one by itself. */
  readonly lowerLast: boolean;
  /** The same with any number of steps. */
  readonly eulerLast: boolean;
  /** Steps of the run that a consistency model was made from. */
  readonly originalSteps: number;
  /** How fast `lcm` stops to trust the sample itself. */
  readonly timestepScaling: number;
}

/** One run of denoising; steps are taken once each, in order, from any index on. */
export interface Scheduler {
  /** What the network is told at each step, falling. */
  readonly timesteps: readonly number[];
  /** Standard deviation of the noise that a run begins with. */
  readonly initSigma: number;
  /** All steps lie within the share of the noise that was asked for, so an image that is sent back goes through all of them. */
  readonly isShortened?: boolean;
  /** The sample as the network wants it at a step. */
  scaled(sample: Float32Array, index: number): Float32Array;
  /** The sample after a step; `noise` gives fresh normal values, as many as the sample has, where a scheduler needs them. */
  step(output: Float32Array, index: number, sample: Float32Array, noise: () => Float32Array): Float32Array;
  /** A clean sample with the noise of a step. */
  noised(clean: Float32Array, noise: Float32Array, index: number): Float32Array;
}

/** A way of denoising. */
export interface SchedulerKind {
  readonly name: string;
  /** The class of the same method in `scheduler_config.json` files. */
  readonly className: string;
  /** `share` is that of the noise to begin with, for those that spread their steps over it; the others spread them over all. */
  make(config: NoiseConfig, steps: number, share?: number): Scheduler;
}
