import type { OptionShapes } from '../../config/plugin-options.js';
import { type Line, linesOf } from '../text/sentences.js';
import { wordsOf } from '../text/words.js';
import { defineExtractor } from './contract.js';

const OPTIONS = {
  enabled: { type: 'boolean', default: true, description: 'Off = nothing is extracted.' },
  max_level: { type: 'integer', default: 6, minimum: 1, maximum: 6, description: 'Deeper headings are left out.' },
  include_hierarchy: { type: 'boolean', default: true, description: 'Headings as trees.' },
  extract_outline: { type: 'boolean', default: true, description: 'A table of contents.' },
  min_heading_length: { type: 'integer', default: 3, minimum: 1, maximum: 200, description: 'Least code units of a heading.' },
} as const satisfies OptionShapes;

/** Headings of a text and what stands under them. */
export const heading = defineExtractor('HeadingExtractor', OPTIONS, (text, options) => {
  if (!options.enabled) return { output: {}, flat: {} };
  const lines = linesOf(text);
  const headings = headingsIn(lines, options.max_level, options.min_heading_length);
  return {
    output: {
      headings: {
        headings,
        heading_count: headings.length,
        ...(options.include_hierarchy && { hierarchy: hierarchyOf(headings) }),
        ...(options.extract_outline && {
          table_of_contents: headings.map((one) => ({ title: one.text, level: one.level, line_number: one.line_number })),
        }),
        sections: sectionsOf(headings, lines),
        statistics: headingStatistics(headings),
      },
    },
    flat: {},
  };
});

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

const FENCE = /^ {0,3}(```|~~~)/;
const MARKDOWN = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const UNDERLINE = /^ {0,3}(?:={3,}|-{3,})[ \t]*$/;
const NUMBERED = /^(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+\p{Lu}/u;
const CAPS = /^\p{Lu}[\p{Lu}\p{N} \t'’&,:()/–-]*$/u;

/** A longer line is no heading. */
const HEADING_UNITS = 200;
const WORDS_OF_CAPS = 12;

/** The headings among the lines, code blocks aside: `# marked`, underlined, `1.2 Numbered` and IN CAPITALS, the last three behind a blank line. */
function headingsIn(lines: readonly Line[], maxLevel: number, minLength: number): Heading[] {
  const found: Heading[] = [];
  let fence = '';
  let before = '';
  for (let at = 0; at < lines.length && found.length < HEADINGS; at += 1) {
    const line = lines[at]!.text;
    const mark = FENCE.exec(line)?.[1];
    if (mark && (fence === '' || fence === mark)) fence = fence === '' ? mark : '';
    const after = lines[at + 1]?.text.slice(0, HEADING_UNITS) ?? '';
    const heading = mark || fence !== '' || line.length > HEADING_UNITS ? undefined : readHeading({ before, line, after });
    // A paragraph starts behind a heading or a code block as behind a blank line.
    before = mark || heading || UNDERLINE.test(line) ? '' : line;
    if (heading && heading.level <= maxLevel && heading.text.length >= minLength)
      found.push({ ...heading, line_number: lines[at]!.number });
  }
  return found;
}

interface LineContext {
  readonly before: string;
  readonly line: string;
  readonly after: string;
}

/** The text and level of a line as a heading of some kind, the surest kind first; undefined for any other line. */
function readHeading({ before, line, after }: LineContext): Pick<Heading, 'text' | 'level' | 'type'> | undefined {
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

/** A heading with those below it. */
interface Branch {
  readonly text: string;
  readonly level: number;
  readonly line_number: number;
  readonly children: Branch[];
}

/** Headings as trees: each holds the deeper ones up to the next of its level or above. */
function hierarchyOf(headings: readonly Heading[]): Branch[] {
  const roots: Branch[] = [];
  const open: Branch[] = [];
  for (const { text, level, line_number } of headings) {
    const branch: Branch = { text, level, line_number, children: [] };
    while (open.length > 0 && open.at(-1)!.level >= level) open.pop();
    (open.at(-1)?.children ?? roots).push(branch);
    open.push(branch);
  }
  return roots;
}

const PREVIEW_UNITS = 200;

/** What stands under each heading up to the next one; lines count from 1, both ends included. */
function sectionsOf(headings: readonly Heading[], lines: readonly Line[]) {
  return headings.map((heading, index) => {
    const end = (headings[index + 1]?.line_number ?? lines.length + 1) - 1;
    const first = heading.line_number + (heading.type === 'underlined' ? 1 : 0);
    const content = lines
      .slice(first, end)
      .map((line) => line.text)
      .join('\n')
      .trim();
    return {
      title: heading.text,
      level: heading.level,
      start_line: heading.line_number,
      end_line: end,
      content_preview: content.slice(0, PREVIEW_UNITS),
      word_count: wordsOf(content).length,
    };
  });
}

/** Headings by level and by type, and their lengths. */
function headingStatistics(headings: readonly Heading[]) {
  const units = headings.reduce((sum, heading) => sum + heading.text.length, 0);
  return {
    by_level: countValues(headings.map((heading) => heading.level)),
    by_type: countValues(headings.map((heading) => heading.type)),
    max_depth: headings.reduce((most, heading) => Math.max(most, heading.level), 0),
    avg_heading_length: headings.length === 0 ? 0 : Math.round((units / headings.length) * 100) / 100,
  };
}

function countValues(values: readonly (string | number)[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
}
