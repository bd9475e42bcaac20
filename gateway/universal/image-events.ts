import { log } from '../../runtime/base/log.js';
import type { ImageProgress } from '../../runtime/engines/contracts/images.js';
import type { OpenedImages } from '../../runtime/images/images.js';
import type { Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';

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
