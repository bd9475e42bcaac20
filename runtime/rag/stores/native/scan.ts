import type { Store } from '../../../store/store.js';
import { type Metric, similarity } from '../score.js';
import type { Bitmap } from './bitmap.js';
import { vectorPages } from './rows.js';

/** A row that was found; a higher raw score is the better one. */
export interface Found {
  readonly row: number;
  readonly raw: number;
}

const byScore = (a: Found, b: Found): number => b.raw - a.raw || a.row - b.row;

/** The `k` best of several rankings, each row once. */
export function merged(k: number, ...rankings: readonly (readonly Found[])[]): Found[] {
  const best = new Map<number, Found>();
  for (const found of rankings.flat()) if (!best.has(found.row)) best.set(found.row, found);
  return [...best.values()].sort(byScore).slice(0, k);
}

/** The `k` best of the rows from `first` to before `end` that are allowed, by their stored vectors: exact, and slower than the index. */
export async function scan(
  store: Store,
  { collection, first, end }: { collection: number; first: number; end: number },
  { metric, vector, k, allowed, signal }: { metric: Metric; vector: Float32Array; k: number; allowed: Bitmap; signal: AbortSignal },
): Promise<Found[]> {
  let best: Found[] = [];
  for await (const page of vectorPages(store, collection, first, end)) {
    signal.throwIfAborted();
    const found = page
      .filter(({ row, vector: candidate }) => allowed.has(row) && candidate.length === vector.length)
      .map(({ row, vector: candidate }) => ({ row, raw: similarity(metric, vector, candidate) }));
    best = [...best, ...found].sort(byScore).slice(0, k);
  }
  return best;
}
