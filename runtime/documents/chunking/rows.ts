import type { ParsedDocument } from '../parsers/contract.js';
import { type ChunkSpan, trimmed } from './pack.js';

/** Rows stop filling a chunk here, whatever their number: more is neither embedded nor read well. */
export const ROWS_UNITS = 8000;

/** Chunks of at most `size` rows, `overlap` of them repeated, and of at most 8,000 code units unless one row alone is longer. */
export function rowSpans({ text, blocks }: ParsedDocument, size: number, overlap: number): ChunkSpan[] {
  const spans: ChunkSpan[] = [];
  let first = 0;
  let done = 0;
  while (done < blocks.length) {
    let last = Math.max(first, done);
    while (
      last + 1 < blocks.length &&
      last + 1 - first < size &&
      blocks[last + 1]!.apart !== true &&
      blocks[last + 1]!.end - blocks[first]!.start <= ROWS_UNITS
    )
      last += 1;
    spans.push({ start: blocks[first]!.start, core: blocks[done]!.start, end: blocks[last]!.end });
    done = last + 1;
    const repeats = blocks[done]?.apart === true ? 0 : overlap;
    first = Math.max(first + 1, done - repeats);
    while (first < done && (blocks[done] === undefined || blocks[done]!.end - blocks[first]!.start > ROWS_UNITS)) first += 1;
  }
  return spans.map((span) => trimmed(text, span)).filter((span) => span.end > span.start);
}
