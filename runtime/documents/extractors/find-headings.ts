import type { Line } from '../text/lines.js';

/** A heading as a line of the text shows it. */
export interface Heading {
  readonly text: string;
  /** From 1. */
  readonly level: number;
  readonly type: 'markdown' | 'underlined' | 'numbered' | 'caps';
  readonly line_number: number;
}

/** Headings of one text; the rest is left out. */
export const HEADINGS = 1000;
/** A longer line is no heading. */
const HEADING_UNITS = 200;
const WORDS_OF_CAPS = 12;

const FENCE = /^ {0,3}(```|~~~)/;
const MARKDOWN = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const UNDERLINE = /^ {0,3}(?:={3,}|-{3,})[ \t]*$/;
const NUMBERED = /^(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+\p{Lu}/u;
const CAPS = /^\p{Lu}[\p{Lu}\p{N} \t'’&,:()/–-]*$/u;

interface Around {
  readonly before: string;
  readonly line: string;
  readonly after: string;
}

/** The text and level of a line as a heading of some kind, the surest kind first; undefined for any other line. */
function read({ before, line, after }: Around): Pick<Heading, 'text' | 'level' | 'type'> | undefined {
  const marked = MARKDOWN.exec(line);
  if (marked) {
    const text = marked[2]!
      .trim()
      .replace(/(?:^|[ \t])#{1,64}$/, '')
      .trimEnd();
    return { text, level: marked[1]!.length, type: 'markdown' };
  }
  const text = line.trim();
  if (text === '' || before.trim() !== '' || /^[-*+>|]/.test(text)) return undefined;
  if (UNDERLINE.test(after)) return { text, level: after.trim().startsWith('=') ? 1 : 2, type: 'underlined' };
  if (/[.,;:]$/.test(text)) return undefined;
  const number = NUMBERED.exec(text)?.[1];
  // The first of several numbered lines is a list item.
  if (number && !/^\d{1,3}[.)][ \t]/.test(after.trim())) return { text, level: number.split('.').length, type: 'numbered' };
  const caps = CAPS.test(text) && (text.match(/\p{Lu}/gu)?.length ?? 0) >= 2 && text.split(/\s+/).length <= WORDS_OF_CAPS;
  return caps ? { text, level: 1, type: 'caps' } : undefined;
}

/** The headings among the lines, code blocks aside: `# marked`, underlined, `1.2 Numbered` and IN CAPITALS, the last three behind a blank line. */
export function headingsIn(lines: readonly Line[], maxLevel: number, minLength: number): Heading[] {
  const found: Heading[] = [];
  let fence = '';
  let before = '';
  for (let at = 0; at < lines.length && found.length < HEADINGS; at += 1) {
    const line = lines[at]!.text;
    const mark = FENCE.exec(line)?.[1];
    if (mark && (fence === '' || fence === mark)) fence = fence === '' ? mark : '';
    const after = lines[at + 1]?.text.slice(0, HEADING_UNITS) ?? '';
    const heading = mark || fence !== '' || line.length > HEADING_UNITS ? undefined : read({ before, line, after });
    // A paragraph starts behind a heading or a code block as behind a blank line.
    before = mark || heading || UNDERLINE.test(line) ? '' : line;
    if (heading && heading.level <= maxLevel && heading.text.length >= minLength)
      found.push({ ...heading, line_number: lines[at]!.number });
  }
  return found;
}
