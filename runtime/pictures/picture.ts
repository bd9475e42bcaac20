import { readFile, stat } from 'node:fs/promises';
import { Failure } from '../../schemas/errors.js';

/** Pixels of one image at most: a decoder would need 160 MB for more. */
export const PIXEL_LIMIT = 40_000_000;
/** Encoded bytes of one image at most. */
export const PICTURE_BYTES = 64 * 1024 * 1024;

/** An encoded image: its bytes, or where they lie. Its content is untrusted. */
export interface Picture {
  /** For messages, such as `images[1]` or `scan.pdf, page 3`. */
  readonly name: string;
  readonly bytes?: Uint8Array;
  readonly path?: string;
}

/** What a picture holds, encoded. Throws `bad_request` that names it where it is empty or larger than a picture may be. */
export async function readPicture(picture: Picture): Promise<Uint8Array> {
  const { name, bytes, path } = picture;
  const size = await sizeOfPicture(picture);
  if (size > PICTURE_BYTES) throw pictureRefused(name, `has ${size} bytes; an image may have ${PICTURE_BYTES}.`);
  if (size === 0) throw pictureRefused(name, 'is empty.');
  return bytes ?? readFile(path!);
}

/** Encoded bytes of a picture, told without reading it. */
export async function sizeOfPicture({ bytes, path }: Picture): Promise<number> {
  return bytes?.length ?? (await stat(path!)).size;
}

/** The 400 of a picture; `why` follows its name. */
export function pictureRefused(name: string, why: string, cause?: unknown): Failure {
  return new Failure('bad_request', `${name} ${why}`, { code: 'BadImage', cause });
}

/** A decoded image: 8 bits a channel, RGB or gray, rows from the top without padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/** A picture of zeros. */
export const blank = (width: number, height: number, channels: 1 | 3): Pixels => ({
  width,
  height,
  channels,
  data: new Uint8Array(width * height * channels),
});

function movePixels(pixels: Pixels, width: number, height: number, from: (column: number, row: number) => number): Pixels {
  const { channels, data } = pixels;
  const out = blank(width, height, channels);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const [source, to] = [from(column, row) * channels, (row * width + column) * channels];
      for (let channel = 0; channel < channels; channel += 1) out.data[to + channel] = data[source + channel]!;
    }
  }
  return out;
}

/** Turned by a quarter, counter-clockwise. */
export function turnLeft(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return movePixels(pixels, height, width, (column, row) => column * width + (width - 1 - row));
}

/** Turned by a quarter, clockwise. */
export function turnRight(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return movePixels(pixels, height, width, (column, row) => (height - 1 - column) * width + row);
}

/** Turned by a half. */
export function turnUpsideDown(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return movePixels(pixels, width, height, (column, row) => (height - 1 - row) * width + (width - 1 - column));
}
