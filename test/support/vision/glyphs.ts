import { encodePng } from '../../../runtime/pictures/codec.js';
import type { Pixels } from '../../../runtime/pictures/picture.js';

/** Characters that the networks of the tests read: each is a block of its own shade of gray. */
export const GLYPHS = [...'QUERN 42'].filter((one, at, all) => all.indexOf(one) === at);
/** Sides of a block and the gap after it, in pixels. */
export const BLOCK = { width: 24, height: 24, gap: 16 };
const SHADE_STEP = 24;
const WHITE = 255;

/** The gray of a character, 0 to 255. */
export const shadeOf = (glyph: string): number => GLYPHS.indexOf(glyph) * SHADE_STEP;

/** Where a line of blocks begins. */
export interface DrawnLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Blocks without gaps between them. */
  readonly tight?: boolean;
}

/** A white page with lines of blocks. */
export function page(width: number, height: number, lines: readonly DrawnLine[]): Pixels {
  const data = new Uint8Array(width * height * 3).fill(WHITE);
  for (const { text, x, y, tight } of lines) {
    for (const [index, glyph] of [...text].entries()) {
      const left = x + index * (BLOCK.width + (tight ? 0 : BLOCK.gap));
      for (let row = y; row < y + BLOCK.height; row += 1) {
        data.fill(shadeOf(glyph), (row * width + left) * 3, (row * width + left + BLOCK.width) * 3);
      }
    }
  }
  return { width, height, channels: 3, data };
}

/** The same as PNG. */
export const pagePng = (...asked: Parameters<typeof page>): Promise<Uint8Array> => encodePng(page(...asked));

/** The blocks of a line as drawing operations of a PDF page; at 150 and 200 dots per inch they are large enough to be read. */
export function drawnBlocks(text: string): string {
  return [...text].map((glyph, at) => `${shadeOf(glyph) / WHITE} g ${40 + at * 20} 300 12 12 re f`).join(' ');
}
