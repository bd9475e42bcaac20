import { Failure } from '../../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../../hosts/protocol.js';
import type { PrepareRequest } from '../../contracts/language.js';
import type { GenerateBody, HostEvent, RestoreBody, SaveBody } from '../wire.js';
import type { OpenBody } from './load.js';
import { LoadedGguf } from './model.js';

/** The GGUF engine of a host process: `open` once, then any number of the other calls. */
class GgufEngine implements HostedEngine {
  readonly #emit: (event: HostEvent) => void;
  #model: LoadedGguf | undefined;

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  call(method: string, body: unknown, signal: AbortSignal): unknown {
    if (method === 'open') return this.#open(body as OpenBody);
    const model = this.#model;
    if (!model) throw new Failure('unavailable', 'The model is not loaded yet.');
    switch (method) {
      case 'prepare':
        return this.#prepare(model, body as PrepareRequest, signal);
      case 'render':
        return model.prompts.render(body as PrepareRequest, signal);
      case 'textsOf':
        return model.textsOf(body as Int32Array[]);
      case 'countTokens':
        return model.countTokens(body as string[]);
      case 'generate':
        return model.generate(body as GenerateBody);
      case 'abort':
        return model.abort(body as number);
      case 'saveState':
        return model.states.save(body as SaveBody);
      case 'restoreState':
        return model.states.restore(body as RestoreBody);
      case 'dropState':
        return model.states.drop(body as string);
      case 'stats':
        return model.stats();
      default:
        throw new Failure('internal', `The GGUF engine has no method ${method}.`);
    }
  }

  async close(): Promise<void> {
    await this.#model?.close();
  }

  async #open(body: OpenBody): Promise<unknown> {
    const { model, opened } = await LoadedGguf.open(body, this.#emit);
    this.#model = model;
    return opened;
  }

  /** Gives a cancel that came in the same batch of messages its turn before the work is done. */
  async #prepare(model: LoadedGguf, request: PrepareRequest, signal: AbortSignal): Promise<unknown> {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return model.prompts.prepare(request, signal);
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = (emit) => new GgufEngine(emit);
