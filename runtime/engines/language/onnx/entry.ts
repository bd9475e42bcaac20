import { Failure } from '../../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../../hosts/protocol.js';
import type { PrepareRequest } from '../../contracts/language.js';
import type { GenerateBody, HostEvent } from '../wire.js';
import type { OpenBody } from './load.js';
import { LoadedExport } from './loaded-export.js';

/** The text-generation engine of a host process for ONNX exports: `open` once, then any number of the other calls. */
class ExportEngine implements HostedEngine {
  readonly #emit: (event: HostEvent) => void;
  #model: LoadedExport | undefined;

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  async call(method: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    if (method === 'open') {
      const { model, opened } = await LoadedExport.open(body as OpenBody, this.#emit);
      this.#model = model;
      return opened;
    }
    const model = this.#model;
    if (!model) throw new Failure('unavailable', 'The model is not loaded yet.');
    if (method === 'prepare') return model.prompts.prepare(body as PrepareRequest, signal);
    if (method === 'render') return model.prompts.render(body as PrepareRequest, signal);
    if (method === 'textsOf') return model.textsOf(body as Int32Array[]);
    if (method === 'countTokens') return model.countTokens(body as string[]);
    if (method === 'generate') return model.generate(body as GenerateBody);
    if (method === 'abort') return model.abort(body as number);
    if (method === 'stats') return model.stats();
    throw new Failure('internal', `The text engine has no method ${method}.`);
  }

  close(): void {}
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = (emit) => new ExportEngine(emit as (event: HostEvent) => void);
