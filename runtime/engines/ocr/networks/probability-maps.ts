import { Failure } from '../../../../schemas/errors.js';
import type { Tensor } from '../../onnx/contract.js';
import { rectangleOf, regionsOf, type Slanted } from './regions.js';

/** A detector's answer as a picture of numbers: how likely text is at each place, and how likely letters are joined there. */
interface Maps {
  readonly width: number;
  readonly height: number;
  text(pixel: number): number;
  /** Undefined where the detector does not tell. */
  readonly link: ((pixel: number) => number) | undefined;
}

/** How regions become rectangles; numbers as the networks' authors publish them. */
interface Rules {
  /** A pixel belongs to text from here. */
  readonly low: number;
  /** A region is text from here: by its mean or its highest pixel. */
  readonly sure: number;
  readonly by: 'mean' | 'highest';
  readonly link: number;
  readonly leastPixels: number;
  /** What the region is narrower than its text, by its size. */
  readonly margin: (pixels: number, width: number, height: number) => number;
}

/** Maps of probabilities that were trained on shrunken text ("Real-time Scene Text Detection with Differentiable Binarization"): area * 1.6 / perimeter. */
const SHRUNKEN: Rules = {
  low: 0.3,
  sure: 0.6,
  by: 'mean',
  link: 1,
  leastPixels: 9,
  margin: (_pixels, width, height) => (width * height * 1.6) / (2 * (width + height)),
};
/** Maps of characters and of the gaps between them ("Character Region Awareness for Text Detection"). */
const CHARACTERS: Rules = {
  low: 0.4,
  sure: 0.7,
  by: 'highest',
  link: 0.4,
  leastPixels: 10,
  margin: (pixels, width, height) => Math.sqrt((pixels * Math.min(width, height)) / Math.max(1, width * height)),
};
/** Maps of lines, as surya's detector draws them. */
const LINES: Rules = { ...CHARACTERS, low: 0.35, sure: 0.6 };

function mapsOf({ dims, data }: Tensor): { maps: Maps; rules: Rules } {
  const values = data as Float32Array;
  const [first = 0, second = 0, third = 0, fourth = 0] = dims.length === 3 ? [dims[0]!, 1, dims[1]!, dims[2]!] : dims;
  if (!(values instanceof Float32Array) || first !== 1 || dims.length < 3 || dims.length > 4)
    throw new Failure(
      'invalid',
      `The text detector answers [${dims.join(', ')}]; [1, 1, H, W], [1, 2, H, W] or [1, H, W, 2] can be read.`,
      {
        code: 'OcrModelInvalid',
      },
    );
  if (fourth === 2 && second > 2) {
    const maps: Maps = { height: second, width: third, text: (pixel) => values[pixel * 2]!, link: (pixel) => values[pixel * 2 + 1]! };
    return { maps, rules: CHARACTERS };
  }
  const maps: Maps = { height: third, width: fourth, text: (pixel) => values[pixel]!, link: undefined };
  return { maps, rules: second === 1 ? SHRUNKEN : LINES };
}

/** The rectangles of text that a detector's answer shows, in pixels of its map, and the size of that map. */
export function rectanglesOf(answer: Tensor): { width: number; height: number; rectangles: Slanted[] } {
  const { maps, rules } = mapsOf(answer);
  const { width, height, text, link } = maps;
  const mask = new Uint8Array(width * height);
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    if (text(pixel) > rules.low || (link !== undefined && link(pixel) > rules.link)) mask[pixel] = 1;
  }
  const rectangles: Slanted[] = [];
  for (const pixels of regionsOf(mask, width, height)) {
    if (pixels.length < rules.leastPixels || score(pixels, text, rules.by) < rules.sure) continue;
    // Gaps join letters to a word and are no part of its outline.
    const own = link === undefined ? pixels : pixels.filter((pixel) => text(pixel) > rules.low);
    if (own.length > 0) rectangles.push(rectangleOf(own, width, (wide, high) => rules.margin(own.length, wide, high)));
  }
  return { width, height, rectangles };
}

function score(pixels: Int32Array, text: (pixel: number) => number, by: Rules['by']): number {
  let sum = 0;
  let highest = 0;
  for (const pixel of pixels) {
    const value = text(pixel);
    sum += value;
    highest = Math.max(highest, value);
  }
  return by === 'mean' ? sum / pixels.length : highest;
}
