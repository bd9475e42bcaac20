import type { ParsedDocument } from '../parsers/contract.js';
import { sentencesOf } from '../text/sentences.js';
import type { Unit } from './contract.js';

/** Spans that begin at the given places and together cover `start` to `end`; places need not be sorted or unique. */
export function between(start: number, end: number, places: readonly number[]): Unit[] {
  const cuts = [...new Set(places.filter((place) => place > start && place < end))].sort((a, b) => a - b);
  return [start, ...cuts].map((from, index) => ({ start: from, end: cuts[index] ?? end }));
}

/** The sentences of a stretch, each with the blanks behind it. */
export function sentenceUnits(text: string, { start, end }: Unit): Unit[] {
  const places = sentencesOf(text.slice(start, end)).map((sentence) => start + sentence.start);
  return between(start, end, places);
}

/** The words of a stretch with the blanks behind them; a word above `size` is cut, never inside a surrogate pair. */
export function* wordUnits(text: string, { start, end }: Unit, size: number): Generator<Unit> {
  let from = start;
  let sawBlank = false;
  for (let at = start; at < end; at += 1) {
    const isBlank = blank(text.charCodeAt(at));
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
  return between(start, end, places);
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
  return between(0, text.length, places);
}

/** White space as `trim` knows it. */
export function blank(code: number): boolean {
  if (code < 0xa0) return code === 32 || (code >= 9 && code <= 13);
  return code === 0xa0 || (code >= 0x1680 && /\s/.test(String.fromCharCode(code)));
}

/** The second half of a surrogate pair. */
export function isTrail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
