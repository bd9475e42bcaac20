import type { Batch, Store } from '../../store/store.js';

const COUNTER = 'tables';
const taken = new WeakMap<Store, number>();

/** A number that no table of the store ever had, taken in the transaction that makes the table. */
export function takeOwner(store: Store, batch: Batch): number {
  const owner = Math.max(taken.get(store) ?? 0, store.meta.get(COUNTER) ?? 0) + 1;
  taken.set(store, owner);
  batch.put('meta', COUNTER, owner);
  return owner;
}
