import type { ExtractorType } from '../../../schemas/generated/config/rag.js';
import { type OptionShapes, type OptionValues, readOptions } from '../../config/plugin-options.js';
import type { Metadata } from '../contract.js';

/** What an extractor finds in one chunk. */
export interface Extracted {
  /** Goes to `metadata.extractors`, under the extractor's keys. */
  readonly output: Metadata;
  /** Convenience keys beside the chunk's own metadata. */
  readonly flat: Metadata;
}

/** Finds something in the text of a chunk. Runs in a parse host, without network; what it throws is logged and costs the chunk nothing. */
export interface Extractor {
  readonly type: ExtractorType;
  /** Its options with their defaults and ranges. */
  readonly options: OptionShapes;
  /**
   * `options` are the configured ones; defaults fill in what is absent. Linear in the length of the text, for any text, with an output
   * bounded whatever the text. Offsets in the output are UTF-16 code units of the text, line numbers count from 1.
   * Throws `Failure('invalid')` for options of a wrong type.
   */
  extract(text: string, options: Metadata): Extracted;
}

/** Code units of a text that extractors look at; what lies behind is left out. Chunks are far smaller. */
const ANALYSED_UNITS = 1024 * 1024;

/** An extractor that gets its options checked and typed, and a text of bounded length. */
export function defineExtractor<const S extends OptionShapes>(
  type: ExtractorType,
  options: S,
  extract: (text: string, options: OptionValues<S>) => Extracted,
): Extractor {
  // All chunks of a file come with the same options.
  let known: { readonly given: Metadata; readonly read: OptionValues<S> } | undefined;
  return {
    type,
    options,
    extract: (text, given) => {
      if (known?.given !== given) known = { given, read: readOptions(type, options, given) };
      return extract(text.length > ANALYSED_UNITS ? text.slice(0, ANALYSED_UNITS) : text, known.read);
    },
  };
}
