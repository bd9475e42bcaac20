import { RE2JS } from 're2js';
import { Failure } from '../../../../schemas/errors.js';
import type { Metadata } from '../../contract.js';
import type { Span } from '../../text/words.js';

/** A pattern of the user: RE2 syntax, which has neither look-around nor back-references and runs in linear time. */
export interface CustomPattern {
  readonly name: string;
  readonly description: string;
  readonly expression: string;
}

const NAME_UNITS = 128;
const EXPRESSION_UNITS = 1000;
/** Instructions of a compiled pattern by code units of text: what one search may cost, some seconds at worst. */
const SEARCH_STEPS = 20_000_000;
/** Searches of one pattern in one text; each match, empty ones among them, takes one. */
const SEARCHES = 10_000;
/** All searches of one pattern in one text; checked between them. */
const TIME_LIMIT_MS = 5000;

function read(entry: Metadata, index: number): CustomPattern {
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

/** The patterns of a configuration; throws `Failure('invalid')` for one without a name or expression, and for a name used twice. */
export function readCustom(entries: readonly Metadata[]): CustomPattern[] {
  const patterns = entries.map(read);
  const names = new Set<string>();
  for (const { name } of patterns) {
    if (names.has(name)) throw new Failure('invalid', `PatternExtractor.custom_patterns names '${name}' twice; give each its own name.`);
    names.add(name);
  }
  return patterns;
}

/**
 * Matches of a user's pattern; `^` and `$` stand for line ends, empty matches are passed over. Throws `Failure('invalid')` for an
 * expression that is wrong or too large for the text, `Failure('timed_out')` past the time limit.
 */
export function* findCustom(text: string, pattern: CustomPattern, caseSensitive: boolean): Generator<Span> {
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
