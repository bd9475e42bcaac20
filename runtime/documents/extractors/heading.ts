import type { OptionShapes } from '../../config/plugin-options.js';
import { type Line, linesOf } from '../text/lines.js';
import { wordsOf } from '../text/words.js';
import { defineExtractor } from './contract.js';
import { type Heading, headingsIn } from './find-headings.js';

/** A heading with those below it. */
interface Branch {
  readonly text: string;
  readonly level: number;
  readonly line_number: number;
  readonly children: Branch[];
}

const PREVIEW_UNITS = 200;

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

function tally(values: readonly (string | number)[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
}

/** Headings by level and by type, and their lengths. */
function headingStatistics(headings: readonly Heading[]) {
  const units = headings.reduce((sum, heading) => sum + heading.text.length, 0);
  return {
    by_level: tally(headings.map((heading) => heading.level)),
    by_type: tally(headings.map((heading) => heading.type)),
    max_depth: headings.reduce((most, heading) => Math.max(most, heading.level), 0),
    avg_heading_length: headings.length === 0 ? 0 : Math.round((units / headings.length) * 100) / 100,
  };
}

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
