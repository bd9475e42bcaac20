import { Failure } from '../../../schemas/errors.js';
import type { Unit } from './contract.js';
import { blank, isTrail } from './units.js';

/** Chunks of one document; small sizes with large overlaps would otherwise multiply a long text. */
export const CHUNK_LIMIT = 500_000;

/** A chunk as a stretch of the text. `core` is where it stops repeating the chunk before. */
export interface ChunkSpan {
  readonly start: number;
  readonly core: number;
  readonly end: number;
}

function solidEnd(text: string, { start, end }: Unit): number {
  let at = end;
  while (at > start && blank(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

/** Where a chunk that continues at `at` begins to repeat: at a word if one begins in time, never inside a surrogate pair. */
function overlapStart(text: string, at: number, earliest: number, overlap: number): number {
  const target = Math.max(earliest, at - overlap);
  if (overlap === 0 || target >= at) return at;
  if (target === 0 || blank(text.charCodeAt(target - 1))) return target;
  for (let word = target; word < at; word += 1) if (blank(text.charCodeAt(word))) return word + 1;
  return isTrail(text.charCodeAt(target)) ? target + 1 : target;
}

/**
 * Puts units together to chunks of at most `size` code units, each beginning with up to `overlap` of the one before. A unit is not cut: the
 * caller has cut those above `size`. Linear in the text that comes out.
 */
export function packed(text: string, units: Iterable<Unit>, size: number, overlap: number): ChunkSpan[] {
  const spans: ChunkSpan[] = [];
  let open: { start: number; core: number; end: number } | undefined;
  const close = (): void => {
    if (open) spans.push(open);
    if (spans.length > CHUNK_LIMIT)
      throw new Failure(
        'invalid',
        `The text makes more than ${CHUNK_LIMIT} chunks; raise chunk_size (${size}) or lower chunk_overlap (${overlap}).`,
        {
          code: 'too_many_chunks',
        },
      );
  };
  for (const unit of units) {
    const end = solidEnd(text, unit);
    // Blanks alone belong to what is before them.
    if (end === unit.start) continue;
    if (open && unit.apart !== true && end - open.start <= size) {
      open.end = end;
      continue;
    }
    const earliest = open && unit.apart !== true ? open.start + 1 : unit.start;
    close();
    const repeated = overlapStart(text, unit.start, earliest, overlap);
    // The new text goes before the repeated one where both do not fit.
    const start =
      end - repeated <= size ? repeated : overlapStart(text, unit.start, Math.max(earliest, Math.min(unit.start, end - size)), overlap);
    open = { start: end - start <= size ? start : unit.start, core: unit.start, end };
  }
  close();
  return spans.map((span) => trimmed(text, span)).filter((span) => span.end > span.start);
}

/** A chunk without the blanks around it. */
export function trimmed(text: string, { start, core, end }: ChunkSpan): ChunkSpan {
  let from = start;
  let to = end;
  while (from < to && blank(text.charCodeAt(from))) from += 1;
  while (to > from && blank(text.charCodeAt(to - 1))) to -= 1;
  return { start: from, core: Math.max(core, from), end: to };
}
