import { Failure } from '../../../schemas/errors.js';
import type { ParsedDocument } from '../parsers/contract.js';
import { sentencesOf } from '../text/sentences.js';
import type { Unit } from './contract.js';

/** Spans that begin at the given places and together cover `start` to `end`; places need not be sorted or unique. */
function unitsBetween(start: number, end: number, places: readonly number[]): Unit[] {
  const cuts = [...new Set(places.filter((place) => place > start && place < end))].sort((a, b) => a - b);
  return [start, ...cuts].map((from, index) => ({ start: from, end: cuts[index] ?? end }));
}

/** The sentences of a stretch, each with the blanks behind it. */
export function sentenceUnits(text: string, { start, end }: Unit): Unit[] {
  const places = sentencesOf(text.slice(start, end)).map((sentence) => start + sentence.start);
  return unitsBetween(start, end, places);
}

/** The words of a stretch with the blanks behind them; a word above `size` is cut, never inside a surrogate pair. */
export function* wordUnits(text: string, { start, end }: Unit, size: number): Generator<Unit> {
  let from = start;
  let sawBlank = false;
  for (let at = start; at < end; at += 1) {
    const isBlank = isBlankUnit(text.charCodeAt(at));
    // Before the pair where the cut would fall into it; a pair longer than the size stays whole.
    const cut = isTrail(text.charCodeAt(at)) ? at - 1 : at;
    if ((sawBlank && !isBlank) || (at - from >= size && cut > from)) {
      yield { start: from, end: cut };
      from = cut;
    }
    sawBlank = isBlank;
  }
  yield { start: from, end };
}

/** The lines of a stretch with their line ends. */
export function lineUnits(text: string, { start, end }: Unit): Unit[] {
  const places: number[] = [];
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) places.push(at + 1);
  return unitsBetween(start, end, places);
}

/** The blocks of a document with what stands between them; where it has none, its paragraphs. */
export function blockUnits({ text, blocks }: ParsedDocument): Unit[] {
  if (blocks.length > 0) {
    return blocks.map((block, index) => ({
      start: index === 0 ? 0 : block.start,
      end: blocks[index + 1]?.start ?? text.length,
      ...(block.apart === true && index > 0 ? { apart: true } : {}),
    }));
  }
  const places = [...text.matchAll(/\n[ \t]{0,1000}\n\s*/g)].map((match) => match.index + match[0].length);
  return unitsBetween(0, text.length, places);
}

/** Chunks of one document; small sizes with large overlaps would otherwise multiply a long text. */
const CHUNK_LIMIT = 500_000;

/** A chunk as a stretch of the text. `core` is where it stops repeating the chunk before. */
export interface ChunkSpan {
  readonly start: number;
  readonly core: number;
  readonly end: number;
}

function solidEnd(text: string, { start, end }: Unit): number {
  let at = end;
  while (at > start && isBlankUnit(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

/** Where a chunk that continues at `at` begins to repeat: at a word if one begins in time, never inside a surrogate pair. */
function overlapStart(text: string, at: number, earliest: number, overlap: number): number {
  const target = Math.max(earliest, at - overlap);
  if (overlap === 0 || target >= at) return at;
  if (target === 0 || isBlankUnit(text.charCodeAt(target - 1))) return target;
  for (let word = target; word < at; word += 1) if (isBlankUnit(text.charCodeAt(word))) return word + 1;
  return isTrail(text.charCodeAt(target)) ? target + 1 : target;
}

/**
 * Puts units together to chunks of at most `size` code units, each beginning with up to `overlap` of the one before. A unit is not cut: the
 * caller has cut those above `size`. Linear in the text that comes out.
 */
export function packChunks(text: string, units: Iterable<Unit>, size: number, overlap: number): ChunkSpan[] {
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
  return spans.map((span) => trimSpan(text, span)).filter((span) => span.end > span.start);
}

/** A chunk without the blanks around it. */
export function trimSpan(text: string, { start, core, end }: ChunkSpan): ChunkSpan {
  let from = start;
  let to = end;
  while (from < to && isBlankUnit(text.charCodeAt(from))) from += 1;
  while (to > from && isBlankUnit(text.charCodeAt(to - 1))) to -= 1;
  return { start: from, core: Math.max(core, from), end: to };
}

/** White space as `trim` knows it. */
export function isBlankUnit(code: number): boolean {
  if (code < 0xa0) return code === 32 || (code >= 9 && code <= 13);
  return code === 0xa0 || (code >= 0x1680 && /\s/.test(String.fromCharCode(code)));
}

/** The second half of a surrogate pair. */
function isTrail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
