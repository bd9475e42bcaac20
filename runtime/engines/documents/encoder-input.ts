import { scaled } from '../../pictures/codec.js';
import type { Pixels } from '../../pictures/picture.js';
import { imageTensor } from '../ocr/feed.js';
import type { Tensor } from '../onnx/contract.js';
import type { ImageSettings } from './settings.js';

/** An image as the encoder's `pixel_values`. */
export async function encoderInput(pixels: Pixels, settings: ImageSettings): Promise<Tensor> {
  const { width, height, fit, mean, deviation } = settings;
  const fitted = fit ? await onGround(pixels, width, height) : await scaled(pixels, width, height);
  return imageTensor(fitted, 3, { mean, deviation, order: 'rgb' });
}

/** The whole image as large as it fits, in the middle of a black ground. */
async function onGround(pixels: Pixels, width: number, height: number): Promise<Pixels> {
  const ratio = Math.min(width / pixels.width, height / pixels.height);
  const size = (length: number, most: number): number => Math.max(1, Math.min(most, Math.round(length * ratio)));
  const inner = await scaled(pixels, size(pixels.width, width), size(pixels.height, height));
  const data = new Uint8Array(width * height * 3);
  const [left, top] = [Math.floor((width - inner.width) / 2), Math.floor((height - inner.height) / 2)];
  for (let row = 0; row < inner.height; row += 1) {
    const from = row * inner.width * 3;
    data.set(inner.data.subarray(from, from + inner.width * 3), ((top + row) * width + left) * 3);
  }
  return { width, height, channels: 3, data };
}
