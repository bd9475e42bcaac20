import type { PdfDocument } from './library.js';

/** A letter as the eye sees it, or a break between letters. Lengths are in points, along and across the direction in which its text runs. */
export interface Glyph {
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

/** What the letters of one drawing operation share. */
export interface TextRun {
  /** Visible size of the type: the size of the font times the scale of its matrix. */
  readonly size: number;
  /** Direction of the text in whole degrees, 0 to 359, against the clock from left to right. */
  readonly turn: number;
  /** The same as a vector of length 1. */
  readonly x: number;
  readonly y: number;
}

const BLANKS: readonly number[] = [9, 32, 160];
/** PDFium's sign for a hyphen at the end of a line that splits a word. */
const SPLIT_HYPHEN = 2;
const NO_RUN: TextRun = { size: 1, turn: 0, x: 1, y: 0 };

/** The letters of an open text layer in PDFium's order. */
export function* glyphsOf(pdf: PdfDocument, layer: number): Generator<Glyph> {
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
