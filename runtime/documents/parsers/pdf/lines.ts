import { columnsApart, type PlacedLine } from './columns.js';
import { type Glyph, glyphsOf, type TextRun } from './glyphs.js';
import type { PdfDocument } from './library.js';

/** A line of a page as it is printed. */
export interface PageLine {
  /** A hyphen at its end that splits a word stands there still. */
  readonly text: string;
  /** The texts between wide gaps; one where the line has none. */
  readonly cells: readonly string[];
  /** Of most of its letters, as the eye sees it, in points. */
  readonly fontSize: number;
  /** Height of the baseline, in points. */
  readonly y: number;
}

/** A gap of this many font sizes may be the one between columns of text; words stand closer. */
const SEGMENT_SIZES = 0.9;
/** A gap of this many font sizes separates the cells of a table. */
const CELL_SIZES = 1.5;
/** A letter that is lower, or higher, than its line by this many font sizes, and begins this many before its end, is on another line. */
const RISE_SIZES = 0.6;
const RETURN_SIZES = 1.5;
/** Baselines this close, in font sizes, are the same. */
const SAME_SIZES = 0.2;

/** A line while its letters come in. */
class OpenLine {
  readonly run: TextRun;
  readonly y: number;
  /** Where its last letter ends. */
  end: number;
  readonly #segments: { text: string; left: number; right: number }[];
  readonly #isUpright: boolean;
  readonly #letters = new Map<number, number>();

  constructor(first: Glyph, run: TextRun, isUpright: boolean) {
    this.run = run;
    this.#isUpright = isUpright;
    this.y = first.base;
    this.end = first.end;
    this.#segments = [{ text: '', left: first.start, right: first.end }];
  }

  /** Whether a letter continues this line. */
  takes({ run, base, start }: Glyph): boolean {
    if (run?.turn !== this.run.turn) return false;
    const size = Math.max(run.size, this.run.size);
    return Math.abs(base - this.y) < size * RISE_SIZES || start > this.end - size * RETURN_SIZES;
  }

  add(letter: Glyph, run: TextRun): void {
    const gap = run.size * SEGMENT_SIZES;
    const last = this.#segments.at(-1)!;
    if (letter.start - this.end > gap || (!this.#isUpright && last.left - letter.end > gap))
      this.#segments.push({ text: '', left: letter.start, right: letter.end });
    const segment = this.#segments.at(-1)!;
    segment.text += letter.text;
    segment.left = Math.min(segment.left, letter.start);
    segment.right = Math.max(segment.right, letter.end);
    this.end = letter.end;
    this.#letters.set(run.size, (this.#letters.get(run.size) ?? 0) + 1);
  }

  /** Tells words apart. */
  blank(): void {
    this.#segments.at(-1)!.text += ' ';
  }

  closed(): PlacedLine | undefined {
    const segments = this.#segments.flatMap(({ text, left, right }) => {
      const words = text.replace(/\s+/g, ' ').trim();
      return words === '' ? [] : [{ text: words, left, right }];
    });
    if (segments.length === 0) return undefined;
    const [fontSize] = [...this.#letters].reduce((most, other) => (other[1] > most[1] ? other : most));
    return { segments, fontSize, y: this.y };
  }
}

/** The lines of a page's text layer in reading order, those that run in another direction than most at the end; none for a scanned page. */
export function linesOfPage(pdf: PdfDocument, page: number): PageLine[] {
  const layer = pdf.call('FPDFText_LoadPage', page);
  if (layer === 0) return [];
  try {
    const upright = pdf.call('FPDFPage_GetRotation', page) * 90;
    const byTurn = new Map<number, PlacedLine[]>();
    for (const { turn, line } of placedLines(glyphsOf(pdf, layer), upright)) {
      const beside = byTurn.get(turn);
      if (beside) beside.push(line);
      else byTurn.set(turn, [line]);
    }
    return [...byTurn]
      .sort(([, one], [, other]) => other.length - one.length)
      .flatMap(([turn, lines]) => columnsApart(turn === upright ? lines : downwards(lines)))
      .map(pageLine);
  } finally {
    pdf.call('FPDFText_ClosePage', layer);
  }
}

/** Lines from the top down, for text that lies on its side: PDFium orders it as if it stood upright. */
function downwards(lines: readonly PlacedLine[]): PlacedLine[] {
  const rows: PlacedLine[][] = [];
  for (const line of [...lines].sort((one, other) => other.y - one.y)) {
    const above = rows.at(-1)?.[0];
    if (above && above.y - line.y < line.fontSize * SAME_SIZES) rows.at(-1)!.push(line);
    else rows.push([line]);
  }
  return rows.map((row) => ({
    ...row[0]!,
    segments: row.flatMap(({ segments }) => segments).sort((one, other) => one.left - other.left),
  }));
}

function* placedLines(glyphs: Iterable<Glyph>, upright: number): Generator<{ turn: number; line: PlacedLine }> {
  let open: OpenLine | undefined;
  const finished = function* (): Generator<{ turn: number; line: PlacedLine }> {
    const line = open?.closed();
    if (open && line) yield { turn: open.run.turn, line };
    open = undefined;
  };
  for (const glyph of glyphs) {
    if (glyph.text === '\n') yield* finished();
    else if (glyph.run === undefined) open?.blank();
    else {
      if (open && !open.takes(glyph)) yield* finished();
      open ??= new OpenLine(glyph, glyph.run, glyph.run.turn === upright);
      open.add(glyph, glyph.run);
    }
  }
  yield* finished();
}

function pageLine({ segments, fontSize, y }: PlacedLine): PageLine {
  const cells: string[] = [];
  segments.forEach(({ text, left }, at) => {
    const before = segments[at - 1];
    if (before && left - before.right <= fontSize * CELL_SIZES) cells[cells.length - 1] += ` ${text}`;
    else cells.push(text);
  });
  return { text: cells.join(' '), cells, fontSize, y };
}
