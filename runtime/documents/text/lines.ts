import { rememberLatest } from '../../base/once.js';

/** One line of a text without its line end; `number` counts from 1. */
export interface Line {
  readonly text: string;
  readonly number: number;
  /** UTF-16 code units into the text. */
  readonly start: number;
}

const LINE_END = /\r\n|\n|\r/g;

/** The lines of a text; one that ends with a line end has no empty line behind it. */
export const linesOf = rememberLatest((text: string): readonly Line[] => {
  const found: Line[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    found.push({ text: text.slice(start, match.index), number: found.length + 1, start });
    start = match.index + match[0].length;
  }
  if (start < text.length) found.push({ text: text.slice(start), number: found.length + 1, start });
  return found;
});
