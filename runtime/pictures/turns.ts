import type { Pixels } from './picture.js';

/** A picture of zeros. */
export const blank = (width: number, height: number, channels: 1 | 3): Pixels => ({
  width,
  height,
  channels,
  data: new Uint8Array(width * height * channels),
});

function moved(pixels: Pixels, width: number, height: number, from: (column: number, row: number) => number): Pixels {
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
export function turnedLeft(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return moved(pixels, height, width, (column, row) => column * width + (width - 1 - row));
}

/** Turned by a quarter, clockwise. */
export function turnedRight(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return moved(pixels, height, width, (column, row) => (height - 1 - column) * width + row);
}

/** Turned by a half. */
export function upsideDown(pixels: Pixels): Pixels {
  const { width, height } = pixels;
  return moved(pixels, width, height, (column, row) => (height - 1 - row) * width + (width - 1 - column));
}
