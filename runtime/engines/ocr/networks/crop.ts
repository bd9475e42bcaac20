import { blank, type Pixels, turnLeft } from '../../../pictures/picture.js';
import type { Slanted } from './regions.js';

/** A crop that is this much taller than wide holds text that runs downwards. */
const UPRIGHT_RATIO = 1.5;

/** The content of a slanted rectangle, straightened, by interpolation between its corners; text that runs downwards is laid down. */
export function straightened(pixels: Pixels, { corners, width, height }: Slanted): Pixels {
  const [topLeft, topRight, , bottomLeft] = corners;
  const wide = Math.max(1, Math.min(pixels.width * 2, Math.round(width)));
  const high = Math.max(1, Math.min(pixels.height * 2, Math.round(height)));
  const out = blank(wide, high, pixels.channels);
  for (let row = 0; row < high; row += 1) {
    for (let column = 0; column < wide; column += 1) {
      const [across, down] = [(column + 0.5) / wide, (row + 0.5) / high];
      const x = topLeft[0] + across * (topRight[0] - topLeft[0]) + down * (bottomLeft[0] - topLeft[0]) - 0.5;
      const y = topLeft[1] + across * (topRight[1] - topLeft[1]) + down * (bottomLeft[1] - topLeft[1]) - 0.5;
      sample(pixels, x, y, out.data, (row * wide + column) * pixels.channels);
    }
  }
  return high / wide >= UPRIGHT_RATIO ? turnLeft(out) : out;
}

/** The colour between four pixels; beyond the edge the edge goes on. */
function sample({ width, height, channels, data }: Pixels, x: number, y: number, out: Uint8Array, to: number): void {
  const inside = (value: number, size: number): number => Math.max(0, Math.min(size - 1, value));
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [rightShare, lowerShare] = [x - left, y - top];
  const [x0, x1, y0, y1] = [inside(left, width), inside(left + 1, width), inside(top, height), inside(top + 1, height)];
  for (let channel = 0; channel < channels; channel += 1) {
    const at = (column: number, row: number): number => data[(row * width + column) * channels + channel]!;
    const upper = at(x0, y0) * (1 - rightShare) + at(x1, y0) * rightShare;
    const lower = at(x0, y1) * (1 - rightShare) + at(x1, y1) * rightShare;
    out[to + channel] = Math.round(upper * (1 - lowerShare) + lower * lowerShare);
  }
}
