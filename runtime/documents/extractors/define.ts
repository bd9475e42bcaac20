import type { ExtractorType } from '../../../schemas/generated/config/rag.js';
import { type OptionShapes, type OptionValues, readOptions } from '../../config/plugin-options.js';
import type { Metadata } from '../contract.js';
import type { Extracted, Extractor } from './contract.js';

/** Code units of a text that extractors look at; what lies behind is left out. Chunks are far smaller. */
export const ANALYSED_UNITS = 1024 * 1024;

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
