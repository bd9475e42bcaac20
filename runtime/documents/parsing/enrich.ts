import type { Extractor as ConfiguredExtractor, ExtractorType } from '../../../schemas/generated/config/rag.js';
import type { PassageSpan } from '../chunking/passages.js';
import { isBlankUnit } from '../chunking/units.js';
import type { Metadata } from '../contract.js';
import { extractorOf } from '../extractors/index.js';
import { extensionOf, type ParsedDocument, type SourceFile } from '../parsers/contract.js';
import { matchesPattern } from '../parsers/patterns.js';
import type { Candidate } from './choose.js';

/** Longest list of the whole document that every chunk of it repeats. */
const LIST_LIMIT = 50;
const NO_OPTIONS: Metadata = {};

function shortenList(metadata: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, Array.isArray(value) ? value.slice(0, LIST_LIMIT) : value]),
  );
}

function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function wordCount(text: string): number {
  let words = 0;
  let inside = false;
  for (let at = 0; at < text.length; at += 1) {
    const isBlank = isBlankUnit(text.charCodeAt(at));
    if (!isBlank && !inside) words += 1;
    inside = !isBlank;
  }
  return words;
}

/** Adds to a passage what is known of its file, its document and its place; `total` is the number of passages. */
export function describePassages(
  file: SourceFile,
  document: ParsedDocument,
  { type, options }: Candidate,
  total: number,
): (span: PassageSpan) => PassageSpan {
  const ofDocument = { ...shortenList(document.metadata), file_path: file.name };
  const ofFile = {
    source: file.name,
    source_type: 'file',
    file_name: file.name,
    file_extension: extensionOf(file.name),
    mime_type: file.mimeType,
    file_size: file.sizeBytes,
    parser_type: type,
    chunk_size: options.chunk_size,
  };
  const linked = options.include_prev_next_rel === true;
  return (span) => {
    const { index, start, end } = span;
    const text = document.text.slice(start, end);
    const words = wordCount(text);
    const place: Record<string, unknown> = {
      chunk_index: index,
      chunk_number: index + 1,
      total_chunks: total,
      chunk_length: text.length,
      chunk_word_count: words,
      word_count: words,
      char_count: text.length,
      line_count: lineCount(text),
    };
    if (linked && index > 0) place.previous_chunk_index = index - 1;
    if (linked && index + 1 < total) place.next_chunk_index = index + 1;
    return { ...span, metadata: Object.assign({}, ofDocument, span.metadata, ofFile, place) };
  };
}

/** Extractors of a strategy that run for a file, the lowest priority first. */
export function extractorsFor(name: string, configured: readonly ConfiguredExtractor[]): ConfiguredExtractor[] {
  return configured
    .filter(({ file_include_patterns: patterns = [], required_for: required = [] }) => {
      const all = [...patterns, ...required];
      return patterns.length === 0 || all.some((pattern) => matchesPattern(name, pattern));
    })
    .sort((one, other) => (one.priority ?? 50) - (other.priority ?? 50));
}

/** Runs extractors over passages, one after the other. */
export class Enrichment {
  readonly #applied = new Set<ExtractorType>();
  readonly #failures = new Map<ExtractorType, string>();

  constructor(readonly configured: readonly ConfiguredExtractor[]) {}

  /** Those that ran so far. */
  get applied(): ExtractorType[] {
    return [...this.#applied];
  }

  /** For the log: an extractor that fails costs the chunk nothing else. */
  get failures(): string[] {
    return [...this.#failures.values()];
  }

  /** Adds to a passage what the extractors find in its text. What it knows already is not overwritten. */
  enriched(passage: PassageSpan, text: string): PassageSpan {
    if (this.configured.length === 0) return passage;
    const flat: Record<string, unknown> = {};
    const output: Record<string, unknown> = {};
    for (const { type, config = NO_OPTIONS } of this.configured) {
      try {
        const found = extractorOf(type).extract(text, config);
        Object.assign(flat, found.flat);
        Object.assign(output, found.output);
        this.#applied.add(type);
      } catch (error) {
        this.#failures.set(type, `${type}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return { ...passage, metadata: Object.assign(flat, passage.metadata, { extractors: output }) };
  }
}
