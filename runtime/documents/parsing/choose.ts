import { Failure } from '../../../schemas/errors.js';
import type { Parser as ConfiguredParser, DataProcessingStrategy, ParserType } from '../../../schemas/generated/config/rag.js';
import { renderSetting } from '../../../schemas/secrets.js';
import { isObject } from '../../base/json.js';
import { strategyOf } from '../chunking/chunk.js';
import type { ChunkingOptions } from '../chunking/contract.js';
import type { Metadata } from '../contract.js';
import { extensionOf, type Parser, type SourceFile } from '../parsers/contract.js';
import { encodingOf } from '../parsers/encodings/names.js';
import { AUTO_DEFAULTS, PARSERS, parserFor, parserOf, typeOf } from '../parsers/index.js';
import { matchesPattern } from '../parsers/patterns.js';

/** A parser to try on a file, with its complete options. */
export interface Candidate {
  readonly parser: Parser;
  readonly type: ParserType;
  readonly options: Metadata;
  /** The config of `auto`, which chose the parser; another parser that the content calls for goes by it too. */
  readonly auto?: Metadata;
}

type File = Pick<SourceFile, 'name' | 'mimeType'>;

/**
 * The parsers to try on a file, best first: those that take its name, in the order of priority, then those that take its media type, each
 * followed by its fallback; the fallbacks of all where none takes it. Throws `Failure('invalid')` where nothing is left.
 */
export function candidatesFor(file: File, strategy: DataProcessingStrategy, overrides: ParserOverrides = {}): Candidate[] {
  const open = byPriority(strategy.parsers).filter(
    (one) => one.type !== 'DirectoryParser' && !one.file_exclude_patterns?.some((pattern) => matchesPattern(file.name, pattern)),
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

const byPriority = (parsers: readonly ConfiguredParser[]): ConfiguredParser[] =>
  [...parsers].sort((one, other) => (one.priority ?? 50) - (other.priority ?? 50));

const withDot = (extension: string): string => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase();

function takesName(configured: ConfiguredParser, file: File): boolean {
  const { file_include_patterns: patterns = [], file_extensions: extensions = [], mime_types: types = [] } = configured;
  if (patterns.some((pattern) => matchesPattern(file.name, pattern))) return true;
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
  return mime !== '' && types.some((type) => matchesPattern(mime, type.toLowerCase()));
}

/** `auto` stands for the parser of the file's format, plain text where none is known by the name. */
function candidate(type: ParserType, config: Metadata, file: File, overrides: ParserOverrides): Candidate {
  const named = parserOf(type);
  if (named) return { parser: named, type, options: effectiveConfig({ type, config }, overrides) };
  return autoCandidate(parserFor(file) ?? PARSERS.find((parser) => parser.id === 'text')!, config, overrides);
}

/** Options by parser type for one request; `*` and `__all__` go to every parser. */
export type ParserOverrides = Readonly<Record<string, Metadata>>;

/** What a preview changes for itself. */
export interface PreviewOptions {
  readonly chunk_size?: number;
  readonly chunk_overlap?: number;
  readonly chunk_strategy?: string;
}

const SIZE_LIMIT = 100_000;
/** Overlap that a default comes down to where it does not fit a smaller configured size. */
const OVERLAP_SHARE = 5;

function merge(under: Metadata, over: Metadata): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined || key === '__proto__') continue;
    const below = merged[key];
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}

/** The overrides that concern a type: for all, for other names of its parser, for itself; later ones win. */
function overridesOf(type: ParserType, overrides: ParserOverrides): Metadata[] {
  const family = Object.keys(parserOf(type)?.defaults ?? {}).filter((name) => name !== type && !name.includes('_'));
  return ['*', '__all__', ...family, type].flatMap((key) => (isObject(overrides[key]) ? [overrides[key]] : []));
}

function sameKind(value: unknown, standard: unknown): boolean {
  if (standard === null || standard === undefined || value === null) return true;
  return Array.isArray(standard) ? Array.isArray(value) : typeof value === typeof standard && !Array.isArray(value);
}

function checkKinds(type: ParserType, defaults: Metadata, config: Metadata): void {
  for (const [key, standard] of Object.entries(defaults)) {
    if (sameKind(config[key], standard)) continue;
    const allowed = Array.isArray(standard) ? 'a list' : `a ${typeof standard}`;
    throw new Failure('invalid', `${type}.${key} is ${renderSetting(key, config[key])}; it must be ${allowed}.`);
  }
}

/**
 * The complete options of a parser: its defaults, under the strategy's config, under the overrides of the request. Throws
 * `Failure('invalid')` that names the option for a wrong type, a `chunk_size` outside 1 to 100,000 or a `chunk_overlap` not below it.
 */
export function effectiveConfig(
  { type, config = {} }: Pick<ConfiguredParser, 'type' | 'config'>,
  overrides: ParserOverrides = {},
): Metadata {
  const defaults = parserOf(type)?.defaults[type] ?? AUTO_DEFAULTS;
  const configured = [config, ...overridesOf(type, overrides)].reduce<Record<string, unknown>>(merge, {});
  const effective = merge(defaults, configured);
  checkKinds(type, defaults, effective);
  const size = effective.chunk_size as number;
  if (!Number.isInteger(size) || size < 1 || size > SIZE_LIMIT)
    throw new Failure('invalid', `${type}.chunk_size is ${size}; it must be a whole number from 1 to ${SIZE_LIMIT}.`);
  if (configured.chunk_overlap === undefined && (effective.chunk_overlap as number) >= size)
    effective.chunk_overlap = Math.floor(size / OVERLAP_SHARE);
  const overlap = effective.chunk_overlap as number;
  if (!Number.isInteger(overlap) || overlap < 0 || overlap >= size)
    throw new Failure('invalid', `${type}.chunk_overlap is ${overlap}; it must be a whole number from 0 to below chunk_size (${size}).`);
  if (effective.encoding !== undefined && encodingOf(String(effective.encoding)) === undefined)
    throw new Failure(
      'invalid',
      `${type}.encoding is ${JSON.stringify(effective.encoding)}, which names no encoding that is read; utf-8, windows-1251, shift_jis and gb18030 are some that do.`,
    );
  if (effective.chunk_strategy !== undefined) strategyOf(effective.chunk_strategy);
  return effective;
}

/** How to cut, from the options of a parser. */
export function chunkingOf(options: Metadata): ChunkingOptions {
  return {
    strategy: strategyOf(options.chunk_strategy ?? 'paragraphs'),
    size: options.chunk_size as number,
    overlap: options.chunk_overlap as number,
    bufferSize: Math.min(10, Math.max(1, Math.trunc(Number(options.semantic_buffer_size ?? 1)))),
    breakpointPercentile: Math.min(99, Math.max(50, Number(options.semantic_breakpoint_percentile_threshold ?? 95))),
  };
}
