import type { ExtractorType } from '../../../schemas/generated/config/rag.js';
import { contentStatistics } from './content-statistics.js';
import type { Extractor } from './contract.js';
import { dateTime } from './date-time.js';
import { entity } from './entity.js';
import { heading } from './heading.js';
import { keyword, rakeKeyword, tfidfKeyword, yakeKeyword } from './keywords.js';
import { link } from './link.js';
import { path } from './path.js';
import { pattern } from './pattern.js';
import { summary } from './summary.js';
import { table } from './table.js';

/** Every extractor by its configured name; a name of the schema without a member here does not compile. */
const BY_TYPE = {
  ContentStatisticsExtractor: contentStatistics,
  HeadingExtractor: heading,
  KeywordExtractor: keyword,
  YAKEExtractor: yakeKeyword,
  RAKEExtractor: rakeKeyword,
  TFIDFExtractor: tfidfKeyword,
  EntityExtractor: entity,
  DateTimeExtractor: dateTime,
  LinkExtractor: link,
  PathExtractor: path,
  PatternExtractor: pattern,
  SummaryExtractor: summary,
  TableExtractor: table,
} as const satisfies Record<ExtractorType, Extractor>;

/** Every extractor. */
export const extractors: readonly Extractor[] = Object.values(BY_TYPE);

/** The extractor of a configured name. */
export function extractorOf(type: ExtractorType): Extractor {
  return BY_TYPE[type];
}
