import RBush from 'rbush';
import { breathe } from '../../base/loop.js';
import type { Box } from '../contract.js';
import type { KindSpace, RecordChange } from '../kind.js';
import type { Placed, PlaceIndex } from './contract.js';
import { indexedPlace } from './sphere.js';

/** Places put into the tree at once: about 3 ms. */
const LOADED_AT_ONCE = 2_048;
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

/** The places of one store in an R-tree in memory, made of the records at the first question, and kept up with what changes. */
export class PlaceTree implements PlaceIndex {
  readonly #space: KindSpace;
  #tree: Tree | undefined;
  #building: Promise<Tree> | undefined;
  /** What changed while the tree was made, in order. */
  #missed: RecordChange[] = [];

  constructor(space: KindSpace) {
    this.#space = space;
    space.changed((changes) => {
      if (this.#tree) for (const change of changes) apply(this.#tree, change);
      else if (this.#building) this.#missed.push(...changes);
    });
  }

  async *inside({ west, south, east, north }: Box): AsyncGenerator<readonly Placed[]> {
    const tree = this.#tree ?? (await this.#built());
    yield tree.search({ minX: west, minY: south, maxX: east, maxY: north });
  }

  #built(): Promise<Tree> {
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined;
      this.#missed = [];
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
    // A line that was read may have been written, or have gone, meanwhile: both ways once more are the same.
    for (const change of this.#missed) apply(tree, change);
    this.#tree = tree;
    return tree;
  }
}

/** A place of a line of the index. */
export function placedOf(seq: number, timeMs: number, value: unknown): Placed {
  const [lat, lon] = value as [number, number];
  return { seq, timeMs, lat, lon };
}

function apply(tree: Tree, { before, after }: RecordChange): void {
  for (const record of [before, after]) {
    const place = record?.kinds.includes('spatial') ? record.place : undefined;
    if (!place) continue;
    const placed = { seq: record!.seq, timeMs: record!.timeMs, ...indexedPlace(place) };
    tree.remove(placed, isSame);
    if (record === after) tree.insert(placed);
  }
}
