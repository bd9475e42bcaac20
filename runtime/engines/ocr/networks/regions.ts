import type { Pixels } from '../../../pictures/picture.js';
import { blank, turnLeft } from '../../../pictures/picture.js';

/** A point in pixels. */
export type Point = readonly [x: number, y: number];

/** A rectangle at any angle: its corners from the upper left, clockwise as text runs in it, and its sides. */
export interface Slanted {
  readonly corners: readonly [Point, Point, Point, Point];
  readonly width: number;
  readonly height: number;
}

/** Regions of one mask at most; what has more is no page of text. */
const REGION_LIMIT = 5000;

/** Gives the pixels of each connected region of a mask, as indexes into it; corners connect. */
export function* regionsOf(mask: Uint8Array, width: number, height: number): Generator<Int32Array> {
  const seen = new Uint8Array(mask.length);
  const queue = new Int32Array(mask.length);
  let count = 0;
  for (let start = 0; start < mask.length; start += 1) {
    if (mask[start] === 0 || seen[start] === 1) continue;
    if (count >= REGION_LIMIT) return;
    count += 1;
    let end = 1;
    queue[0] = start;
    seen[start] = 1;
    for (let at = 0; at < end; at += 1) {
      const [x, y] = [queue[at]! % width, Math.floor(queue[at]! / width)];
      for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row += 1) {
        for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column += 1) {
          const next = row * width + column;
          if (mask[next] === 0 || seen[next] === 1) continue;
          seen[next] = 1;
          queue[end] = next;
          end += 1;
        }
      }
    }
    yield queue.slice(0, end);
  }
}

/** The corners of the pixels that lie outermost in their rows. */
function outline(pixels: Int32Array, width: number): Point[] {
  const rows = new Map<number, [left: number, right: number]>();
  for (const pixel of pixels) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const row = rows.get(y);
    if (row === undefined) rows.set(y, [x, x]);
    else {
      row[0] = Math.min(row[0], x);
      row[1] = Math.max(row[1], x);
    }
  }
  return [...rows].flatMap(([y, [left, right]]): Point[] => [
    [left, y],
    [left, y + 1],
    [right + 1, y],
    [right + 1, y + 1],
  ]);
}

const turn = ([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);

/** The convex hull, by Andrew's monotone chain. */
export function hullOf(points: readonly Point[]): Point[] {
  if (points.length < 3) return [...points];
  const sorted = [...points].sort(([ax, ay], [bx, by]) => ax - bx || ay - by);
  const half = (ordered: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length > 1 && turn(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The smallest rectangle around points, wider by `margin` on each side; one of its sides lies on a side of their hull. */
export function rectangleAround(points: readonly Point[], margin: (width: number, height: number) => number = () => 0): Slanted {
  const hull = hullOf(points);
  let best: { area: number; along: Point; spans: [number, number, number, number] } | undefined;
  for (const [index, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(index + 1) % hull.length]!;
    const length = Math.hypot(nextX - x, nextY - y);
    if (length === 0) continue;
    const along = readingDirection((nextX - x) / length, (nextY - y) / length);
    const spans = spansOf(hull, along);
    const area = (spans[1] - spans[0]) * (spans[3] - spans[2]);
    if (!best || area < best.area - 1e-9) best = { area, along, spans };
  }
  const { along, spans } = best ?? { along: [1, 0] as const, spans: spansOf(hull, [1, 0]) };
  const [left, right, top, bottom] = spans;
  const wider = margin(right - left, bottom - top);
  return rectangleFrom(along, [left - wider, right + wider, top - wider, bottom + wider]);
}

/** Of the four directions of a rectangle's sides the one in which text runs. */
function readingDirection(x: number, y: number): Point {
  if (Math.abs(x) >= Math.abs(y)) return x > 0 ? [x, y] : [-x, -y];
  return y > 0 ? [y, -x] : [-y, x];
}

function spansOf(points: readonly Point[], [ux, uy]: Point): [number, number, number, number] {
  const across = points.map(([x, y]) => x * ux + y * uy);
  const down = points.map(([x, y]) => y * ux - x * uy);
  return [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
}

function rectangleFrom([ux, uy]: Point, [left, right, top, bottom]: readonly [number, number, number, number]): Slanted {
  const at = (a: number, d: number): Point => [a * ux - d * uy, a * uy + d * ux];
  return { corners: [at(left, top), at(right, top), at(right, bottom), at(left, bottom)], width: right - left, height: bottom - top };
}

/** The rectangle around a region of a mask. */
export function rectangleOf(pixels: Int32Array, width: number, margin?: (width: number, height: number) => number): Slanted {
  return rectangleAround(outline(pixels, width), margin);
}

/** Rectangles whose middles are apart by less than this share of the lower one's height stand in one line. */
const SAME_LINE = 0.5;

interface Placed {
  readonly rectangle: Slanted;
  readonly left: number;
  readonly middle: number;
}

/** Rectangles line by line from above, and from the left within a line. */
export function inReadingOrder(rectangles: readonly Slanted[]): Slanted[] {
  const placed = rectangles
    .map((rectangle): Placed => {
      const [xs, ys] = [rectangle.corners.map(([x]) => x), rectangle.corners.map(([, y]) => y)];
      return { rectangle, left: Math.min(...xs), middle: (Math.min(...ys) + Math.max(...ys)) / 2 };
    })
    .sort((a, b) => a.middle - b.middle);
  const lines: Placed[][] = [];
  for (const one of placed) {
    const line = lines.at(-1);
    const last = line?.at(-1);
    if (line && last && one.middle - last.middle < SAME_LINE * Math.min(one.rectangle.height, last.rectangle.height)) line.push(one);
    else lines.push([one]);
  }
  return lines.flatMap((line) => line.sort((a, b) => a.left - b.left).map(({ rectangle }) => rectangle));
}

/** A crop that is this much taller than wide holds text that runs downwards. */
const UPRIGHT_RATIO = 1.5;

/** The content of a slanted rectangle, straightened, by interpolation between its corners; text that runs downwards is laid down. */
export function straighten(pixels: Pixels, { corners, width, height }: Slanted): Pixels {
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
