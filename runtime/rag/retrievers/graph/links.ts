import { isObject } from '../../../config/values.js';
import type { Metadata } from '../../../documents/contract.js';

/** A value of metadata that chunks may share: what ties them together. */
export interface Link {
  /** The path of the metadata, as filters write it. */
  readonly path: string;
  readonly value: string;
}

/** Where extractors and parsers write entities and headings. */
const FLAT_ENTITIES = /^entities_/;
const LONGEST_VALUE = 200;
const HEADING_KEYS = ['headings', 'heading', 'section'];

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list
    .map((one) => (isObject(one) ? one.text : one))
    .filter((one): one is string => typeof one === 'string' && one.trim() !== '' && one.length <= LONGEST_VALUE);
}

const under = (path: string, value: unknown): Link[] => texts(value).map((text) => ({ path, value: text }));

/** The entities of a chunk: the flat lists `entities_*`, else those below `extractors.entities`. */
function entitiesOf(metadata: Metadata): Link[] {
  const flat = Object.keys(metadata).filter((key) => FLAT_ENTITIES.test(key));
  if (flat.length > 0) return flat.flatMap((key) => under(key, metadata[key]));
  const nested = isObject(metadata.extractors) ? metadata.extractors.entities : undefined;
  if (!isObject(nested)) return [];
  return Object.keys(nested).flatMap((type) => under(`extractors.entities.${type}.text`, nested[type]));
}

/** The headings that a chunk stands under. */
function headingsOf(metadata: Metadata): Link[] {
  return HEADING_KEYS.flatMap((key) => under(key, metadata[key]));
}

/** What ties a chunk to others, each once. */
export function linksOf(metadata: Metadata, wanted: { entities: boolean; headings: boolean }): Link[] {
  const links = [...(wanted.entities ? entitiesOf(metadata) : []), ...(wanted.headings ? headingsOf(metadata) : [])];
  return [...new Map(links.map((link) => [keyOf(link), link])).values()];
}

/** A link as a text, to compare. */
export function keyOf({ path, value }: Link): string {
  return `${path}=${value}`;
}
