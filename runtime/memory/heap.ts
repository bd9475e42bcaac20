import { breathe } from '../base/loop.js';

/** Items put in their places before other work gets its turn. */
const STRETCH = 2_048;

/** Items of which the one with the smallest rank comes out first. */
export class Heap<Item> {
  readonly #items: Item[];
  readonly #rank: (item: Item) => number;

  /** `items` becomes the heap's own. Use `heapOf` for many. */
  constructor(rank: (item: Item) => number, items: Item[] = []) {
    this.#rank = rank;
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  push(item: Item): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    const rank = this.#rank(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#rank(items[above]!) <= rank) break;
      items[at] = items[above]!;
      at = above;
    }
    items[at] = item;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length > 0) {
      items[0] = last!;
      this.#sink(0);
    }
    return top;
  }

  /** Puts all items in their places. */
  async order(): Promise<void> {
    for (let at = this.#items.length >> 1; at >= 0; at -= 1) {
      this.#sink(at);
      if (at % STRETCH === 0) await breathe();
    }
  }

  #sink(from: number): void {
    const items = this.#items;
    const item = items[from];
    if (item === undefined) return;
    const rank = this.#rank(item);
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && this.#rank(items[below + 1]!) < this.#rank(items[below]!)) below += 1;
      if (this.#rank(items[below]!) >= rank) break;
      items[at] = items[below]!;
      at = below;
    }
    items[at] = item;
  }
}

/** A heap of many items, made beside other work. `items` becomes its own. */
export async function heapOf<Item>(items: Item[], rank: (item: Item) => number): Promise<Heap<Item>> {
  const heap = new Heap(rank, items);
  await heap.order();
  return heap;
}
