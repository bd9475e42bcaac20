import geohash from 'ngeohash';
import RBush from 'rbush';
import { breathe } from '../base/loop.js';
import type { Box, MemoryRecord, Place } from './contract.js';
import type { KindSpace, RecordChange } from './kind.js';
import type { Lines } from './lines.js';
import { indexedPlace, isInside } from './sphere.js';

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

/** Places put into the tree at once: about 3 ms. */
const LOADED_AT_ONCE = 2_048;
/** Places that go out together. */
const FOUND_AT_ONCE = 1_024;
/** Changes that wait for those who walk the tree; then who comes waits too. */
const MOST_HELD = 1_000;
/** A tree that nobody has asked for so long takes memory for nothing: about 150 MB for a million places. */
const IDLE_MS = 30 * 60_000;
/** Entries of a node of the tree. */
const NODE_ENTRIES = 16;

class Tree extends RBush<Placed> {
  override toBBox({ lat, lon }: Placed) {
    return { minX: lon, minY: lat, maxX: lon, maxY: lat };
  }

  override compareMinX(a: Placed, b: Placed): number {
    return a.lon - b.lon;
  }

  override compareMinY(a: Placed, b: Placed): number {
    return a.lat - b.lat;
  }
}

const isSame = (a: Placed, b: Placed): boolean => a.seq === b.seq;

/** A node of the tree, as the library keeps it: its children are nodes, or places in a leaf. */
interface TreeNode {
  readonly leaf: boolean;
  readonly children: readonly (TreeNode & Placed)[];
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The places of one store in an R-tree in memory, made of the records at the first question, and kept up with what changes. */
export class PlaceTree implements PlaceIndex {
  readonly #space: KindSpace;
  readonly #idleMs: number;
  /** Lets go of the tree when nobody has asked for so long; a question later makes it anew. */
  #idle: NodeJS.Timeout | undefined;
  #tree: Tree | undefined;
  #building: Promise<Tree> | undefined;
  /** What changed while the tree was made or read, in order: it must not move under those who walk it. */
  #held: RecordChange[] = [];
  #readers = 0;
  /** Those who wait until the tree is up to date. */
  #waiting: (() => void)[] = [];

  constructor(space: KindSpace, idleMs = IDLE_MS) {
    this.#space = space;
    this.#idleMs = idleMs;
    space.changed((changes) => {
      if (!this.#tree && !this.#building) return;
      this.#held.push(...changes);
      this.#catchUp();
    });
  }

  async *inside(box: Box): AsyncGenerator<readonly Placed[]> {
    this.#idle ??= setTimeout(() => this.#letGo(), this.#idleMs).unref();
    this.#idle.refresh();
    const tree = this.#tree ?? (await this.#built());
    while (this.#held.length > MOST_HELD) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#readers += 1;
    try {
      // What is not in the tree yet; what has left is not found as a record any more.
      yield this.#held
        .filter(({ before }) => !placeOf(before))
        .map(({ after }) => placeOf(after))
        .filter((place) => place !== undefined && isInside(place, box)) as Placed[];
      yield* placesInBox(tree.toJSON() as TreeNode, box);
    } finally {
      this.#readers -= 1;
      this.#catchUp();
    }
  }

  /** Puts what was held into the tree, unless somebody walks it. */
  #catchUp(): void {
    if (!this.#tree || this.#readers > 0) return;
    for (const change of this.#held) applyChange(this.#tree, change);
    this.#held = [];
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #letGo(): void {
    this.#idle = undefined;
    if (this.#readers === 0) this.#tree = undefined;
  }

  #built(): Promise<Tree> {
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined;
    });
    return this.#building;
  }

  async #build(): Promise<Tree> {
    const tree = new Tree(NODE_ENTRIES);
    let waiting: Placed[] = [];
    for await (const page of this.#space.lines.pages('places')) {
      for (const { key, seq, value } of page) waiting.push(placedOf(seq, key[0] as number, value));
      if (waiting.length < LOADED_AT_ONCE) continue;
      tree.load(waiting);
      waiting = [];
      await breathe();
    }
    tree.load(waiting);
    this.#tree = tree;
    // A line that was read may have been written, or have gone, meanwhile: once more is the same.
    this.#catchUp();
    return tree;
  }
}

/** A place of a line of the index. */
function placedOf(seq: number, timeMs: number, value: unknown): Placed {
  const [lat, lon] = value as [number, number];
  return { seq, timeMs, lat, lon };
}

function placeOf(record: MemoryRecord | undefined): Placed | undefined {
  if (!record?.place || !record.kinds.includes('spatial')) return undefined;
  return { seq: record.seq, timeMs: record.timeMs, ...indexedPlace(record.place) };
}

function applyChange(tree: Tree, { before, after }: RecordChange): void {
  const [left, came] = [placeOf(before), placeOf(after)];
  if (left) tree.remove(left, isSame);
  if (!came) return;
  if (!left) tree.remove(came, isSame);
  tree.insert(came);
}

/** The places of a box, a part at a time. */
async function* placesInBox(root: TreeNode, { west, south, east, north }: Box): AsyncGenerator<readonly Placed[]> {
  const open: TreeNode[] = [root];
  let found: Placed[] = [];
  while (open.length > 0) {
    const { leaf, children } = open.pop()!;
    for (const child of children) {
      if (!leaf) {
        if (child.minX <= east && child.maxX >= west && child.minY <= north && child.maxY >= south) open.push(child);
      } else if (child.lon <= east && child.lon >= west && child.lat <= north && child.lat >= south) found.push(child);
    }
    if (found.length >= FOUND_AT_ONCE) {
      yield found;
      found = [];
    }
    const pause = breathe();
    if (pause) await pause;
  }
  yield found;
}

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
