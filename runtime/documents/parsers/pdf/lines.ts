import { columnsApart, type PlacedLine } from './columns.js';
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

/** What the letters of one drawing operation share. */
interface TextRun {
  /** Visible size of the type: the size of the font times the scale of its matrix. */
  readonly size: number;
  /** Direction of the text in whole degrees, 0 to 359, against the clock from left to right. */
  readonly turn: number;
  /** The same as a vector of length 1. */
  readonly x: number;
  readonly y: number;
}

/** A letter as the eye sees it, or a break between letters. Lengths are in points, along and across the direction in which its text runs. */
interface Glyph {
  /** The letter, a blank, or `\n` where PDFium ends a line. */
  readonly text: string;
  /** The object of the page that draws it. Undefined for breaks and blanks. */
  readonly run?: TextRun;
  /** Where it begins and ends along its line. */
  readonly start: number;
  readonly end: number;
  /** Height of its baseline. */
  readonly base: number;
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

/** A letter that is lower, or higher, than its line by this many font sizes, and begins this many before its end, is on another line. */
const RISE_SIZES = 0.6;
const RETURN_SIZES = 1.5;

/** A gap of this many font sizes may be the one between columns of text; words stand closer. */
const SEGMENT_SIZES = 0.9;

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

const BLANKS: readonly number[] = [9, 32, 160];
/** PDFium's sign for a hyphen at the end of a line that splits a word. */
const SPLIT_HYPHEN = 2;
const NO_RUN: TextRun = { size: 1, turn: 0, x: 1, y: 0 };

/** The letters of an open text layer in PDFium's order. */
function* glyphsOf(pdf: PdfDocument, layer: number): Generator<Glyph> {
  const runs = new Map<number, TextRun>();
  const count = pdf.call('FPDFText_CountChars', layer);
  for (let index = 0; index < count; index += 1) {
    const code = pdf.call('FPDFText_GetUnicode', layer, index);
    if (code === 10 || code === 13) yield { text: '\n', start: 0, end: 0, base: 0 };
    else if (BLANKS.includes(code)) yield { text: ' ', start: 0, end: 0, base: 0 };
    else if (code === SPLIT_HYPHEN || code >= 32) yield letterOf(pdf, layer, index, code, runs);
  }
}

function letterOf(pdf: PdfDocument, layer: number, index: number, code: number, runs: Map<number, TextRun>): Glyph {
  const object = pdf.call('FPDFText_GetTextObject', layer, index);
  let run = runs.get(object);
  if (run === undefined) {
    run = runOf(pdf, layer, index);
    runs.set(object, run);
  }
  const { x, y } = run;
  const [left = 0, top = 0, right = 0, bottom = 0] = pdf.floats(4, (pointer) =>
    pdf.call('FPDFText_GetLooseCharBox', layer, index, pointer),
  );
  // The box stands upright on the page: of its four corners, two lie at the letter's ends in the direction of its text.
  const sides = [left * x, right * x].sort((one, other) => one - other);
  const ends = [bottom * y, top * y].sort((one, other) => one - other);
  const [originX = 0, originY = 0] = pdf.doubles(2, (...pointers) => pdf.call('FPDFText_GetCharOrigin', layer, index, ...pointers));
  return {
    text: code === SPLIT_HYPHEN ? '-' : String.fromCodePoint(Math.min(code, 0x10ffff)),
    run,
    start: sides[0]! + ends[0]!,
    end: sides[1]! + ends[1]!,
    base: originY * x - originX * y,
  };
}

function runOf(pdf: PdfDocument, layer: number, index: number): TextRun {
  const size = pdf.call('FPDFText_GetFontSize', layer, index);
  const [a = 1, b = 0, c = 0, d = 1] = pdf.floats(6, (pointer) => pdf.call('FPDFText_GetMatrix', layer, index, pointer));
  // Type of a negative size runs backwards.
  const across = Math.hypot(a, b) * Math.sign(size);
  if (across === 0) return NO_RUN;
  return {
    // To the hundredth, so that equal sizes are equal.
    size: Math.round((100 * size * Math.abs(a * d - b * c)) / across) / 100,
    turn: (Math.round((Math.atan2(b / across, a / across) * 180) / Math.PI) + 360) % 360,
    x: a / across,
    y: b / across,
  };
}

/** Baselines this close, in font sizes, are the same. */
const SAME_SIZES = 0.2;

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

/** A gap of this many font sizes separates the cells of a table. */
const CELL_SIZES = 1.5;

function pageLine({ segments, fontSize, y }: PlacedLine): PageLine {
  const cells: string[] = [];
  segments.forEach(({ text, left }, at) => {
    const before = segments[at - 1];
    if (before && left - before.right <= fontSize * CELL_SIZES) cells[cells.length - 1] += ` ${text}`;
    else cells.push(text);
  });
  return { text: cells.join(' '), cells, fontSize, y };
}
