import { decodePicture, resampled, transparencyOf } from '../../pictures/codec.js';
import type { Pixels } from '../../pictures/picture.js';
import type { LatentShape } from './unet.js';

/** The picture that a job changes, in the size of the result. */
export async function sourcePixels(bytes: Uint8Array, width: number, height: number): Promise<Pixels> {
  return resampled(await decodePicture({ name: 'image', bytes }), width, height);
}

/** Where a picture is changed, 0 to 1 per pixel: where the mask is transparent, else where it is light. */
export async function maskPixels(bytes: Uint8Array, width: number, height: number): Promise<Float32Array> {
  const picture = { name: 'mask', bytes };
  const found = (await transparencyOf(picture)) ?? (await decodePicture(picture));
  const { data } = await resampled(found, width, height);
  return Float32Array.from({ length: width * height }, (_, place) => data[place * 3]! / 255);
}

/** The mask per latent: 1 where any of its pixels is to change. */
export function maskLatents(
  mask: Float32Array,
  width: number,
  pixels: number,
  { height: rows, width: columns }: LatentShape,
): Float32Array {
  const out = new Float32Array(rows * columns);
  for (const [place, value] of mask.entries()) {
    if (value < 0.5) continue;
    out[Math.floor(Math.floor(place / width) / pixels) * columns + Math.floor((place % width) / pixels)] = 1;
  }
  return out;
}

/** The new picture where the mask is, the old one elsewhere. */
export function composed(made: Pixels, before: Pixels, mask: Float32Array): Pixels {
  const data = made.data.map((value, at) => {
    const share = mask[Math.floor(at / 3)]!;
    return Math.round(value * share + before.data[at]! * (1 - share));
  });
  return { ...made, data };
}
