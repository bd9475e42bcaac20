import type { BlockExtras, DocumentWriter } from '../writer.js';
import type { PageLine } from './lines.js';

/** How the text of a page is put together. */
interface PageChoices {
  /** Keeps the line ends as printed; else the lines of a paragraph are joined. */
  readonly layout: boolean;
  readonly tables: boolean;
  /** Of the whole document. */
  readonly hyphens: Hyphens;
  /** The font size that most characters of the document have. */
  readonly usualSize: number;
}

/** A line distance this much larger than the usual one starts a paragraph. */
const PARAGRAPH_RATIO = 1.4;
const TABLE_LINES = 2;

/** Adds the lines of a page as headings (by their size), paragraphs (by their distance) and tables (by their gaps). */
export function writePage(lines: readonly PageLine[], choices: PageChoices, extras: BlockExtras, writer: DocumentWriter): void {
  if (lines.length === 0) return;
  const { layout, hyphens, usualSize } = choices;
  const kinds = kindsOf(lines, choices);
  const bounds = boundsOf(lines, kinds, hyphens);
  bounds.slice(1).forEach((to, at) => {
    const from = bounds[at]!;
    const some = lines.slice(from, to);
    const texts = some.map((line) => line.text);
    const own = from === 0 ? extras : { ...extras, apart: false };
    if (kinds[from] === 'table' && some.length >= TABLE_LINES)
      writer.add('table', some.map((line) => line.cells.join(' | ')).join('\n'), own);
    else if (kinds[from] === 'heading')
      writer.add('heading', hyphens.joined(texts, ' '), { ...own, level: levelOf(some[0]!.fontSize, usualSize) });
    else writer.add('paragraph', hyphens.joined(texts, layout ? '\n' : ' '), own);
  });
}

/** The font size that most characters of a document have. */
export function usualSize(lines: readonly PageLine[]): number {
  const units = new Map<number, number>();
  for (const { fontSize, text } of lines) {
    const size = Math.round(fontSize * 2) / 2;
    units.set(size, (units.get(size) ?? 0) + text.length);
  }
  return [...units].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

type Kind = 'heading' | 'table' | 'paragraph';

/** A line this much larger than the page's usual one is a heading. */
const HEADING_RATIO = 1.15;
const HEADING_UNITS = 200;

function kindsOf(lines: readonly PageLine[], { tables, usualSize }: PageChoices): Kind[] {
  const tabular = (at: number): boolean => tables && (lines[at]?.cells.length ?? 0) > 1;
  return lines.map((line, at) => {
    if (line.fontSize > usualSize * HEADING_RATIO && line.text.length <= HEADING_UNITS) return 'heading';
    return tabular(at) && (tabular(at - 1) || tabular(at + 1)) ? 'table' : 'paragraph';
  });
}

/** Where blocks begin, and where the last one ends. */
function boundsOf(lines: readonly PageLine[], kinds: readonly Kind[], hyphens: Hyphens): number[] {
  const usualDistance = usualOf(lines.slice(1).flatMap((line, at) => (lines[at]!.y - line.y > 0 ? [lines[at]!.y - line.y] : [])));
  const bounds = [0];
  for (let at = 1; at < lines.length; at += 1) {
    const [before, line] = [lines[at - 1]!, lines[at]!];
    const isApart =
      kinds[at] !== kinds[at - 1] ||
      (kinds[at] === 'heading' && line.fontSize !== before.fontSize) ||
      (kinds[at] === 'paragraph' &&
        Math.abs(before.y - line.y) > usualDistance * PARAGRAPH_RATIO &&
        !hyphens.isSplit(before.text, line.text));
    if (isApart) bounds.push(at);
  }
  return [...bounds, lines.length];
}

const HYPHENATED = /(?<![\p{L}\p{M}])[\p{L}\p{M}]+(?:[-\u2010][\p{L}\p{M}]+)+/gu;

/** Tells hyphens that split a word at a line end from those that belong to it, by how the document writes the word elsewhere. */
export class Hyphens {
  /** The two parts beside each hyphen within a line. */
  readonly #pairs = new Set<string>();

  constructor(lines: Iterable<string>) {
    for (const line of lines) {
      for (const [word] of line.matchAll(HYPHENATED)) {
        const parts = word.toLowerCase().split(/[-\u2010]/);
        parts.slice(1).forEach((part, at) => {
          this.#pairs.add(`${parts[at]}-${part}`);
        });
      }
    }
  }

  /** Whether a word goes on from the end of a line to the next. */
  isSplit(line: string, next: string): boolean {
    return splitStart(next) !== null && splitEnd(line) !== null;
  }

  /** Lines as one text with `between` at their ends. A split word stands whole in the line where it begins. */
  joined(lines: readonly string[], between: string): string {
    const pieces: string[] = [];
    for (const line of lines) {
      const before = pieces.at(-1);
      if (before === undefined) pieces.push(line);
      else if (this.isSplit(before, line)) {
        const [, rest = line, after = ''] = /^(\S+)\s*(.*)$/su.exec(line) ?? [];
        pieces[pieces.length - 1] = this.#isOwn(before, rest) ? before : before.slice(0, -1);
        pieces.push(rest);
        if (after !== '') pieces.push(between, after);
      } else pieces.push(between, line);
    }
    return pieces.join('').replaceAll('\u00ad', '');
  }

  /** Whether the hyphen at the end of a line belongs to the word: the document writes it so elsewhere, or the word has another hyphen. */
  #isOwn(line: string, rest: string): boolean {
    const [, part = '', hyphen] = splitEnd(line)!;
    const [next = ''] = splitStart(rest)!;
    if (hyphen === '\u00ad') return false;
    const [before = '', after = ''] = [line.at(-2 - part.length), rest.at(next.length)];
    return (
      this.#pairs.has(`${part}-${next}`.toLowerCase()) ||
      /[-\u2010]/.test(before) ||
      (/[-\u2010]/.test(after) && next.length + 1 < rest.length)
    );
  }
}

/** The end of a line that may split a word, and the beginning of the next that may end it. */
const SPLIT_END = /([\p{L}\p{M}]+)([-\u2010\u00ad])$/u;
const SPLIT_START = /^(?=\p{Ll})[\p{L}\p{M}]+/u;
/** Characters that are looked at on either side of a line end; no word is longer. */
const WORD_UNITS = 64;

const splitStart = (line: string): RegExpExecArray | null => SPLIT_START.exec(line.slice(0, WORD_UNITS));
const splitEnd = (line: string): RegExpExecArray | null => SPLIT_END.exec(line.slice(-WORD_UNITS));

/** The lower quartile: gaps between paragraphs are among the distances of a page and must not set the measure. */
function usualOf(distances: readonly number[]): number {
  const sorted = [...distances].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 4)] ?? 0;
}

/** Larger type is a higher heading. */
function levelOf(size: number, usual: number): number {
  const ratio = size / Math.max(1, usual);
  return ratio >= 1.8 ? 1 : ratio >= 1.4 ? 2 : 3;
}
