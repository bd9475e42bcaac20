import { Failure } from '../../../schemas/errors.js';
import type { Pixels } from '../../pictures/picture.js';
import type { Tensor, TensorSlot } from './contract.js';

/** How colours become numbers: `(value / 255 - mean) / deviation` by channel, in the order that the network was trained with. */
export interface Scale {
  readonly mean: readonly [number, number, number];
  readonly deviation: readonly [number, number, number];
  readonly order: 'rgb' | 'bgr';
}

/** The usual scale of networks that began with ImageNet. */
export const IMAGENET: Scale = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225], order: 'rgb' };
/** From -1 to 1. */
export const CENTRED: Scale = { mean: [0.5, 0.5, 0.5], deviation: [0.5, 0.5, 0.5], order: 'rgb' };

/** How bright the eye finds a colour: ITU-R BT.601. */
const BRIGHTNESS = [0.299, 0.587, 0.114] as const;

/** Longest side of an image that a network sees: one of so many pixels in a square takes 250 MB to make ready. */
export const SIDE_LIMIT = 4096;

/** A size that a graph fixes, as far as it does. */
export type FixedSize = Readonly<Partial<Record<'height' | 'width', number>>>;

/** The size of an image input, where the graph fixes it. Throws `invalid` that names it and its file (as `OnnxSession.file`) for more than `SIDE_LIMIT`. */
export function fixedSize({ name, dims }: TensorSlot, file: string): FixedSize {
  const size: { height?: number; width?: number } = {};
  for (const [side, dim] of [
    ['height', dims[2]],
    ['width', dims[3]],
  ] as const) {
    if (typeof dim !== 'number' || dim < 1) continue;
    size[side] = dim;
    if (dim <= SIDE_LIMIT) continue;
    throw new Failure(
      'invalid',
      `${file} fixes the ${side} of its input "${name}" at ${dim} pixels; at most ${SIDE_LIMIT} are possible. Export the model with a smaller input.`,
      {
        code: 'InvalidModelFile',
      },
    );
  }
  return size;
}

/** What stands right of an image that is narrower than its network's input: its last column again, or zeros. */
export interface Beyond {
  readonly width: number;
  readonly fill: 'edge' | 'zeros';
}

/** An image as `[1, channels, height, width]`; `beyond` makes it wider. */
export function imageTensor(pixels: Pixels, channels: 1 | 3, scale: Scale, beyond?: Beyond): Tensor {
  const { height, data } = pixels;
  const width = beyond?.width ?? pixels.width;
  const filled = beyond?.fill === 'zeros' ? Math.min(width, pixels.width) : width;
  const out = new Float32Array(channels * height * width);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < filled; column += 1) {
      const from = (row * pixels.width + Math.min(column, pixels.width - 1)) * pixels.channels;
      for (let channel = 0; channel < channels; channel += 1) {
        const source = pixels.channels === 1 ? 0 : scale.order === 'bgr' ? 2 - channel : channel;
        const value =
          channels === 1 && pixels.channels === 3
            ? data[from]! * BRIGHTNESS[0] + data[from + 1]! * BRIGHTNESS[1] + data[from + 2]! * BRIGHTNESS[2]
            : data[from + source]!;
        out[(channel * height + row) * width + column] = (value / 255 - scale.mean[channel]!) / scale.deviation[channel]!;
      }
    }
  }
  return { type: 'float32', dims: [1, channels, height, width], data: out };
}
