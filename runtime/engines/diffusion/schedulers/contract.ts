/** How a model was trained to be denoised: the members of `scheduler_config.json` that matter here. */
export interface NoiseConfig {
  readonly trainSteps: number;
  readonly betaStart: number;
  readonly betaEnd: number;
  readonly betaSchedule: 'linear' | 'scaled_linear' | 'squaredcos_cap_v2';
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
}

/** One run of denoising; steps are taken once each, in order, from any index on. */
export interface Scheduler {
  /** What the network is told at each step, falling. */
  readonly timesteps: readonly number[];
  /** Standard deviation of the noise that a run begins with. */
  readonly initSigma: number;
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
  make(config: NoiseConfig, steps: number): Scheduler;
}
