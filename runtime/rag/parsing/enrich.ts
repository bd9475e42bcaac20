import type { Extractor as ConfiguredExtractor, ExtractorType } from '../../../schemas/generated/config/rag.js';
import type { PassageSpan } from '../chunking/passages.js';
import type { Metadata } from '../contract.js';
import { extractorOf } from '../extractors/index.js';
import type { ParsedDocument, SourceFile } from '../parsers/contract.js';
import { extensionOf } from '../parsers/index.js';
import { matches } from '../parsers/patterns.js';
import type { Candidate } from './choose.js';

/** Longest list of the whole document that every chunk of it repeats. */
const LIST_LIMIT = 50;

function shortened(metadata: Metadata): Metadata {
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
  for (const _ of text.matchAll(/\S+/g)) words += 1;
  return words;
}

/** Gives every chunk what is known of its file, its document and its place. */
export function described(
  file: SourceFile,
  document: ParsedDocument,
  { type, options }: Candidate,
  spans: readonly PassageSpan[],
): PassageSpan[] {
  const ofDocument = shortened(document.metadata);
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
  return spans.map((span) => {
    const { index, start, end } = span;
    const text = document.text.slice(start, end);
    const words = wordCount(text);
    const metadata = {
      ...ofDocument,
      file_path: file.name,
      ...span.metadata,
      ...ofFile,
      chunk_index: index,
      chunk_number: index + 1,
      total_chunks: spans.length,
      chunk_length: text.length,
      chunk_word_count: words,
      word_count: words,
      char_count: text.length,
      line_count: lineCount(text),
      ...(linked && index > 0 ? { previous_chunk_index: index - 1 } : {}),
      ...(linked && index + 1 < spans.length ? { next_chunk_index: index + 1 } : {}),
    };
    return { ...span, metadata };
  });
}

/** Extractors of a strategy that run for a file, the lowest priority first. */
export function extractorsFor(name: string, configured: readonly ConfiguredExtractor[]): ConfiguredExtractor[] {
  return configured
    .filter(({ file_include_patterns: patterns = [], required_for: required = [] }) => {
      const all = [...patterns, ...required];
      return patterns.length === 0 || all.some((pattern) => matches(name, pattern));
    })
    .sort((one, other) => (one.priority ?? 50) - (other.priority ?? 50));
}

/** What the extractors came to. */
export interface Enriched {
  readonly passages: readonly PassageSpan[];
  readonly applied: readonly ExtractorType[];
  /** For the log: an extractor that fails costs the chunk nothing else. */
  readonly failures: readonly string[];
}

/** Runs the extractors over every chunk. What the chunk knows already is not overwritten. */
export function enriched(text: string, passages: readonly PassageSpan[], configured: readonly ConfiguredExtractor[]): Enriched {
  const applied = new Set<ExtractorType>();
  const failures = new Map<ExtractorType, string>();
  const results = passages.map((passage) => {
    let flat: Metadata = {};
    let output: Metadata = {};
    for (const { type, config = {} } of configured) {
      try {
        const found = extractorOf(type).extract(text.slice(passage.start, passage.end), config);
        flat = { ...flat, ...found.flat };
        output = { ...output, ...found.output };
        applied.add(type);
      } catch (error) {
        failures.set(type, `${type}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (configured.length === 0) return passage;
    return { ...passage, metadata: { ...flat, ...passage.metadata, extractors: output } };
  });
  return { passages: results, applied: [...applied], failures: [...failures.values()] };
}
