import { Failure } from '../../../../schemas/errors.js';
import { jsonExcerpt, unsupported } from '../pipeline-folder.js';
import type { NoiseConfig } from './contract.js';

const TRAIN_LIMIT = 100_000;
/** Schedulers of networks that were trained in another way than by adding noise with a schedule of betas; after `diffusers` 0.42.1. */
const FOREIGN =
  /^(?:Flow|EDM|CM|ScoreSde|VQDiffusion|Amused|DDPMWuerstchen|UnCLIP|KarrasVe|CosineDPM|Cogvideo|BlockRefinement|Helios|LTX|SCM|IPNDM|Piflow|MiniMax|RFD4|ConsistencyDecoder|DiscreteDDIM|EntropyBound)/i;

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
  return new Failure('invalid', `scheduler_config.json: ${name} is ${jsonExcerpt(value)}; ${allowed}.`, {
    code: 'InvalidModelFile',
  });
}

/** Throws `bad_request` naming what a model was trained with, where nothing here follows it. */
function refuseForeign(className: unknown, timestepType: unknown): void {
  const file = 'its scheduler/scheduler_config.json has';
  if (typeof className === 'string' && FOREIGN.test(className)) throw unsupported(`${file} _class_name ${jsonExcerpt(className)}`);
  if (className === 'EulerDiscreteScheduler' && (timestepType ?? 'discrete') !== 'discrete')
    throw unsupported(`${file} timestep_type ${jsonExcerpt(timestepType)}`);
}

/** What `dpm++` solves; other classes have a member of the same name with values of their own. */
function algorithmOf({ _class_name: className, algorithm_type: value }: Readonly<Record<string, unknown>>): NoiseConfig['algorithm'] {
  if (className !== 'DPMSolverMultistepScheduler' || value === 'deis') return 'dpmsolver++';
  return oneOf('algorithm_type', value, ['dpmsolver++', 'sde-dpmsolver++', 'dpmsolver', 'sde-dpmsolver'], 'dpmsolver++');
}

/** Which of the two ways of spacing deviations a file asks for, if any. */
function sigmaSpacing(file: Readonly<Record<string, unknown>>): NoiseConfig['sigmaSpacing'] {
  if (file.use_karras_sigmas === true) return 'karras';
  return file.use_exponential_sigmas === true ? 'exponential' : 'trained';
}

function trainedBetas(value: unknown, trainSteps: number): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.length === trainSteps && value.every((beta) => typeof beta === 'number' && beta >= 0 && beta < 1))
    return value as number[];
  throw fault('trained_betas', value, `a list of ${trainSteps} numbers from 0 to below 1 is needed`);
}

/**
 * The members of a `scheduler_config.json` that matter, with the defaults of its format. Throws `invalid` naming the member, `bad_request` where a
 * model was trained in another way.
 */
export function noiseConfig(file: Readonly<Record<string, unknown>>): NoiseConfig {
  const spacing = file.timestep_spacing ?? undefined;
  const className = file._class_name;
  refuseForeign(className, file.timestep_type);
  const trainSteps = Math.floor(number('num_train_timesteps', file.num_train_timesteps, 1, TRAIN_LIMIT, 1000));
  // Consistency models leave out what their own class takes for granted.
  const isConsistency = className === 'LCMScheduler';
  // Classes that have no such member may carry it along, with any value.
  const originalSteps = isConsistency || className === 'TCDScheduler' ? file.original_inference_steps : undefined;
  return {
    trainSteps,
    betaStart: number('beta_start', file.beta_start, 0, 1, isConsistency ? 0.00085 : 0.0001),
    betaEnd: number('beta_end', file.beta_end, 0, 1, isConsistency ? 0.012 : 0.02),
    betaSchedule: oneOf(
      'beta_schedule',
      file.beta_schedule,
      ['linear', 'scaled_linear', 'squaredcos_cap_v2'],
      isConsistency ? 'scaled_linear' : 'linear',
    ),
    trainedBetas: trainedBetas(file.trained_betas, trainSteps),
    zeroEnd: file.rescale_betas_zero_snr === true,
    predictionType: oneOf('prediction_type', file.prediction_type, ['epsilon', 'v_prediction', 'sample'], 'epsilon'),
    timestepSpacing:
      spacing === undefined ? undefined : oneOf('timestep_spacing', spacing, ['leading', 'linspace', 'trailing'] as const, 'leading'),
    stepsOffset: Math.floor(number('steps_offset', file.steps_offset, 0, TRAIN_LIMIT, 0)),
    // Left out, it means true, but for the one class whose own default is false.
    setAlphaToOne: typeof file.set_alpha_to_one === 'boolean' ? file.set_alpha_to_one : file._class_name !== 'PNDMScheduler',
    clipSample: file.clip_sample === true,
    clipRange: number('clip_sample_range', file.clip_sample_range, 0, 1000, 1),
    finalSigma: oneOf('final_sigmas_type', file.final_sigmas_type, ['zero', 'sigma_min'], 'zero'),
    sigmaSpacing: sigmaSpacing(file),
    algorithm: algorithmOf(file),
    isFirstOrder: file.solver_order === 1,
    lowerLast: file.lower_order_final !== false,
    eulerLast: file.euler_at_final === true,
    originalSteps: Math.floor(number('original_inference_steps', originalSteps, 1, trainSteps, Math.min(50, trainSteps))),
    timestepScaling: number('timestep_scaling', isConsistency ? file.timestep_scaling : undefined, 0, 1e6, 10),
  };
}
