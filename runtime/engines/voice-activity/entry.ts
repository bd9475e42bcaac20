import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/protocol.js';
import type { OnnxSession, Tensor } from '../onnx/contract.js';
import { openSession } from '../onnx/session.js';
import { SILERO_FRAME, SILERO_RATE, type SileroCall } from './client.js';

/** Samples of the frame before that the graph sees, too. */
const CONTEXT = 64;
const STATE = [2, 1, 128] as const;

/** What the graph remembers of one stream. */
interface Stream {
  readonly input: Float32Array;
  state: Float32Array;
}

const stateOf = (data: Float32Array): Tensor => ({ type: 'float32', dims: STATE, data });
const begun = (): Stream => ({ input: new Float32Array(CONTEXT + SILERO_FRAME), state: new Float32Array(STATE[0] * STATE[1] * STATE[2]) });

/** Makes the engine of this process: Silero's detector of speech for any number of streams, which each have a state of one kilobyte. */
export const openEngine: OpenEngine = () => {
  const streams = new Map<number, Stream>();
  let session: OnnxSession | undefined;

  async function probability(graph: OnnxSession, stream: Stream, frame: Float32Array): Promise<number> {
    stream.input.copyWithin(0, SILERO_FRAME);
    stream.input.set(frame, CONTEXT);
    const { output, stateN } = await graph.run({
      input: { type: 'float32', dims: [1, stream.input.length], data: stream.input },
      state: stateOf(stream.state),
      sr: { type: 'int64', dims: [], data: BigInt64Array.of(BigInt(SILERO_RATE)) },
    });
    stream.state = Float32Array.from(stateN!.data as Float32Array);
    return (output!.data as Float32Array)[0]!;
  }

  return {
    async call(method, body) {
      if (method === 'open') {
        const { graph } = body as { graph: string };
        session = await openSession(graph, { threads: 1, provider: 'cpu' });
        return { devices: session.providers.used };
      }
      if (!session) throw new Failure('unavailable', 'The detector of speech is not loaded yet.');
      const { stream: id, samples } = body as SileroCall;
      if (method === 'forget') {
        streams.delete(id);
        return undefined;
      }
      if (method !== 'hear') throw new Failure('internal', `A detector of speech has no method ${method}.`);
      const stream = streams.get(id) ?? begun();
      streams.set(id, stream);
      const probabilities = new Float32Array(samples.length / SILERO_FRAME);
      for (let frame = 0; frame < probabilities.length; frame++)
        probabilities[frame] = await probability(session, stream, samples.subarray(frame * SILERO_FRAME, (frame + 1) * SILERO_FRAME));
      return probabilities;
    },
    close: () => session?.close(),
  };
};
