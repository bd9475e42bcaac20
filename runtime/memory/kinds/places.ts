import { breathe } from '../../base/loop.js';
import type { Box, MemoryRecord, Place, PlacedRecord, PlaceReads, ReadFilter } from '../contract.js';
import { limitOf, passesFilter, timesOf } from '../filter.js';
import { heapOf } from '../heap.js';
import { DAY_MS, EXPIRED_AT_ONCE, type KindSpace, type MemoryKind } from '../kind.js';
import { cellOf, PlaceCells, type Placed, type PlaceIndex, PlaceTree } from '../place-index.js';
import { boxesAround, boxesOf, distanceM, FARTHEST_M, indexedPlace } from '../sphere.js';

/** `nearest` looks so far at first, in metres, and then so many times as far. */
const FIRST_RING_M = 1_000;
const RING_GROWTH = 4;
/** Places looked at before other work gets its turn. */
const STRETCH = 1_024;

/** Where things happened: records with a place, for `retention_days` from their time. */
export const places: MemoryKind<PlaceReads> = {
  name: 'spatial',
  index: 'places',
  isOn: ({ spatial: settings }) => settings !== undefined && settings.enabled !== false,
  takes: ({ place, timeMs }, config, nowMs) => place !== undefined && timeMs >= nowMs - config.spatial!.retention_days! * DAY_MS,
  lines({ place, timeMs }, config) {
    const indexed = indexedPlace(place!);
    const line = { index: 'places', key: [timeMs], value: [indexed.lat, indexed.lon] };
    if (config.spatial?.index_type !== 'geohash') return [line];
    return [line, { index: 'cells', key: [cellOf(indexed)], value: [indexed.lat, indexed.lon, timeMs] }];
  },
  expired({ lines, config, nowMs }) {
    const oldestMs = nowMs() - config.spatial!.retention_days! * DAY_MS;
    const first = lines.first('places', [], EXPIRED_AT_ONCE);
    return first.filter(({ key }) => (key[0] as number) < oldestMs).map(({ seq }) => seq);
  },
  open: (space) => new OpenPlaces(space),
};

/** A place with what orders it in an answer. */
interface Ranked {
  readonly seq: number;
  readonly rank: number;
}

class OpenPlaces implements PlaceReads {
  readonly #space: KindSpace;
  readonly #index: PlaceIndex;

  constructor(space: KindSpace) {
    this.#space = space;
    this.#index = space.config.spatial?.index_type === 'geohash' ? new PlaceCells(space.lines) : new PlaceTree(space);
  }

  async within(centre: Place, radiusM: number, filter: ReadFilter): Promise<PlacedRecord[]> {
    return this.#ring(centre, 0, radiusM, filter, limitOf(filter));
  }

  async box(box: Box, filter: ReadFilter): Promise<MemoryRecord[]> {
    const found = await this.#ranked(boxesOf(box), filter, ({ timeMs }) => -timeMs);
    return (await this.#first(found, filter, limitOf(filter))).map(({ record }) => record);
  }

  async nearest(centre: Place, filter: ReadFilter): Promise<PlacedRecord[]> {
    const limit = limitOf(filter);
    const found: PlacedRecord[] = [];
    for (let inner = 0, outer = FIRST_RING_M; found.length < limit && inner < FARTHEST_M; outer *= RING_GROWTH) {
      const next = Math.min(outer, FARTHEST_M);
      found.push(...(await this.#ring(centre, inner, next, filter, limit - found.length)));
      inner = next;
    }
    return found;
  }

  /** What is farther than `innerM`, or at 0 where that is 0, and not farther than `outerM`: the nearest first. */
  async #ring(centre: Place, innerM: number, outerM: number, filter: ReadFilter, limit: number): Promise<PlacedRecord[]> {
    const found = await this.#ranked(boxesAround(centre, outerM), filter, (place) => {
      const distance = distanceM(centre, place);
      return distance <= outerM && (distance > innerM || innerM === 0) ? distance : undefined;
    });
    return (await this.#first(found, filter, limit)).map(({ record, rank }) => ({ record, distanceM: rank }));
  }

  /** Places in boxes and in time that `rankOf` gives a rank. */
  async #ranked(boxes: readonly Box[], filter: ReadFilter, rankOf: (place: Placed) => number | undefined): Promise<Ranked[]> {
    const { from, to } = timesOf(filter);
    const oldestMs = Math.max(from, this.#space.nowMs() - this.#space.config.spatial!.retention_days! * DAY_MS);
    const ranked: Ranked[] = [];
    for (const box of boxes) {
      for await (const found of this.#index.inside(box)) {
        for (const [at, place] of found.entries()) {
          if (at % STRETCH === 0) await breathe();
          if (place.timeMs < oldestMs || place.timeMs > to) continue;
          const rank = rankOf(place);
          if (rank !== undefined) ranked.push({ seq: place.seq, rank });
        }
      }
    }
    return ranked;
  }

  /** The records of the lowest ranks that meet all conditions. */
  async #first(ranked: Ranked[], filter: ReadFilter, limit: number): Promise<{ record: MemoryRecord; rank: number }[]> {
    const heap = await heapOf(ranked, ({ rank }) => rank);
    const found: { record: MemoryRecord; rank: number }[] = [];
    while (heap.size > 0 && found.length < limit) {
      const { seq, rank } = heap.pop()!;
      const record = this.#space.lines.record(seq);
      if (record && passesFilter(record, filter)) found.push({ record, rank });
      await breathe();
    }
    return found;
  }
}
