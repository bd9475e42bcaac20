import { randomInt } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';
import type { ImageFormat, ImageJob } from '../engines/contracts/images.js';

/** What a request says; the rest comes from the project, then from here. */
export interface ImageWishes {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly count?: number | undefined;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  readonly steps?: number | undefined;
  readonly guidance?: number | undefined;
  /** Steps where `steps` says nothing. */
  readonly quality?: keyof typeof QUALITY_STEPS | undefined;
  /** Guidance where `guidance` says nothing. */
  readonly style?: keyof typeof STYLE_GUIDANCE | undefined;
  readonly seed?: number | undefined;
  readonly scheduler?: string | undefined;
  readonly format?: ImageFormat | undefined;
  /** Quality of jpeg and webp, 0 to 100. */
  readonly compression?: number | undefined;
  readonly image?: Uint8Array | undefined;
  readonly mask?: ImageJob['mask'];
  readonly strength?: number | undefined;
}

/** Share of the usual steps. */
const QUALITY_STEPS = { low: 0.5, medium: 1, standard: 1, auto: 1, high: 2, hd: 2 };
/** Share of the usual guidance: more of it gives stronger colours and contrasts, and keeps closer to the prompt. */
const STYLE_GUIDANCE = { vivid: 1.4, natural: 0.7 };
const GUIDANCE_LIMIT = 20;
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

/** To three places, so that the answer shows a number that can be sent again. */
function styled(guidance: number, style: keyof typeof STYLE_GUIDANCE): number {
  const changed = Math.round(guidance * STYLE_GUIDANCE[style] * 1000) / 1000;
  return Math.min(GUIDANCE_LIMIT, Math.max(1, changed));
}

/** Image libraries count from 1. */
function encodingQuality(format: ImageFormat, compression: number | undefined): number | undefined {
  if (compression === undefined || format !== 'png') return compression === undefined ? undefined : Math.max(1, compression);
  if (compression === 100) return undefined;
  throw new Failure(
    'bad_request',
    `output_compression is ${compression}; png takes 100 only. Ask for jpeg or webp (output_format, or the Accept header where that names an image type), or leave it out.`,
    {
      code: 'UnsupportedOption',
      errors: [{ type: 'unsupported', loc: ['body', 'output_compression'], msg: 'png takes 100 only', input: compression }],
    },
  );
}

/** A job with everything filled in: the request's word counts, then the project's, then the usual. Throws `bad_request` for what passes a limit. */
export function imageJob(wishes: ImageWishes, defaults: DiffusionConfig = {}): ImageJob {
  const { prompt, negativePrompt = '', count = 1, format = 'png', image, mask } = wishes;
  const { default_steps: usual = DEFAULT_STEPS, default_guidance: usualGuidance = DEFAULT_GUIDANCE } = defaults;
  if (usual > STEP_LIMIT) throw new Failure('bad_request', `diffusion.default_steps is ${usual}; at most ${STEP_LIMIT} are taken.`);
  return {
    prompt,
    negativePrompt,
    count,
    format,
    encodingQuality: encodingQuality(format, wishes.compression),
    image,
    mask,
    steps: wishes.steps ?? Math.min(STEP_LIMIT, Math.ceil(usual * QUALITY_STEPS[wishes.quality ?? 'auto'])),
    guidance: wishes.guidance ?? (wishes.style ? styled(usualGuidance, wishes.style) : usualGuidance),
    ...sides(wishes.size ?? defaults.default_size ?? DEFAULT_SIZE),
    scheduler: wishes.scheduler ?? defaults.scheduler,
    optimise: defaults.enable_optimizations ?? false,
    seed: wishes.seed ?? randomInt(SEED_RANGE),
    strength: wishes.strength ?? (mask ? 1 : DEFAULT_STRENGTH),
  };
}
