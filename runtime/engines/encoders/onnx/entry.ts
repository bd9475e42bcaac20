import { Failure } from '../../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../../hosts/protocol.js';
import type { CallBody, OpenBody } from './client.js';
import { LoadedEncoder } from './loaded-encoder.js';

/** The encoder engine of a host process: `open` once, then any number of the other calls. */
class EncoderEngine implements HostedEngine {
  #encoder: LoadedEncoder | undefined;

  async call(method: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    if (method === 'open') {
      this.#encoder = await LoadedEncoder.open(body as OpenBody);
      return this.#encoder.opened;
    }
    const encoder = this.#encoder;
    if (!encoder) throw new Failure('unavailable', 'The model is not loaded yet.');
    const call = body as CallBody;
    if (method === 'embed') return encoder.embed(call, signal);
    if (method === 'score') return encoder.score(call, signal);
    if (method === 'entities') return encoder.entities(call, signal);
    throw new Failure('internal', `The encoder engine has no method ${method}.`);
  }

  async close(): Promise<void> {
    await this.#encoder?.close();
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => new EncoderEngine();
