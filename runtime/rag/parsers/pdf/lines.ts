import type { PdfDocument } from './library.js';

/** A line of a page as it is printed. */
export interface PageLine {
  text: string;
  /** The texts between wide gaps; one where the line has none. */
  readonly cells: string[];
  /** In points. */
  readonly fontSize: number;
  /** Baseline from the bottom of the page, in points. */
  readonly y: number;
}

/** A gap of this many font sizes separates columns of a table. */
const GAP_SIZES = 1.5;
/** PDFium's sign for a hyphen at the end of a line that splits a word. */
const SPLIT_HYPHEN = 2;

interface Open {
  cells: string[];
  fontSize: number;
  y: number;
  /** Right end of the last character. */
  right: number;
}

function closed(line: Open | undefined, into: PageLine[]): void {
  const cells = line?.cells.map((cell) => cell.replace(/\s+/g, ' ').trim()).filter((cell) => cell !== '') ?? [];
  if (line && cells.length > 0) into.push({ text: cells.join(' '), cells, fontSize: line.fontSize, y: line.y });
}

/** The lines of a page's text layer in reading order; none for a scanned page. */
export function linesOfPage(pdf: PdfDocument, page: number): PageLine[] {
  const layer = pdf.call('FPDFText_LoadPage', page);
  if (layer === 0) return [];
  const lines: PageLine[] = [];
  let line: Open | undefined;
  try {
    const count = pdf.call('FPDFText_CountChars', layer);
    for (let index = 0; index < count; index += 1) {
      const code = pdf.call('FPDFText_GetUnicode', layer, index);
      if (code === 10 || code === 13) {
        closed(line, lines);
        line = undefined;
      } else if (code === 32 || code === 160 || code === 9) {
        if (line) line.cells[line.cells.length - 1] += ' ';
      } else if (code === SPLIT_HYPHEN || code >= 32) {
        line = added(pdf, layer, index, code === SPLIT_HYPHEN ? 0xad : code, line);
      }
    }
    closed(line, lines);
  } finally {
    pdf.call('FPDFText_ClosePage', layer);
  }
  return lines;
}

function added(pdf: PdfDocument, layer: number, index: number, code: number, line: Open | undefined): Open {
  // left, right, bottom, top
  const [left = 0, right = 0, bottom = 0] = pdf.doubles(4, (...pointers) => pdf.call('FPDFText_GetCharBox', layer, index, ...pointers));
  const letter = String.fromCodePoint(Math.min(code, 0x10ffff));
  if (!line) return { cells: [letter], fontSize: pdf.call('FPDFText_GetFontSize', layer, index), y: bottom, right };
  if (left - line.right > line.fontSize * GAP_SIZES) line.cells.push('');
  line.cells[line.cells.length - 1] += letter;
  line.right = right;
  return line;
}
