import { Failure } from '../../../schemas/errors.js';
import type { Parser as ConfiguredParser, DataProcessingStrategy, ParserType } from '../../../schemas/generated/config/rag.js';
import type { Metadata } from '../contract.js';
import { extensionOf, type Parser, type SourceFile } from '../parsers/contract.js';
import { PARSERS, parserFor, parserOf, typeOf } from '../parsers/index.js';
import { matches } from '../parsers/patterns.js';
import { effectiveConfig, type ParserOverrides } from './config.js';

/** A parser to try on a file, with its complete options. */
export interface Candidate {
  readonly parser: Parser;
  readonly type: ParserType;
  readonly options: Metadata;
  /** The config of `auto`, which chose the parser; another parser that the content calls for goes by it too. */
  readonly auto?: Metadata;
}

type File = Pick<SourceFile, 'name' | 'mimeType'>;

const sorted = (parsers: readonly ConfiguredParser[]): ConfiguredParser[] =>
  [...parsers].sort((one, other) => (one.priority ?? 50) - (other.priority ?? 50));

const withDot = (extension: string): string => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase();

function takesName(configured: ConfiguredParser, file: File): boolean {
  const { file_include_patterns: patterns = [], file_extensions: extensions = [], mime_types: types = [] } = configured;
  if (patterns.some((pattern) => matches(file.name, pattern))) return true;
  if (extensions.some((extension) => withDot(extension) === extensionOf(file.name))) return true;
  if (patterns.length > 0 || extensions.length > 0 || types.length > 0) return false;
  // Where nothing is said a parser takes what its format is known by.
  return parserOf(configured.type)?.extensions.includes(extensionOf(file.name)) ?? true;
}

function takesMime(configured: ConfiguredParser, file: File): boolean {
  const mime = file.mimeType.split(';')[0]!.trim().toLowerCase();
  const { file_include_patterns: patterns = [], file_extensions: extensions = [] } = configured;
  const own = patterns.length > 0 || extensions.length > 0 ? [] : (parserOf(configured.type)?.mimeTypes ?? []);
  const types = configured.mime_types?.length ? configured.mime_types : own;
  return mime !== '' && types.some((type) => matches(mime, type.toLowerCase()));
}

/** `auto` stands for the parser of the file's format, plain text where none is known by the name. */
function candidate(type: ParserType, config: Metadata, file: File, overrides: ParserOverrides): Candidate {
  const named = parserOf(type);
  if (named) return { parser: named, type, options: effectiveConfig({ type, config }, overrides) };
  return autoCandidate(parserFor(file) ?? PARSERS.find((parser) => parser.id === 'text')!, config, overrides);
}

/** A parser with the options that `auto` has for it. */
export function autoCandidate(parser: Parser, config: Metadata, overrides: ParserOverrides = {}): Candidate {
  const type = typeOf(parser);
  const tabular = parser.defaults[type]?.chunk_strategy === 'rows';
  // The size of `auto` counts characters; a table keeps its rows.
  const { chunk_size, chunk_overlap, ...rest } = effectiveConfig({ type: 'auto', config }, overrides);
  const sizes = tabular ? {} : { chunk_size, chunk_overlap };
  return { parser, type, options: effectiveConfig({ type, config: { ...rest, ...sizes } }, overrides), auto: config };
}

function fallbackType(configured: ConfiguredParser): ParserType[] {
  const type = configured.fallback_parser as ParserType | undefined;
  return type !== undefined && (type === 'auto' || parserOf(type) !== undefined) ? [type] : [];
}

/**
 * The parsers to try on a file, best first: those that take its name, in the order of priority, then those that take its media type, each
 * followed by its fallback; the fallbacks of all where none takes it. Throws `Failure('invalid')` where nothing is left.
 */
export function candidatesFor(file: File, strategy: DataProcessingStrategy, overrides: ParserOverrides = {}): Candidate[] {
  const open = sorted(strategy.parsers).filter(
    (one) => one.type !== 'DirectoryParser' && !one.file_exclude_patterns?.some((pattern) => matches(file.name, pattern)),
  );
  const byName = open.filter((one) => takesName(one, file));
  const byMime = open.filter((one) => !byName.includes(one) && takesMime(one, file));
  const taken = [...byName, ...byMime];
  const tried = taken.flatMap((one) => [
    candidate(one.type, one.config ?? {}, file, overrides),
    ...fallbackType(one).map((type) => candidate(type, {}, file, overrides)),
  ]);
  const found = taken.length > 0 ? tried : open.flatMap(fallbackType).map((type) => candidate(type, {}, file, overrides));
  if (found.length > 0) return found;
  const types = strategy.parsers.map((one) => one.type).join(', ') || 'none';
  throw new Failure(
    'invalid',
    `No parser of the strategy ${strategy.name} takes ${file.name} (${file.mimeType || 'no media type'}); it has ${types}.`,
    {
      code: 'no_parser',
    },
  );
}

/** The parser for a folder: the configured one, or the usual one where `auto` is. */
export function folderCandidate(name: string, strategy: DataProcessingStrategy, overrides: ParserOverrides = {}): Candidate {
  const configured = strategy.parsers.find((one) => one.type === 'DirectoryParser');
  if (!configured && !strategy.parsers.some((one) => one.type === 'auto'))
    throw new Failure('invalid', `${name} is a folder, and the strategy ${strategy.name} has no DirectoryParser.`, { code: 'no_parser' });
  return candidate('DirectoryParser', configured?.config ?? {}, { name, mimeType: '' }, overrides);
}
