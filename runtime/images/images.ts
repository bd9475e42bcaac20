import { randomInt } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';
import type { ImageFormat, ImageJob, ImageProgress } from '../engines/contracts/images.js';
import type { DiffusionClient } from '../engines/diffusion/client.js';
import { graphBytes } from '../formats/onnx/graph-bytes.js';
import type { FoundRepository } from '../models/find/contract.js';
import { findRepository } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';

/** Share of the usual steps. */
const QUALITY_STEPS = { low: 0.5, medium: 1, standard: 1, auto: 1, high: 2, hd: 2 };
/** Share of the usual guidance: more of it gives stronger colours and contrasts, and keeps closer to the prompt. */
const STYLE_GUIDANCE = { vivid: 1.4, natural: 0.7 };
const GUIDANCE_LIMIT = 20;
const DEFAULT_STEPS = 50;
const DEFAULT_GUIDANCE = 7.5;
const DEFAULT_SIZE = '1024x1024';

/** What a request says; the rest comes from the project, then from here. */
interface ImageWishes {
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

/** A request for images, and how the project wants its model used. */
export interface ImageRequest {
  readonly model?: string | undefined;
  readonly wishes: ImageWishes;
  readonly defaults?: DiffusionConfig | undefined;
  /** `auto`, `cpu`, `cuda`, ... */
  readonly device?: string | undefined;
}

/** Images under way; everything that can fail before the first step has been checked when this exists. */
export interface OpenedImages {
  readonly model: string;
  readonly job: ImageJob;
  /** Made once. Aborting the request's signal ends the work between two steps. */
  run(onProgress: (progress: ImageProgress) => void): Promise<Uint8Array[]>;
  /** Gives the model back unused; nothing after `run`. */
  release(): void;
}

/** What fills in where nobody says. */
const EDIT_MODEL = 'runwayml/stable-diffusion-inpainting';
const INDEX = 'model_index.json';

/** Makes and changes images with the diffusion models of this machine. */
export class Images {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  /** Finds and loads the model. Throws `not_found` that says how to fetch it where its weights are not here, `bad_request`, `invalid`. */
  async open(request: ImageRequest, signal: AbortSignal): Promise<OpenedImages> {
    const { wishes, defaults, device = 'auto' } = request;
    const job = imageJob(wishes, defaults);
    const model = request.model ?? defaultImageModel(wishes.mask !== undefined);
    const { engine, release } = await this.#hold(model, device, signal);
    const { scale } = engine.info;
    if (job.width % scale !== 0 || job.height % scale !== 0) {
      release();
      throw new Failure('bad_request', `size is ${job.width}x${job.height}; both sides must be multiples of ${scale} for ${model}.`);
    }
    const run = (onProgress: (progress: ImageProgress) => void): Promise<Uint8Array[]> =>
      engine.generate(job, onProgress, signal).finally(release);
    return { model, job, run, release };
  }

  async #hold(model: string, device: string, signal: AbortSignal): Promise<Held<DiffusionClient>> {
    const found = await this.#find(model);
    const sizeBytes = await sizeOf(found);
    const { id, quantisation, folder, notes } = found;
    const key = `diffusion:${id}${quantisation === null ? '' : `:quant${quantisation}`}${device === 'auto' ? '' : `:${device}`}`;
    return this.#models.hold(
      {
        key,
        type: 'diffusion',
        name: model,
        sizeBytes,
        load: async (circuit, stop) => {
          const { DiffusionClient } = await import('../engines/diffusion/client.js');
          return DiffusionClient.load({ name: model, id, quantisation, folder, device, notes, circuit }, stop);
        },
      },
      signal,
    );
  }

  async #find(model: string): Promise<FoundRepository> {
    const found = await findRepository(model, this.#models.places);
    if (found.files.includes(INDEX)) return found;
    throw new Failure('bad_request', `${model} is no image model: its folder has no ${INDEX}. Name a diffusers-style ONNX repository.`, {
      code: 'WrongModelType',
    });
  }
}

/** Of a variation, and of an edit: what the mask covers is made anew. */
const DEFAULT_STRENGTH = 0.75;
const STEP_LIMIT = 150;
const SIDE_LIMIT = 2048;
const SEED_RANGE = 2 ** 32;

/** A job with everything filled in: the request's word counts, then the project's, then the usual. Throws `bad_request` for what passes a limit. */
function imageJob(wishes: ImageWishes, defaults: DiffusionConfig = {}): ImageJob {
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

/** To three places, so that the answer shows a number that can be sent again. */
function styled(guidance: number, style: keyof typeof STYLE_GUIDANCE): number {
  const changed = Math.round(guidance * STYLE_GUIDANCE[style] * 1000) / 1000;
  return Math.min(GUIDANCE_LIMIT, Math.max(1, changed));
}

function sides(size: string): { width: number; height: number } {
  const [width, height] = size.split('x').map(Number) as [number, number];
  const fits = (side: number): boolean => Number.isInteger(side) && side >= 1 && side <= SIDE_LIMIT;
  if (fits(width) && fits(height)) return { width, height };
  throw new Failure('bad_request', `size is ${size}; give <width>x<height> with sides from 1 to ${SIDE_LIMIT} pixels.`);
}

/** What makes images where nobody says. */
const GENERATION_MODEL = 'stabilityai/stable-diffusion-xl-base-1.0';

/** The name of the model that a request without one means; `DEFAULT_IMAGE_MODEL` of the environment where it is set. */
function defaultImageModel(isEdit: boolean, env: NodeJS.ProcessEnv = process.env): string {
  return isEdit ? EDIT_MODEL : env.DEFAULT_IMAGE_MODEL || GENERATION_MODEL;
}

/** Bytes of the graphs that a pipeline opens, of all that its folder holds. */
async function sizeOf({ folder, id, quantisation }: FoundRepository): Promise<number> {
  const { PipelineFolder } = await import('../engines/diffusion/pipeline-folder.js');
  return graphBytes(new PipelineFolder(folder, id, quantisation).graphs());
}
