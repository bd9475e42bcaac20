import type { Batch, Store } from '../../store/store.js';

const COUNTER = 'tables';
/** Names that tables of tenants have in the store begin with it; a client's never do, and come before. */
export const TENANTS_FROM = '~';
/** By what all views of one store have in common. */
const taken = new WeakMap<Store['meta'], number>();

/** A number that no table of the store ever had, taken in the transaction that makes the table. */
export function takeOwner(store: Store, batch: Batch): number {
  const owner = Math.max(taken.get(store.meta) ?? 0, store.meta.get(COUNTER) ?? 0) + 1;
  taken.set(store.meta, owner);
  batch.put('meta', COUNTER, owner);
  return owner;
}
