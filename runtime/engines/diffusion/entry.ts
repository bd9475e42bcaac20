import { Failure } from '../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../hosts/protocol.js';
import type { GenerateBody, OpenBody, OpenedPipeline, ProgressEvent } from './client.js';
import { Pipeline } from './pipeline.js';
import { PipelineFolder } from './pipeline-folder.js';

/** The image engine of a host process: `open` once, then one `generate` after the other. */
class DiffusionEngine implements HostedEngine {
  readonly #emit: (event: ProgressEvent) => void;
  #pipeline: Pipeline | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(emit: (event: ProgressEvent) => void) {
    this.#emit = emit;
  }

  call(method: string, body: unknown, signal: AbortSignal): unknown {
    if (method === 'open') return this.#open(body as OpenBody);
    if (method !== 'generate') throw new Failure('internal', `The image engine has no method ${method}.`);
    const pipeline = this.#pipeline;
    if (!pipeline) throw new Failure('unavailable', 'The model is not loaded yet.');
    const { id, job } = body as GenerateBody;
    const done = this.#last.then(() => {
      signal.throwIfAborted();
      return pipeline.generate(job, (progress) => this.#emit({ id, ...progress }), signal);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#pipeline?.close();
  }

  async #open({ id, quantisation, folder, threads, provider }: OpenBody): Promise<OpenedPipeline> {
    this.#pipeline = await Pipeline.open(new PipelineFolder(folder, id, quantisation), { threads, provider, shapesVary: true });
    const { scale, scheduler, providers } = this.#pipeline;
    return { scale, scheduler, devices: providers };
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = (emit) => new DiffusionEngine(emit as (event: ProgressEvent) => void);
