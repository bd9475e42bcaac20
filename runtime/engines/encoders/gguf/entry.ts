import { Failure } from '../../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../../hosts/protocol.js';
import type { EncoderEmbedBody, EncoderOpenBody } from './client.js';
import { LoadedEmbedding } from './loaded-embedding.js';

/** The embedding engine of a host process: `open` once, then any number of `embed`. */
class EmbeddingEngine implements HostedEngine {
  #model: LoadedEmbedding | undefined;

  call(method: string, body: unknown, signal: AbortSignal): unknown {
    if (method === 'open') return this.#open(body as EncoderOpenBody);
    if (!this.#model) throw new Failure('unavailable', 'The model is not loaded yet.');
    if (method === 'embed') return this.#model.embed(body as EncoderEmbedBody, signal);
    throw new Failure('internal', `The embedding engine has no method ${method}.`);
  }

  async close(): Promise<void> {
    await this.#model?.close();
  }

  async #open(body: EncoderOpenBody): Promise<unknown> {
    const { model, opened } = await LoadedEmbedding.open(body);
    this.#model = model;
    return opened;
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => new EmbeddingEngine();
