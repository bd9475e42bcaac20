import { setImmediate as turn } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import { encodePixels } from '../../pictures/codec.js';
import type { Pixels } from '../../pictures/picture.js';
import type { ImageJob, ImageProgress } from '../contracts/images.js';
import type { OnnxOptions, ProviderFacts } from '../onnx/contract.js';
import { type LatentFacts, latentFacts, openSessions, type Sessions } from './graphs.js';
import { NormalNoise } from './normal-noise.js';
import { type PipelineFolder, pipelineFault, refuseUnknownParts, unsupported } from './pipeline-folder.js';
import { noiseConfig } from './schedulers/config.js';
import type { NoiseConfig, Scheduler } from './schedulers/contract.js';
import { schedulerOf } from './schedulers/index.js';
import { composePicture, maskLatents, maskPixels, ownMaskPixels, sourcePixels } from './source-picture.js';
import { PromptEncoder } from './text-encoder.js';
import { type Condition, concatFloats, type LatentShape, Unet } from './unet.js';
import { decodeLatent, encodePicture } from './vae.js';

/** What a job changes: the picture, and where. */
interface Source {
  readonly pixels: Pixels;
  readonly mask?: Float32Array;
  /** `mask` per latent. */
  readonly latentMask?: Float32Array;
}

/** Latents of a source, drawn for one image. */
interface SourceLatents extends Source {
  readonly clean: Float32Array;
  readonly extra?: Float32Array;
}

/** A diffusion pipeline in its host process: text to image, image to image, and filling in. */
export class Pipeline {
  readonly #sessions: Sessions;
  readonly #facts: LatentFacts;
  readonly #noise: NoiseConfig;
  readonly #className: string | undefined;
  readonly #prompts: PromptEncoder;
  readonly #unet: Unet;

  private constructor(folder: PipelineFolder, sessions: Sessions, noise: NoiseConfig, className: unknown) {
    this.#sessions = sessions;
    this.#facts = latentFacts(folder, sessions.unet);
    this.#noise = noise;
    this.#className = typeof className === 'string' ? className : undefined;
    this.#prompts = new PromptEncoder(folder, sessions);
    this.#unet = new Unet(sessions.unet);
    const { channels, inputs } = this.#facts;
    if (inputs !== channels && inputs !== maskedInputs(channels))
      throw unsupported(`its unet takes ${inputs} channels, and ${channels} or ${maskedInputs(channels)} are understood`);
  }

  /** Opens all parts. Throws `invalid` naming the file that is missing or wrong. */
  static async open(folder: PipelineFolder, options: OnnxOptions): Promise<Pipeline> {
    const index = folder.json('model_index.json');
    if (!index) throw pipelineFault('model_index.json', 'is missing');
    refuseUnknownParts(folder, index);
    const file = folder.json('scheduler', 'scheduler_config.json');
    if (!file) throw pipelineFault('scheduler/scheduler_config.json', 'is missing');
    const noise = noiseConfig(file);
    const sessions = await openSessions(folder, options);
    try {
      return new Pipeline(folder, sessions, noise, file._class_name);
    } catch (error) {
      await closeAll(sessions);
      throw error;
    }
  }

  get scale(): number {
    return this.#facts.pixels;
  }

  get scheduler(): string {
    return schedulerOf(undefined, this.#className).name;
  }

  get providers(): ProviderFacts {
    return this.#sessions.unet.providers;
  }

  /** Encoded images, one after the other; between two steps other messages get their turn, and an aborted job ends. */
  async generate(job: ImageJob, onProgress: (progress: ImageProgress) => void, signal: AbortSignal): Promise<Uint8Array[]> {
    this.#check(job);
    const source = await this.#source(job);
    const isGuided = job.guidance > 1 && !this.#unet.takesGuidance;
    const texts = await this.#prompts.encode(job.prompt, isGuided ? job.negativePrompt : undefined);
    const images: Uint8Array[] = [];
    for (let index = 0; index < job.count; index += 1) {
      const noise = new NormalNoise(job.seed + index);
      const pixels = await this.#image(job, texts, source, noise, (step, steps) => onProgress({ index, step, steps }), signal);
      images.push(await encodePixels(pixels, job.format, job.encodingQuality));
    }
    return images;
  }

  async close(): Promise<void> {
    await closeAll(this.#sessions);
  }

  #check({ width, height, image, mask }: ImageJob): void {
    const { pixels, channels, inputs } = this.#facts;
    if (width % pixels !== 0 || height % pixels !== 0)
      throw new Failure('bad_request', `size is ${width}x${height}; both must be multiples of ${pixels} for this model.`);
    if (image && !this.#sessions.encoder)
      throw new Failure('bad_request', 'This model has no vae_encoder, so it cannot change images; it can only make them.');
    if (inputs === maskedInputs(channels) && !(image && mask))
      throw new Failure('bad_request', 'This model only fills in: it needs an image and a mask (/v1/images/edits).');
  }

  #shape({ width, height }: ImageJob): LatentShape {
    const { channels, pixels } = this.#facts;
    return { channels, width: width / pixels, height: height / pixels };
  }

  async #source(job: ImageJob): Promise<Source | undefined> {
    const { image, mask, width, height } = job;
    if (!image) return undefined;
    const pixels = await sourcePixels(image, width, height);
    if (!mask) return { pixels };
    const where = mask === 'transparency' ? await ownMaskPixels(image, width, height) : await maskPixels(mask, width, height);
    return { pixels, mask: where, latentMask: maskLatents(where, width, this.#facts.pixels, this.#shape(job)) };
  }

  async #latents(source: Source, noise: NormalNoise): Promise<SourceLatents> {
    const { encoder } = this.#sessions;
    const { channels, inputs, scale } = this.#facts;
    const encode = (masked?: Float32Array) => encodePicture(encoder!, source.pixels, channels, scale, (count) => noise.take(count), masked);
    const clean = await encode();
    // A network that was trained to fill in sees the mask and the picture without what lies under it.
    if (inputs !== maskedInputs(channels) || !source.latentMask) return { ...source, clean };
    return { ...source, clean, extra: concatFloats([source.latentMask, await encode(source.mask)]) };
  }

  async #image(
    job: ImageJob,
    texts: Condition['texts'],
    source: Source | undefined,
    noise: NormalNoise,
    onStep: (step: number, steps: number) => void,
    signal: AbortSignal,
  ): Promise<Pixels> {
    const shape = this.#shape(job);
    const count = shape.channels * shape.height * shape.width;
    // Consistency models spread their steps over what an image is sent back through.
    const share = source && this.#unet.takesGuidance ? job.strength : 1;
    const scheduler = schedulerOf(job.scheduler, this.#className).make(this.#noise, job.steps, share);
    const from = source ? startOf(scheduler, job) : 0;
    const before = source && (await this.#latents(source, noise));
    const first = noise.take(count);
    let sample: Float32Array =
      before && (from > 0 || scheduler.isShortened)
        ? scheduler.noised(before.clean, first, from)
        : first.map((value) => value * scheduler.initSigma);
    const { width, height, guidance, optimise } = job;
    const guidanceInput = this.#unet.guidanceInput(guidance);
    const condition: Condition = {
      texts,
      guidance,
      guidanceInput,
      apart: optimise,
      sizes: [height, width, 0, 0, height, width],
      extra: before?.extra,
    };
    const steps = scheduler.timesteps.length - from;
    for (let index = from; index < scheduler.timesteps.length; index += 1) {
      await turn();
      signal.throwIfAborted();
      const output = await this.#unet.predict(scheduler.scaled(sample, index), shape, scheduler.timesteps[index]!, condition);
      sample = scheduler.step(output, index, sample, () => noise.take(count));
      if (before?.latentMask && !before.extra) sample = restoreOutsideMask(sample, before, scheduler, index + 1, first);
      onStep(index - from + 1, steps);
    }
    signal.throwIfAborted();
    const made = await decodeLatent(this.#sessions.decoder, sample, shape, this.#facts.scale);
    return before?.mask ? composePicture(made, before.pixels, before.mask) : made;
  }
}

/** Channels of a network that was trained to fill in: those of the sample, the mask, and those of the masked picture. */
const maskedInputs = (channels: number): number => channels * 2 + 1;

/** The first step of an image that is sent back through the share `strength` of the steps asked for; a scheduler may take one of them twice. */
function startOf({ timesteps, isShortened }: Scheduler, { steps, strength }: ImageJob): number {
  if (isShortened) return 0;
  return Math.min(timesteps.length - 1, Math.max(0, steps - Math.floor(steps * strength)));
}

/** Outside the mask, the picture as it is with the noise of the next step. */
function restoreOutsideMask(
  sample: Float32Array,
  before: SourceLatents,
  scheduler: Scheduler,
  next: number,
  noise: Float32Array,
): Float32Array {
  const original = next < scheduler.timesteps.length ? scheduler.noised(before.clean, noise, next) : before.clean;
  const mask = before.latentMask!;
  return sample.map((value, place) => (mask[place % mask.length] === 1 ? value : original[place]!));
}

async function closeAll({ text, text2, unet, decoder, encoder }: Sessions): Promise<void> {
  await Promise.all([text, text2, unet, decoder, encoder].map((session) => session?.close()));
}
