import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';
import type { ImageJob, ImageProgress } from '../engines/contracts/images.js';
import type { DiffusionClient } from '../engines/diffusion/client.js';
import { graphBytes } from '../formats/onnx/graph-bytes.js';
import type { FoundRepository } from '../models/find/contract.js';
import { findRepository } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';
import { type ImageWishes, imageJob } from './settings.js';

/** What makes images where nobody says. */
const GENERATION_MODEL = 'stabilityai/stable-diffusion-xl-base-1.0';
/** What fills in where nobody says. */
const EDIT_MODEL = 'runwayml/stable-diffusion-inpainting';
const INDEX = 'model_index.json';

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

/** The name of the model that a request without one means; `DEFAULT_IMAGE_MODEL` of the environment where it is set. */
export function defaultImageModel(isEdit: boolean, env: NodeJS.ProcessEnv = process.env): string {
  return isEdit ? EDIT_MODEL : env.DEFAULT_IMAGE_MODEL || GENERATION_MODEL;
}

/** Bytes of the graphs that a pipeline opens, of all that its folder holds. */
async function sizeOf({ folder, id, quantisation }: FoundRepository): Promise<number> {
  const { PipelineFolder } = await import('../engines/diffusion/pipeline-folder.js');
  return graphBytes(new PipelineFolder(folder, id, quantisation).graphs());
}

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
