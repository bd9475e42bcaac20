import { readFile } from 'node:fs/promises';
import { log } from '../../runtime/base/log.js';
import { refuseAdaptersOf } from '../../runtime/completions/settings.js';
import type { ImageFormat, ImageProgress } from '../../runtime/engines/contracts/images.js';
import type { ImageRequest, OpenedImages } from '../../runtime/images/images.js';
import { imageBytes } from '../../runtime/pictures/from-text.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type FormBody, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';
import type { EditRequest, Image, ImageList, ImageOptions } from '../../schemas/generated/universal/images.js';

const frame = (type: string, members: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** The progress of a job on its way to a reader: only the newest is kept. */
class Running {
  readonly done: Promise<Uint8Array[]>;
  #newest: ImageProgress | undefined;
  #ended = false;
  #wake = (): void => {};

  constructor(opened: OpenedImages) {
    const run = opened.run((progress) => {
      this.#newest = progress;
      this.#wake();
    });
    this.done = run.finally(() => {
      this.#ended = true;
      this.#wake();
    });
    // Its failure is read at the end.
    this.done.catch(() => {});
  }

  /** The newest progress that was not given yet; undefined when the job has ended. */
  async next(): Promise<ImageProgress | undefined> {
    while (!this.#newest && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const newest = this.#newest;
    this.#newest = undefined;
    return newest;
  }
}

/** Starts the work, and gives it as events: progress per step, one event per finished image, then `[DONE]`. The events never throw. */
export function imageEvents(opened: OpenedImages, request: Request): AsyncGenerator<string, void, undefined> {
  return events(opened, new Running(opened), request);
}

async function* events(opened: OpenedImages, running: Running, request: Request): AsyncGenerator<string, void, undefined> {
  const { job } = opened;
  try {
    for (let progress = await running.next(); progress; progress = await running.next()) {
      const { index, step, steps } = progress;
      yield frame('image_generation.progress', { index, step, total_steps: steps, n: job.count });
    }
    for (const [index, bytes] of (await running.done).entries()) {
      yield frame('image_generation.completed', {
        index,
        b64_json: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
        created_at: Math.floor(Date.now() / 1000),
        size: `${job.width}x${job.height}`,
        output_format: job.format,
        revised_prompt: job.prompt,
        seed: job.seed + index,
      });
    }
  } catch (error) {
    if (!request.signal.aborted) log('error', 'a stream of images failed', { request: request.id, error });
    const failure = error instanceof Failure ? error : new Failure('internal', 'The images could not be made; try again.');
    yield frame('error', { error: { message: failure.message, type: failure.kind, code: failure.code ?? null } });
  }
  yield DONE;
}

/** Two images in base64, and the rest of a request. */
const BODY_LIMIT_BYTES = 72 * 1024 * 1024;
/** An image in a form; as much as the longest base64 of JSON holds. */
const FILE_LIMIT_BYTES = 24 * 1024 * 1024;
/** Longest prompt that a header repeats, in characters. */
const HEADER_PROMPT = 1000;
const RAW_TYPES: readonly [pattern: RegExp, format: ImageFormat][] = [
  [/\bimage\/png\b/i, 'png'],
  [/\bimage\/jpe?g\b/i, 'jpeg'],
  [/\bimage\/webp\b/i, 'webp'],
  [/\bimage\/\*/i, 'jpeg'],
];

/** How an image model gets an adapter: its graphs hold the weights. */
const FUSE = 'fuse it into the pipeline (fuse_lora of diffusers), export that to ONNX, and name the exported pipeline as the model';

type AnyRequest = Partial<EditRequest>;

/** The model of a request, with what a project says about it. */
interface ProjectImageModel {
  readonly model: string | undefined;
  readonly defaults?: DiffusionConfig | undefined;
  readonly device?: string | undefined;
}

/**
 * The image model that a project means: the one of that name, the one with that model id, or, where the request names none, its first model
 * with `diffusion` settings or of type `image`. Throws `not_found` where the project is not there.
 */
function projectImageModel(runtime: Runtime, project: string | undefined, model: string | undefined): ProjectImageModel {
  if (project === undefined) return { model };
  const [namespace, name] = project.split('/') as [string, string];
  const { models } = runtime.projects.load(namespace, name).config.runtime;
  const isImage = (one: (typeof models)[number]): boolean => one.diffusion !== undefined || one.transformers?.model_type === 'image';
  const found = model === undefined ? models.find(isImage) : models.find((one) => one.name === model || one.model === model);
  if (!found && model === undefined)
    throw new Failure(
      'bad_request',
      `The project ${project} has no image model; give one of its models "diffusion" settings, or name a model.`,
    );
  return { model: found?.model ?? model, defaults: found?.diffusion, device: found?.transformers?.device };
}

type Refusal = readonly [option: keyof ImageOptions, taken: readonly unknown[], why: string];

/** Options of the official API that nothing here can follow, what each may say all the same, and what to do instead. */
const REFUSALS: readonly Refusal[] = [
  ['background', ['auto', 'opaque'], 'images are opaque'],
  ['moderation', ['auto'], 'nothing is moderated here'],
  ['input_fidelity', ['low'], 'strength says how much of an image stays'],
  ['partial_images', [0], 'streams tell their steps and send finished images only'],
];

/** Throws `bad_request` for an option that would have no effect, so that nobody counts on it. */
function refuseOptions(body: ImageOptions): void {
  for (const [option, taken, why] of REFUSALS) {
    const value = body[option] ?? taken[0];
    if (taken.includes(value)) continue;
    const allowed = taken.map((one) => JSON.stringify(one)).join(' or ');
    throw new Failure('bad_request', `${option} ${JSON.stringify(value)} is not supported: ${why}. Leave it out, or send ${allowed}.`, {
      code: 'UnsupportedOption',
      errors: [{ type: 'unsupported', loc: ['body', option], msg: why, input: value }],
    });
  }
}

/** The format of raw bytes where the client accepts images by name; a client that accepts anything gets JSON. */
function rawFormat(request: Request, body: AnyRequest): ImageFormat | undefined {
  if ((body.n ?? 1) !== 1 || body.stream === true) return undefined;
  const accept = request.header('accept') ?? '';
  return RAW_TYPES.find(([pattern]) => pattern.test(accept))?.[1];
}

/** An image of a request: a file of its form, or text of its JSON. */
async function uploadedImage({ body, files }: Request, field: 'image' | 'mask'): Promise<Uint8Array | undefined> {
  const file = files.find((one) => one.field === field);
  if (file) return readFile(file.path);
  const text = (body as AnyRequest)[field];
  return text === undefined ? undefined : imageBytes(field, text);
}

async function imageRequest(runtime: Runtime, request: Request, format: ImageFormat | undefined, masked: boolean): Promise<ImageRequest> {
  const body = request.body as AnyRequest;
  refuseOptions(body);
  refuseAdaptersOf(FUSE, body, (body as { extra_body?: object }).extra_body);
  const [image, mask] = [await uploadedImage(request, 'image'), await uploadedImage(request, 'mask')];
  const { model, defaults, device } = projectImageModel(runtime, body.project ?? undefined, body.model ?? undefined);
  return {
    model,
    defaults,
    device,
    wishes: {
      prompt: body.prompt ?? '',
      negativePrompt: body.negative_prompt ?? undefined,
      count: body.n ?? undefined,
      size: body.size === 'auto' ? undefined : (body.size ?? undefined),
      steps: body.num_inference_steps ?? undefined,
      guidance: body.guidance_scale ?? undefined,
      seed: body.seed ?? undefined,
      scheduler: body.scheduler ?? undefined,
      format: format ?? body.output_format ?? undefined,
      compression: body.output_compression ?? undefined,
      quality: body.quality ?? undefined,
      style: body.style ?? undefined,
      image,
      mask: masked ? (mask ?? 'transparency') : undefined,
      strength: body.strength ?? undefined,
    },
  };
}

function renderImage({ job }: OpenedImages, bytes: Uint8Array, index: number, asUrl: boolean): Image {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const image = asUrl ? { url: `data:image/${job.format};base64,${base64}` } : { b64_json: base64 };
  return { ...image, revised_prompt: job.prompt, seed: job.seed + index };
}

async function answer(runtime: Runtime, request: Request, masked = false): Promise<Reply> {
  const body = request.body as AnyRequest;
  const format = rawFormat(request, body);
  const opened = await runtime.images.open(await imageRequest(runtime, request, format, masked), request.signal);
  if (body.stream === true) return { events: imageEvents(opened, request) };
  const images = await opened.run(() => {});
  if (format !== undefined) {
    const prompt = encodeURIComponent(Buffer.from(opened.job.prompt.slice(0, HEADER_PROMPT)).toString());
    return {
      bytes: images[0]!,
      contentType: `image/${format}`,
      headers: { 'x-prompt': prompt, 'x-model': encodeURIComponent(opened.model), 'x-seed': String(opened.job.seed) },
    };
  }
  const asUrl = body.response_format !== 'b64_json';
  const { job } = opened;
  const json: ImageList = {
    created: Math.floor(Date.now() / 1000),
    size: `${job.width}x${job.height}`,
    output_format: job.format,
    num_inference_steps: job.steps,
    guidance_scale: job.guidance,
    data: images.map((bytes, index) => renderImage(opened, bytes, index, asUrl)),
  };
  return { json };
}

const shared = {
  method: 'POST',
  tag: 'images',
  response: 'universal/images#ImageList',
  streams: true,
  errorShape: 'openai',
  bodyLimitBytes: BODY_LIMIT_BYTES,
  handler: (runtime: Runtime, request: Request): Promise<Reply> => answer(runtime, request),
} as const;

/** A form with `maxFiles` images. */
const form = (name: 'EditForm' | 'VariationForm', maxFiles: number): FormBody<Runtime> => ({
  form: `universal/images#${name}`,
  maxFiles,
  fileLimitBytes: FILE_LIMIT_BYTES,
});

/** Images from text, and changed images. */
export const imageEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    ...shared,
    path: '/v1/images/generations',
    id: 'create_image',
    access: 'users',
    summary: 'Make images from a prompt',
    body: 'universal/images#GenerationRequest',
    bodyLimitBytes: 1024 * 1024,
  }),
  endpoint({
    ...shared,
    path: '/v1/images/edits',
    id: 'edit_image',
    access: 'users',
    summary: 'Change the part of an image that a mask covers',
    body: 'universal/images#EditRequest',
    multipart: form('EditForm', 2),
    handler: (runtime, request) => answer(runtime, request, true),
  }),
  endpoint({
    ...shared,
    path: '/v1/images/variations',
    id: 'vary_image',
    access: 'users',
    summary: 'Make images like another',
    body: 'universal/images#VariationRequest',
    multipart: form('VariationForm', 1),
  }),
];
