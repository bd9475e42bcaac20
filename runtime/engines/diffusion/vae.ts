import type { Pixels } from '../../pictures/picture.js';
import type { OnnxSession } from '../onnx/contract.js';
import { pipelineFault } from './pipeline-folder.js';
import { tensorFor, valuesOf } from './tensors.js';
import type { LatentShape } from './unet.js';

/** Bounds of the logarithms of variances, as in training. */
const LOG_VARIANCE = [-30, 20] as const;
/** Half of the range of a channel: networks count from -1 to 1. */
const HALF = 127.5;

/** How latents are scaled between the network and the decoder. */
export interface LatentScale {
  readonly factor: number;
  readonly shift: number;
}

/** The picture of a latent. */
export async function decodeLatent(session: OnnxSession, latent: Float32Array, shape: LatentShape, scale: LatentScale): Promise<Pixels> {
  const { name } = session.inputs[0]!;
  const values = latent.map((value) => value / scale.factor + scale.shift);
  const output = session.outputs[0]!.name;
  const feeds = { [name]: tensorFor(session, name, [1, shape.channels, shape.height, shape.width], values) };
  const { dims, values: picture } = valuesOf(await session.run(feeds, [output]), output, 'decoder');
  const [, channels, height, width] = dims;
  if (dims.length !== 4 || channels !== 3) throw pipelineFault(session.file, `gives the shape [${dims.join(', ')}]`);
  const size = height! * width!;
  const data = new Uint8Array(size * 3);
  for (let place = 0; place < size; place += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      const value = (picture[channel * size + place]! + 1) * HALF;
      data[place * 3 + channel] = Math.min(255, Math.max(0, Math.round(value)));
    }
  }
  return { width: width!, height: height!, channels: 3, data };
}

/** The latent of a picture; `masked` places, where it is 1, are seen as gray. */
export async function encodePicture(
  session: OnnxSession,
  pixels: Pixels,
  channels: number,
  scale: LatentScale,
  noise: (count: number) => Float32Array,
  masked?: Float32Array,
): Promise<Float32Array> {
  const { width, height, data } = pixels;
  const size = width * height;
  const values = new Float32Array(size * 3);
  for (let place = 0; place < size; place += 1)
    for (let channel = 0; channel < 3; channel += 1)
      values[channel * size + place] = masked && masked[place]! >= 0.5 ? 0 : data[place * 3 + channel]! / HALF - 1;
  const { name } = session.inputs[0]!;
  const output = session.outputs[0]!.name;
  const { dims, values: found } = valuesOf(
    await session.run({ [name]: tensorFor(session, name, [1, 3, height, width], values) }, [output]),
    output,
    'encoder',
  );
  const scaledOf = (latent: Float32Array): Float32Array => latent.map((value) => (value - scale.shift) * scale.factor);
  if (dims[1] === channels) return scaledOf(found);
  // Some exports give mean and logarithm of the variance instead of a drawn latent.
  if (dims[1] !== channels * 2) throw pipelineFault(session.file, `gives the shape [${dims.join(', ')}]`);
  const half = found.length / 2;
  const drawn = noise(half);
  const mean = found.subarray(0, half);
  const deviation = (place: number): number => Math.exp(Math.min(LOG_VARIANCE[1], Math.max(LOG_VARIANCE[0], found[half + place]!)) / 2);
  return scaledOf(mean.map((value, place) => value + deviation(place) * drawn[place]!));
}
