import { breathe } from '../../runtime/base/loop.js';
import { Failure } from '../../schemas/errors.js';

/** Most items of one page. */
const PAGE_ITEMS = 100;
/** Places that one page looks at, with or without an item. */
const PAGE_PLACES = 1_000;

/** Where an item stands in its list: names from the outermost to the innermost, each level in order. */
export type Place = readonly string[];

/** A place on the way through a list, and what stands there. */
export interface Visited<Item> {
  readonly place: Place;
  /** Absent where there is nothing to list. */
  readonly item?: Item;
}

/** Whether `place` comes after `other`. */
export function isAfter(place: Place, other: Place): boolean {
  const at = place.findIndex((name, level) => name !== other[level]);
  if (at < 0) return false;
  return at >= other.length || place[at]! > other[at]!;
}

/** Whether something below `place` may come after `other`. */
export function leadsAfter(place: Place, other: Place): boolean {
  return isAfter(place, other) || place.every((name, level) => name === other[level]);
}

/** One page of a list that `walk` goes through from behind a place on. Throws `bad_request` for a cursor that is none. */
export async function pageOf<Item>(
  walk: (after: Place) => AsyncIterable<Visited<Item>>,
  cursor: string | undefined,
): Promise<{ items: Item[]; nextCursor?: string }> {
  const items: Item[] = [];
  let places = 0;
  for await (const { place, item } of walk(cursor === undefined ? [] : placeOf(cursor))) {
    if (item !== undefined) items.push(item);
    places += 1;
    if (items.length >= PAGE_ITEMS || places >= PAGE_PLACES) return { items, nextCursor: cursorOf(place) };
    await breathe();
  }
  return { items };
}

function cursorOf(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function placeOf(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(place) && place.length <= 8 && place.every((name) => typeof name === 'string')) return place;
  } catch {
    // Told below.
  }
  throw new Failure('bad_request', `The cursor ${JSON.stringify(cursor.slice(0, 100))} is none of this list; begin again without one.`);
}
