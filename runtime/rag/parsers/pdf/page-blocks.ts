import type { BlockExtras, DocumentWriter } from '../writer.js';
import type { PageLine } from './lines.js';

/** A line this much larger than the page's usual one is a heading. */
const HEADING_RATIO = 1.15;
const HEADING_UNITS = 200;
/** A line distance this much larger than the usual one starts a paragraph. */
const PARAGRAPH_RATIO = 1.4;
const TABLE_LINES = 2;

/** How the text of a page is put together. */
export interface PageChoices {
  /** Keeps the line ends as printed; else the lines of a paragraph are joined. */
  readonly layout: boolean;
  readonly tables: boolean;
}

/** The lower quartile: gaps between paragraphs are among the distances of a page and must not set the measure. */
function usualOf(distances: readonly number[]): number {
  const sorted = [...distances].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 4)] ?? 0;
}

/** The font size that most characters of a document have. */
export function usualSize(pages: readonly (readonly PageLine[])[]): number {
  const units = new Map<number, number>();
  for (const { fontSize, text } of pages.flat()) {
    const size = Math.round(fontSize * 2) / 2;
    units.set(size, (units.get(size) ?? 0) + text.length);
  }
  return [...units].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

/** Words that a line end split are whole again where lines are joined; elsewhere the hyphen is seen. */
function joined(lines: readonly PageLine[], layout: boolean): string {
  const text = lines.map((line) => line.text).join('\n');
  return layout ? text.replaceAll('\u00ad', '-') : text.replace(/\u00ad\s*/g, '').replaceAll('\n', ' ');
}

type Kind = 'heading' | 'table' | 'paragraph';

function kindsOf(lines: readonly PageLine[], usual: number, choices: PageChoices): Kind[] {
  const tabular = (at: number): boolean => choices.tables && (lines[at]?.cells.length ?? 0) > 1;
  return lines.map((line, at) => {
    if (line.fontSize > usual * HEADING_RATIO && line.text.length <= HEADING_UNITS) return 'heading';
    return tabular(at) && (tabular(at - 1) || tabular(at + 1)) ? 'table' : 'paragraph';
  });
}

/** Adds the lines of a page as headings (by their size), paragraphs (by their distance) and tables (by their gaps). */
export function writePage(
  lines: readonly PageLine[],
  usual: number,
  choices: PageChoices,
  extras: BlockExtras,
  writer: DocumentWriter,
): void {
  const kinds = kindsOf(lines, usual, choices);
  const distances = lines.slice(1).flatMap((line, at) => (lines[at]!.y - line.y > 0 ? [lines[at]!.y - line.y] : []));
  const usualDistance = usualOf(distances);
  let from = 0;
  for (let at = 1; at <= lines.length; at += 1) {
    const apart =
      at === lines.length ||
      kinds[at] !== kinds[at - 1] ||
      (kinds[at] === 'heading' && lines[at]!.fontSize !== lines[at - 1]!.fontSize) ||
      (kinds[at] === 'paragraph' && Math.abs(lines[at - 1]!.y - lines[at]!.y) > usualDistance * PARAGRAPH_RATIO);
    if (!apart) continue;
    const some = lines.slice(from, at);
    const own = from === 0 ? extras : { ...extras, apart: false };
    if (kinds[from] === 'table' && some.length >= TABLE_LINES)
      writer.add('table', some.map((line) => line.cells.join(' | ')).join('\n'), own);
    else if (kinds[from] === 'heading') writer.add('heading', joined(some, false), { ...own, level: levelOf(some[0]!.fontSize, usual) });
    else writer.add('paragraph', joined(some, choices.layout), own);
    from = at;
  }
}

/** Larger type is a higher heading. */
function levelOf(size: number, usual: number): number {
  const ratio = size / Math.max(1, usual);
  return ratio >= 1.8 ? 1 : ratio >= 1.4 ? 2 : 3;
}
