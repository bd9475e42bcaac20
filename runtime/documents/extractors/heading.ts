import type { OptionShapes } from '../../config/plugin-options.js';
import { linesOf } from '../text/lines.js';
import { defineExtractor } from './define.js';
import { headingsIn } from './headings/find.js';
import { headingStatistics, hierarchyOf, sectionsOf } from './headings/outline.js';

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
