import type { OptionShapes } from '../../config/plugin-options.js';
import type { Metadata } from '../contract.js';
import type { Span } from '../text/words.js';
import { defineExtractor } from './contract.js';
import { findCustom, readCustom } from './patterns/custom.js';
import { PREDEFINED, type PredefinedName } from './patterns/predefined.js';

const OPTIONS = {
  predefined_patterns: {
    type: 'array',
    default: [],
    items: {
      type: 'string',
      enum: ['email', 'phone', 'url', 'ip', 'ip_address', 'ssn', 'credit_card', 'zip_code', 'file_path', 'version', 'date'],
    },
    maxItems: 32,
    description: 'Patterns that come with the product.',
    examples: [['email', 'phone']],
  },
  custom_patterns: {
    type: 'array',
    default: [],
    items: { type: 'object' },
    maxItems: 50,
    description: 'Own patterns in RE2 syntax, each {name, pattern, description}.',
    examples: [[{ name: 'ticket', pattern: '[A-Z]{2,5}-[0-9]+' }]],
  },
  case_sensitive: { type: 'boolean', default: false, description: 'Whether the case of letters counts, also when matches are compared.' },
  return_positions: { type: 'boolean', default: false, description: 'Gives the start and end of each match.' },
  include_context: { type: 'boolean', default: false, description: 'Gives the text around each match.' },
  max_matches_per_pattern: {
    type: 'integer',
    default: 100,
    minimum: 1,
    maximum: 1000,
    description: 'Matches of one pattern in the answer.',
  },
  deduplicate_matches: { type: 'boolean', default: true, description: 'Gives equal matches once.' },
} as const satisfies OptionShapes;

/** Text on each side of a match. */
const CONTEXT_UNITS = 50;
/** Longest match that is given whole; of a longer one the start is given, with the offsets of it all. */
const MATCH_UNITS = 1000;

interface Shown {
  readonly case_sensitive: boolean;
  readonly return_positions: boolean;
  readonly include_context: boolean;
  readonly max_matches_per_pattern: number;
  readonly deduplicate_matches: boolean;
}

/** Matches as texts, or as objects where there is more to say of them. */
function shown(text: string, spans: Iterable<Span>, options: Shown): unknown[] {
  const seen = new Set<string>();
  const matches: unknown[] = [];
  for (const span of spans) {
    const match = span.text.slice(0, MATCH_UNITS);
    const key = options.case_sensitive ? match : match.toLowerCase();
    if (options.deduplicate_matches && seen.has(key)) continue;
    seen.add(key);
    const more: Metadata = {
      ...(options.return_positions && { start: span.start, end: span.end }),
      ...(options.include_context && {
        context: text.slice(Math.max(0, span.start - CONTEXT_UNITS), Math.min(span.end, span.start + MATCH_UNITS) + CONTEXT_UNITS),
      }),
    };
    matches.push(Object.keys(more).length > 0 ? { text: match, ...more } : match);
    if (matches.length === options.max_matches_per_pattern) break;
  }
  return matches;
}

/** Matches of predefined patterns and of the user's own, which win where they share a name. Offsets are those of the whole match. */
export const pattern = defineExtractor('PatternExtractor', OPTIONS, (text, options) => {
  const searches = new Map<string, { description: string; spans: Iterable<Span> }>();
  for (const name of options.predefined_patterns as readonly PredefinedName[]) {
    const { description, find } = PREDEFINED[name];
    searches.set(name, { description, spans: find(text, options.case_sensitive) });
  }
  for (const custom of readCustom(options.custom_patterns)) {
    searches.set(custom.name, { description: custom.description, spans: findCustom(text, custom, options.case_sensitive) });
  }
  const found = [...searches].map(([name, { description, spans }]) => {
    const matches = shown(text, spans, options);
    return [name, { matches, count: matches.length, description }] as const;
  });
  return { output: { patterns: Object.fromEntries(found) }, flat: {} };
});
