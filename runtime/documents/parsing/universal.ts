import type { DataProcessingStrategy } from '../../../schemas/generated/config/rag.js';
import { BUILT_IN_STRATEGY } from '../../config/checks.js';

/** The processing strategy of datasets that name none: every known format, with what most questions need. */
export const UNIVERSAL_STRATEGY: DataProcessingStrategy = {
  name: BUILT_IN_STRATEGY,
  parsers: [{ type: 'auto' }],
  extractors: [{ type: 'ContentStatisticsExtractor' }, { type: 'HeadingExtractor' }, { type: 'KeywordExtractor' }],
};
