import type { Metadata } from '../contract.js';

/** What the user calls a document: the first of these that its metadata has. */
const NAME_KEYS = ['file_name', 'filename', 'source', 'title'] as const;

/** The name of a document, by the metadata of one of its chunks; empty when there is none. */
export function documentName(metadata: Metadata): string {
  for (const key of NAME_KEYS) if (typeof metadata[key] === 'string') return metadata[key];
  return '';
}
