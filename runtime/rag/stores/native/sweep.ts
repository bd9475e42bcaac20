import type { Store } from '../../../store/store.js';
import { ROWS_PER_TURN } from './pacing.js';

/** Everything below a collection, some at a time. */
const below = (collection: number) => ({ start: [collection], end: [collection + 1], limit: ROWS_PER_TURN });

/** The first rows that wait: of `collection`, else of one that was dropped. */
function waiting(store: Store, collection: number) {
  const [own] = store.waste.page({ ...below(collection), limit: 1 });
  return own ?? store.waste.page({ limit: ROWS_PER_TURN }).find(({ value }) => value.whole);
}

/**
 * Removes some of the rows that wait for it, of `collection` and of collections that were dropped; false when none wait. To be called
 * while nobody writes to the collection: rows that are being added count as waste until they are all there.
 */
export async function sweepSome(store: Store, collection: number): Promise<boolean> {
  const found = waiting(store, collection);
  if (found === undefined) return false;
  const [owner, first] = found.key;
  const documents = found.value.whole ? store.documents.keys(below(owner)) : [];
  const rows = store.chunks.page({ start: [owner, first], end: [owner, first + found.value.count], limit: ROWS_PER_TURN });
  await store.write((batch) => {
    for (const key of documents) batch.remove('documents', key);
    for (const { key, value } of rows) {
      batch.remove('chunks', key);
      batch.remove('vectors', key);
      // The id may belong to a chunk that was added later.
      if (store.chunkIds.get([owner, value.id]) === key[1]) batch.remove('chunkIds', [owner, value.id]);
    }
    if (rows.length < ROWS_PER_TURN && documents.length < ROWS_PER_TURN) batch.remove('waste', found.key);
  });
  return true;
}
