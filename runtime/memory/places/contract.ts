import type { Box, Place } from '../contract.js';

/** A record's place as the indexes have it. */
export interface Placed extends Place {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
}

/** Finds places. One per `index_type`. */
export interface PlaceIndex {
  /** What lies in a box that does not go over the date line, a part at a time, in any order; never one twice. */
  inside(box: Box): AsyncIterable<readonly Placed[]>;
}
