import geohash from 'ngeohash';
import type { Box, Place } from '../contract.js';
import type { Lines } from '../lines.js';
import type { Placed, PlaceIndex } from './contract.js';
import { isInside } from './sphere.js';
import { placedOf } from './tree.js';

/** Characters of a stored geohash: cells of 37 by 19 mm at the equator. */
const STORED_CHARACTERS = 12;
/** Cells that a box is covered with at most; larger cells take more places that lie outside. */
const MOST_CELLS = 64;
/** Characters of the smallest of them: cells of 5 by 5 m. */
const MOST_CHARACTERS = 9;

/** The name of the cell of a place. */
export function cellOf({ lat, lon }: Place): string {
  return geohash.encode(lat, lon, STORED_CHARACTERS);
}

/** The places of one store by the names of their cells, read from the disk. */
export class PlaceCells implements PlaceIndex {
  readonly #lines: Lines;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  async *inside(box: Box): AsyncGenerator<readonly Placed[]> {
    for (const cell of cellsOf(box)) {
      // Names go on with digits and letters.
      const range = cell === '' ? {} : { from: cell, to: `${cell}~` };
      for await (const page of this.#lines.pages('cells', range)) {
        yield page.map(({ seq, value }) => placedOf(seq, (value as number[])[2]!, value)).filter((place) => isInside(place, box));
      }
    }
  }
}

/** Names of cells that cover a box: the smallest of which there are not too many. One without a name is the Earth. */
function cellsOf({ south, west, north, east }: Box): string[] {
  let characters = 0;
  while (characters < MOST_CHARACTERS) {
    // Bits of a name take turns, longitude first.
    const bits = 5 * (characters + 1);
    const height = 180 / 2 ** Math.floor(bits / 2);
    const width = 360 / 2 ** Math.ceil(bits / 2);
    if (((north - south) / height + 2) * ((east - west) / width + 2) > MOST_CELLS) break;
    characters += 1;
  }
  return characters === 0 ? [''] : geohash.bboxes(south, west, north, east, characters);
}
