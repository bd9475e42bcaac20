import { RE2JS } from 're2js';
import { Failure } from '../../../schemas/errors.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import type { Metadata } from '../contract.js';
import type { Span } from '../text/words.js';
import { defineExtractor } from './contract.js';
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
    const matches = renderMatches(text, spans, options);
    return [name, { matches, count: matches.length, description }] as const;
  });
  return { output: { patterns: Object.fromEntries(found) }, flat: {} };
});

/** A pattern of the user: RE2 syntax, which has neither look-around nor back-references and runs in linear time. */
interface CustomPattern {
  readonly name: string;
  readonly description: string;
  readonly expression: string;
}

/** The patterns of a configuration; throws `Failure('invalid')` for one without a name or expression, and for a name used twice. */
function readCustom(entries: readonly Metadata[]): CustomPattern[] {
  const patterns = entries.map(readPattern);
  const names = new Set<string>();
  for (const { name } of patterns) {
    if (names.has(name)) throw new Failure('invalid', `PatternExtractor.custom_patterns names '${name}' twice; give each its own name.`);
    names.add(name);
  }
  return patterns;
}

const NAME_UNITS = 128;
const EXPRESSION_UNITS = 1000;

function readPattern(entry: Metadata, index: number): CustomPattern {
  const { name, pattern: expression, description = '' } = entry;
  const at = `PatternExtractor.custom_patterns[${index}]`;
  if (typeof name !== 'string' || name === '' || name.length > NAME_UNITS) {
    throw new Failure('invalid', `${at}.name must be a text of 1 to ${NAME_UNITS} characters.`);
  }
  if (typeof expression !== 'string' || expression === '' || expression.length > EXPRESSION_UNITS) {
    throw new Failure('invalid', `${at}.pattern, named '${name}', must be a text of 1 to ${EXPRESSION_UNITS} characters.`);
  }
  return { name, expression, description: typeof description === 'string' ? description.slice(0, EXPRESSION_UNITS) : '' };
}

/** Instructions of a compiled pattern by code units of text: what one search may cost, some seconds at worst. */
const SEARCH_STEPS = 20_000_000;

/** All searches of one pattern in one text; checked between them. */
const TIME_LIMIT_MS = 5000;

/** Searches of one pattern in one text; each match, empty ones among them, takes one. */
const SEARCHES = 10_000;

/**
 * Matches of a user's pattern; `^` and `$` stand for line ends, empty matches are passed over. Throws `Failure('invalid')` for an
 * expression that is wrong or too large for the text, `Failure('timed_out')` past the time limit.
 */
function* findCustom(text: string, pattern: CustomPattern, caseSensitive: boolean): Generator<Span> {
  const compiled = compile(pattern, caseSensitive);
  if (compiled.programSize() * text.length > SEARCH_STEPS) {
    const most = Math.floor(SEARCH_STEPS / text.length);
    throw new Failure(
      'invalid',
      `The pattern '${pattern.name}' compiles to ${compiled.programSize()} steps; for a text of ${text.length} characters at most ${most} are allowed. Use smaller counts or smaller chunks.`,
    );
  }
  const matcher = compiled.matcher(text);
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (let search = 0; search < SEARCHES && matcher.find(); search += 1) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end > start) yield { text: text.slice(start, end), start, end };
    if (performance.now() > deadline) {
      throw new Failure('timed_out', `The pattern '${pattern.name}' took more than ${TIME_LIMIT_MS} ms; make it more specific.`);
    }
  }
}

function compile({ name, expression }: CustomPattern, caseSensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(expression, RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(
      'invalid',
      `The pattern '${name}' is not valid in RE2 syntax (no look-around, no back-references): ${reason.slice(0, 200)}`,
      {
        cause,
      },
    );
  }
}

interface MatchOptions {
  readonly case_sensitive: boolean;
  readonly return_positions: boolean;
  readonly include_context: boolean;
  readonly max_matches_per_pattern: number;
  readonly deduplicate_matches: boolean;
}

/** Longest match that is given whole; of a longer one the start is given, with the offsets of it all. */
const MATCH_UNITS = 1000;

/** Text on each side of a match. */
const CONTEXT_UNITS = 50;

/** Matches as texts, or as objects where there is more to say of them. */
function renderMatches(text: string, spans: Iterable<Span>, options: MatchOptions): unknown[] {
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
