import { scalePixels } from '../../pictures/codec.js';
import { type Pixels, turnRight } from '../../pictures/picture.js';
import type { Tensor } from '../onnx/contract.js';
import { imageTensor } from '../onnx/image-input.js';
import type { ImageSettings } from './settings.js';

type Size = Pick<Pixels, 'width' | 'height'>;

/** An image as the encoder's `pixel_values`. */
export async function encoderInput(pixels: Pixels, settings: ImageSettings): Promise<Tensor> {
  const { width, height, fit, align, mean, deviation } = settings;
  const lies = align && ((width < height && pixels.width > pixels.height) || (width > height && pixels.width < pixels.height));
  // What is large is made small before it is turned.
  const shown = async (size: Size): Promise<Pixels> =>
    lies ? turnRight(await scalePixels(pixels, size.height, size.width)) : scalePixels(pixels, size.width, size.height);
  const whole = lies ? { width: pixels.height, height: pixels.width } : pixels;
  const fitted = fit ? onGround(await shown(fittedSize(whole, { width, height })), width, height) : await shown({ width, height });
  return imageTensor(fitted, 3, { mean, deviation, order: 'rgb' });
}

/**
 * The size of a whole image on its ground, rounded as in training: its shorter side first takes the length of the ground's shorter one, then
 * the image is made smaller until it fits.
 */
function fittedSize(image: Size, ground: Size): Size {
  const shorter = Math.min(ground.width, ground.height);
  const grown = (length: number): number => Math.trunc((shorter * length) / Math.min(image.width, image.height));
  const full = { width: grown(image.width), height: grown(image.height) };
  const [width, height] = [Math.min(full.width, ground.width), Math.min(full.height, ground.height)];
  if (width === full.width && height === full.height) return full;
  if (full.height > full.width) return { width: Math.max(1, Math.trunc((full.width * height) / full.height)), height };
  return { width, height: Math.max(1, Math.trunc((full.height * width) / full.width)) };
}

/** An image in the middle of a black ground. */
function onGround(inner: Pixels, width: number, height: number): Pixels {
  const data = new Uint8Array(width * height * 3);
  const [left, top] = [Math.floor((width - inner.width) / 2), Math.floor((height - inner.height) / 2)];
  for (let row = 0; row < inner.height; row += 1) {
    const from = row * inner.width * 3;
    data.set(inner.data.subarray(from, from + inner.width * 3), ((top + row) * width + left) * 3);
  }
  return { width, height, channels: 3, data };
}
