import { breathe } from '../../runtime/base/loop.js';
import type { LoadedProject } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import type { Scope } from './scope.js';

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
  throw new Failure(
    'bad_request',
    `The cursor ${JSON.stringify(cursor.slice(0, 100))} does not belong to this list; begin again without a cursor.`,
  );
}

/** Every project of a scope that can be used, in the order of namespaces and names, from the one that `after` lies in on. */
async function* projectsFrom(
  { projects }: Runtime,
  { project: only }: Scope,
  after: Place,
): AsyncGenerator<LoadedProject, void, undefined> {
  for (const namespace of only ? [only.namespace] : projects.namespaces()) {
    if (!leadsAfter([namespace], after)) continue;
    for (const name of only ? [only.name] : projects.names(namespace)) {
      if (!leadsAfter([namespace, name], after)) continue;
      await projects.parsing(namespace, name);
      const loaded = unlessBroken(() => projects.load(namespace, name));
      if (loaded) yield loaded;
    }
  }
}

/** What `below` finds in each project of a scope, from behind a place on; the project itself is a place too. */
export async function* placesOf<Item>(
  runtime: Runtime,
  scope: Scope,
  after: Place,
  below: (project: LoadedProject, after: Place) => AsyncIterable<Visited<Item>>,
): AsyncGenerator<Visited<Item>, void, undefined> {
  for await (const project of projectsFrom(runtime, scope, after)) {
    let isEmpty = true;
    for await (const visited of below(project, after)) {
      if (!isAfter(visited.place, after)) continue;
      isEmpty = false;
      yield visited;
    }
    if (isEmpty) yield { place: [project.namespace, project.name] };
  }
}

/** A list must not fail with one broken project. */
function unlessBroken(load: () => LoadedProject): LoadedProject | undefined {
  try {
    return load();
  } catch (failure) {
    if (failure instanceof Failure) return undefined;
    throw failure;
  }
}
