import { Failure } from '../../../../schemas/errors.js';
import type { NoiseConfig } from './contract.js';

const TRAIN_LIMIT = 100_000;

function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], otherwise: T): T {
  if (value === undefined || value === null) return otherwise;
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw fault(name, value, `the ones that are supported are ${allowed.join(', ')}`);
}

function number(name: string, value: unknown, least: number, most: number, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw fault(name, value, `a number from ${least} to ${most} is needed`);
}

function fault(name: string, value: unknown, allowed: string): Failure {
  return new Failure('invalid', `scheduler_config.json: ${name} is ${JSON.stringify(value)?.slice(0, 80)}; ${allowed}.`, {
    code: 'InvalidModelFile',
  });
}

/** The members of a `scheduler_config.json` that matter, with the defaults of its format. Throws `invalid` naming the member. */
export function noiseConfig(file: Readonly<Record<string, unknown>>): NoiseConfig {
  const spacing = file.timestep_spacing ?? undefined;
  return {
    trainSteps: Math.floor(number('num_train_timesteps', file.num_train_timesteps, 1, TRAIN_LIMIT, 1000)),
    betaStart: number('beta_start', file.beta_start, 0, 1, 0.0001),
    betaEnd: number('beta_end', file.beta_end, 0, 1, 0.02),
    betaSchedule: oneOf('beta_schedule', file.beta_schedule, ['linear', 'scaled_linear', 'squaredcos_cap_v2'], 'linear'),
    predictionType: oneOf('prediction_type', file.prediction_type, ['epsilon', 'v_prediction', 'sample'], 'epsilon'),
    timestepSpacing:
      spacing === undefined ? undefined : oneOf('timestep_spacing', spacing, ['leading', 'linspace', 'trailing'] as const, 'leading'),
    stepsOffset: Math.floor(number('steps_offset', file.steps_offset, 0, TRAIN_LIMIT, 0)),
    // Left out, it means true, but for the one class whose own default is false.
    setAlphaToOne: typeof file.set_alpha_to_one === 'boolean' ? file.set_alpha_to_one : file._class_name !== 'PNDMScheduler',
    clipSample: file.clip_sample === true,
    clipRange: number('clip_sample_range', file.clip_sample_range, 0, 1000, 1),
    finalSigma: oneOf('final_sigmas_type', file.final_sigmas_type, ['zero', 'sigma_min'], 'zero'),
  };
}
