import type { Pixels } from '../../pictures/picture.js';
import type { Tensor, TensorSlot } from '../onnx/contract.js';

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

/** A dimension of an image input, where the graph fixes it. */
export function fixedDimension(slot: TensorSlot, axis: number): number | undefined {
  const dim = slot.dims[axis];
  return typeof dim === 'number' && dim > 0 ? dim : undefined;
}

/** An image as `[1, channels, height, width]`; `width` beyond the image's own goes on with its last column. */
export function imageTensor(pixels: Pixels, channels: 1 | 3, scale: Scale, width = pixels.width): Tensor {
  const { height, data } = pixels;
  const out = new Float32Array(channels * height * width);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
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
