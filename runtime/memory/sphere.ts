import type { Box, Place } from './contract.js';

/** Mean radius of the Earth in metres. */
const RADIUS_M = 6_371_008.8;

/** Half of its circumference in metres: no two places are farther apart. */
export const FARTHEST_M = Math.PI * RADIUS_M;

const RADIANS = Math.PI / 180;

/** What rounding may take from the edges of a box, in degrees: about a millimetre. */
const SLACK = 1e-8;

/** Metres between two places along the surface of a sphere (haversine). */
export function distanceM(a: Place, b: Place): number {
  const x = Math.sin(((b.lat - a.lat) * RADIANS) / 2) ** 2;
  const y = Math.sin(((b.lon - a.lon) * RADIANS) / 2) ** 2;
  const h = x + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * y;
  return 2 * RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Boxes that together hold everything within `radiusM` of a place: one, or two at the date line; a pole takes all longitudes. */
export function boxesAround({ lat, lon }: Place, radiusM: number): Box[] {
  const degrees = radiusM / RADIUS_M / RADIANS + SLACK;
  const south = Math.max(-90, lat - degrees);
  const north = Math.min(90, lat + degrees);
  const ratio = Math.sin(Math.min(Math.PI / 2, degrees * RADIANS)) / Math.cos(lat * RADIANS);
  // The circle holds a pole, or touches it.
  if (south === -90 || north === 90 || ratio >= 1) return [{ south, north, west: -180, east: 180 }];
  const width = Math.asin(ratio) / RADIANS + SLACK;
  const west = lon - width < -180 ? lon - width + 360 : lon - width;
  const east = lon + width > 180 ? lon + width - 360 : lon + width;
  return boxesOf({ south, north, west, east });
}

/** A box as boxes whose west is not greater than their east, for indexes that know the date line as -180. No place lies in two of them. */
export function boxesOf({ south, north, west, east }: Box): Box[] {
  if (west > east)
    return [
      { south, north, west, east: 180 },
      { south, north, west: -180, east },
    ];
  const box = { south, north, west, east };
  return east === 180 && west > -180 ? [box, { south, north, west: -180, east: -180 }] : [box];
}

/** A place as indexes know it: the date line has two names. */
export function indexedPlace({ lat, lon }: Place): Place {
  return { lat, lon: lon === 180 ? -180 : lon };
}

/** Whether a place lies in a box that does not go over the date line, its borders included. */
export function isInside({ lat, lon }: Place, { south, north, west, east }: Box): boolean {
  return lat >= south && lat <= north && lon >= west && lon <= east;
}
