import type { Slanted } from './regions.js';

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
