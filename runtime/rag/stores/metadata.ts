import type { Metadata } from '../../documents/contract.js';
import type { Chunk } from '../contract.js';

/** Titles weigh more than the words below them. */
const TITLE_TIMES = 2;

/** What of a chunk its words are found by: its text, after the titles above it that it does not show itself. */
export function indexedText({ text, metadata }: Pick<Chunk, 'text' | 'metadata'>): string {
  const { headings } = metadata;
  if (!Array.isArray(headings)) return text;
  const titles = headings.filter((title): title is string => typeof title === 'string' && !text.includes(title)).join('\n');
  return titles === '' ? text : `${`${titles}\n`.repeat(TITLE_TIMES)}${text}`;
}

/** What the user calls a document: the first of these that its metadata has. */
const NAME_KEYS = ['file_name', 'filename', 'source', 'title'] as const;
/** Names under which lists and answers show what chunks keep under another. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  filename: 'file_name',
  original_filename: 'file_name',
  id: 'document_hash',
  hash: 'document_hash',
  document_id: 'document_hash',
  size_bytes: 'file_size',
  parser_used: 'parser_type',
  date_ingested: 'processing_timestamp',
  chunk_count: 'total_chunks',
};

/** The name of a document, by the metadata of one of its chunks; empty when there is none. */
export function documentName(metadata: Metadata): string {
  for (const key of NAME_KEYS) if (typeof metadata[key] === 'string') return metadata[key];
  return '';
}

/** The paths of metadata that a path of a filter means: itself, and the name under which chunks keep what lists and answers show by it. */
export function storedPaths(path: string): readonly string[] {
  return Object.hasOwn(STORED_NAMES, path) ? [path, STORED_NAMES[path]!] : [path];
}
