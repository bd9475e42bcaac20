import { randomInt } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';
import type { ImageFormat, ImageJob } from '../engines/diffusion/contract.js';

/** What a request says; the rest comes from the project, then from here. */
export interface ImageWishes {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly count?: number | undefined;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  readonly steps?: number | undefined;
  readonly guidance?: number | undefined;
  readonly seed?: number | undefined;
  readonly scheduler?: string | undefined;
  readonly format?: ImageFormat | undefined;
  readonly image?: Uint8Array | undefined;
  readonly mask?: Uint8Array | undefined;
  readonly strength?: number | undefined;
}

const DEFAULT_STEPS = 50;
const DEFAULT_GUIDANCE = 7.5;
const DEFAULT_SIZE = '1024x1024';
/** Of a variation, and of an edit: what the mask covers is made anew. */
const DEFAULT_STRENGTH = 0.75;
const STEP_LIMIT = 150;
const SIDE_LIMIT = 2048;
const SEED_RANGE = 2 ** 32;

function sides(size: string): { width: number; height: number } {
  const [width, height] = size.split('x').map(Number) as [number, number];
  const fits = (side: number): boolean => Number.isInteger(side) && side >= 1 && side <= SIDE_LIMIT;
  if (fits(width) && fits(height)) return { width, height };
  throw new Failure('bad_request', `size is ${size}; give <width>x<height> with sides from 1 to ${SIDE_LIMIT} pixels.`);
}

/** A job with everything filled in: the request's word counts, then the project's, then the usual. Throws `bad_request` for what passes a limit. */
export function imageJob(wishes: ImageWishes, defaults: DiffusionConfig = {}): ImageJob {
  const { prompt, negativePrompt = '', count = 1, format = 'png', image, mask } = wishes;
  const steps = wishes.steps ?? defaults.default_steps ?? DEFAULT_STEPS;
  if (steps > STEP_LIMIT) throw new Failure('bad_request', `diffusion.default_steps is ${steps}; at most ${STEP_LIMIT} are taken.`);
  return {
    prompt,
    negativePrompt,
    count,
    format,
    image,
    mask,
    steps,
    guidance: wishes.guidance ?? defaults.default_guidance ?? DEFAULT_GUIDANCE,
    ...sides(wishes.size ?? defaults.default_size ?? DEFAULT_SIZE),
    scheduler: wishes.scheduler ?? defaults.scheduler,
    optimise: defaults.enable_optimizations ?? false,
    seed: wishes.seed ?? randomInt(SEED_RANGE),
    strength: wishes.strength ?? (mask ? 1 : DEFAULT_STRENGTH),
  };
}
