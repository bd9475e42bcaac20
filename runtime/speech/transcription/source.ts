import { Failure, reworded } from '../../../schemas/errors.js';
import { decodeAudio } from '../decode/decode.js';

/** Names of files that hold samples of 16 bits at 16 kHz and nothing else. */
const RAW = /\.(?:pcm|raw)$/i;

/** Audio of any kind, a file or its bytes, as 16 kHz mono in pieces; what is wrong with it is told by its name. Throws as `decodeAudio` does. */
export async function* decodedAudio(
  input: string | Uint8Array,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Float32Array, void, undefined> {
  try {
    yield* decodeAudio(input, { signal, isRaw: RAW.test(name) });
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'bad_request' || error.kind === 'too_large'))
      throw reworded(error, `${name}: ${error.message}`);
    throw error;
  }
}
