import { breathe } from '../base/loop.js';
import type { MemoryRecord, ReadFilter, Validity } from './contract.js';

/** Records of a read that says nothing about its limit, and the most that one may ask for. */
const USUAL_LIMIT = 100;
const MOST_LIMIT = 1_000;
/** Records that one read looks at, where its conditions fit few. */
const MOST_LOOKED = 100_000;

/** How many records a read wants. */
export function limitOf({ limit = USUAL_LIMIT }: ReadFilter): number {
  return Math.max(1, Math.min(MOST_LIMIT, Math.floor(limit)));
}

/** Whether a validity holds at a moment. */
export function holdsAt({ fromMs, toMs }: Validity, atMs: number): boolean {
  return fromMs <= atMs && (toMs === undefined || toMs > atMs);
}

/** The bounds of time that a filter means for what has no validity, in milliseconds since 1970, both included. */
export function timesOf({ fromMs, toMs, asOfMs }: ReadFilter): { from: number; to: number } {
  const to = Math.min(toMs ?? Number.POSITIVE_INFINITY, asOfMs ?? Number.POSITIVE_INFINITY);
  return { from: fromMs ?? Number.NEGATIVE_INFINITY, to };
}

/** Whether a record meets all conditions of a filter. What has a validity is asked for that, and all else for its time, as of a moment. */
export function passesFilter(record: MemoryRecord, { fromMs, toMs, asOfMs, types, user, session, tags }: ReadFilter): boolean {
  const { timeMs, valid, type, who, tags: has } = record;
  return (
    (fromMs === undefined || timeMs >= fromMs) &&
    (toMs === undefined || timeMs <= toMs) &&
    (asOfMs === undefined || (valid ? holdsAt(valid, asOfMs) : timeMs <= asOfMs)) &&
    (types === undefined || types.includes(type)) &&
    (user === undefined || who?.user === user) &&
    (session === undefined || who?.session === session) &&
    (tags === undefined || tags.every((tag) => has?.includes(tag)))
  );
}

/** Whether a filter asks for more than times and validity, so that the record must be read. */
export function needsRecord({ types, user, session, tags }: ReadFilter): boolean {
  return [types, user, session, tags].some((one) => one !== undefined);
}

/** The first records of what was found that meet all conditions, as many as the filter wants; looks at 100,000 at most. */
export async function firstOf(
  found: AsyncIterable<readonly { readonly seq: number }[]>,
  records: { record(seq: number): MemoryRecord | undefined },
  filter: ReadFilter,
): Promise<MemoryRecord[]> {
  const limit = limitOf(filter);
  const first: MemoryRecord[] = [];
  let looked = 0;
  for await (const page of found) {
    for (const { seq } of page) {
      const record = records.record(seq);
      if (record && passesFilter(record, filter)) first.push(record);
      if (first.length >= limit) return first;
      await breathe();
    }
    looked += page.length;
    if (looked >= MOST_LOOKED) break;
  }
  return first;
}
