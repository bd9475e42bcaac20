import { Failure } from '../../../schemas/errors.js';
import type { Parser as ConfiguredParser, ParserType } from '../../../schemas/generated/config/rag.js';
import { renderSetting } from '../../../schemas/secrets.js';
import { isObject } from '../../base/json.js';
import { strategyOf } from '../chunking/chunk.js';
import type { ChunkingOptions } from '../chunking/contract.js';
import type { Metadata } from '../contract.js';
import { encodingOf } from '../parsers/encodings/names.js';
import { AUTO_DEFAULTS, parserOf } from '../parsers/index.js';

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
