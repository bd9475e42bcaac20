import type { Metadata } from '../contract.js';
import type { Archive } from './archive.js';
import { textsOf } from './markup.js';
import { presentMembers } from './writer.js';

const CORE = {
  'dc:title': 'title',
  'dc:creator': 'author',
  'dc:subject': 'subject',
  'dcterms:created': 'created',
  'dcterms:modified': 'modified',
  'cp:keywords': 'keywords',
  'dc:description': 'description',
  'meta:initial-creator': 'author',
  'meta:creation-date': 'created',
  'dc:date': 'modified',
  'dc:language': 'language',
  'dc:publisher': 'publisher',
} as const;

/** Title, author and dates from a metadata part of an office document or book. */
export function coreProperties(archive: Archive, path: string): Metadata {
  const texts = textsOf(archive.parts.get(path), Object.keys(CORE));
  // The first wins: a book may name several dates and creators.
  return presentMembers(Object.fromEntries(texts.reverse().map(({ name, text }) => [CORE[name as keyof typeof CORE], text])));
}
