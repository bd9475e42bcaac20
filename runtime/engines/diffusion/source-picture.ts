import { Failure } from '../../../schemas/errors.js';
import { decodePicture, resamplePixels, transparencyMask } from '../../pictures/codec.js';
import type { Pixels } from '../../pictures/picture.js';
import type { LatentShape } from './unet.js';

/** The picture that a job changes, in the size of the result. */
export async function sourcePixels(bytes: Uint8Array, width: number, height: number): Promise<Pixels> {
  return resamplePixels(await decodePicture({ name: 'image', bytes }), width, height);
}

/** Where a picture is changed, 0 to 1 per pixel: where the mask is transparent, else where it is light. */
export async function maskPixels(bytes: Uint8Array, width: number, height: number): Promise<Float32Array> {
  const picture = { name: 'mask', bytes };
  return maskShares((await transparencyMask(picture)) ?? (await decodePicture(picture)), width, height);
}

/** Where a picture that has no mask is changed: where it is transparent. Throws `invalid` where it is transparent nowhere. */
export async function ownMaskPixels(bytes: Uint8Array, width: number, height: number): Promise<Float32Array> {
  const found = await transparencyMask({ name: 'image', bytes });
  if (found) return maskShares(found, width, height);
  throw new Failure('invalid', 'mask is missing, and image is transparent nowhere; send a mask, or an image with transparent places.');
}

async function maskShares(picture: Pixels, width: number, height: number): Promise<Float32Array> {
  const { data } = await resamplePixels(picture, width, height);
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
export function composePicture(made: Pixels, before: Pixels, mask: Float32Array): Pixels {
  const data = made.data.map((value, at) => {
    const share = mask[Math.floor(at / 3)]!;
    return Math.round(value * share + before.data[at]! * (1 - share));
  });
  return { ...made, data };
}
