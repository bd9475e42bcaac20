import type { ExtractorType } from '../../schemas/generated/config/rag.js';

/** A value of an option that must change what is made of the text, with the other options as in `base`. */
export interface OptionCase {
  readonly text: string;
  readonly value: unknown;
  readonly base?: Record<string, unknown>;
}

const PHRASES = 'red apple pie with red apple pie and der grüne Baum. Database systems and database system engines. Corn mills. Bread.';
const KEYWORDS = {
  max_keywords: { text: PHRASES, value: 1 },
  min_length: { text: PHRASES, value: 2 },
  max_length: { text: PHRASES, value: 1 },
  min_frequency: { text: PHRASES, value: 2 },
  stop_words: { text: PHRASES, value: ['Apple'] },
  language: { text: PHRASES, value: 'de' },
  deduplication_threshold: { text: PHRASES, value: 0 },
} satisfies Record<string, OptionCase>;
const GRAMS = { ...KEYWORDS, max_ngram_size: { text: PHRASES, value: 1 } };

const HEADINGS = '# One\ntext\n\n## No\ntext\n\n### Deep\ntext\n';
const TABLE = '| a | b |\n|---|---|\n| 1 | 2 |\n\n+---+---+\n| h | i |\n+===+===+\n| 1 | x |\n|   | y |\n+---+---+\n';
const SENTENCES =
  'Mills grind corn for bread. The weather was fine. Corn is grown in wide fields near old mills. Short. Bread is good. Old mills stand near ' +
  'wide fields. Fine weather helps the old fields near the mills to grow corn for good bread.';
const TIMES = 'On 3/4/2024 at 14:30, in May 2024, on December 31 and on January 1, 3 days ago, for 2 weeks.';

/** For each extractor, a case of each of its options. */
export const OPTION_CASES: Record<ExtractorType, Record<string, OptionCase>> = {
  ContentStatisticsExtractor: {
    include_readability: { text: 'A text.', value: false },
    include_vocabulary: { text: 'A text.', value: false },
    include_structure: { text: 'A text.', value: false },
    include_sentiment_indicators: { text: 'A text.', value: true },
  },
  HeadingExtractor: {
    enabled: { text: HEADINGS, value: false },
    max_level: { text: HEADINGS, value: 2 },
    include_hierarchy: { text: HEADINGS, value: false },
    extract_outline: { text: HEADINGS, value: false },
    min_heading_length: { text: HEADINGS, value: 1 },
  },
  KeywordExtractor: {
    algorithm: { text: PHRASES, value: 'yake' },
    ...KEYWORDS,
    max_ngram_size: { text: PHRASES, value: 1, base: { algorithm: 'tfidf' } },
  },
  YAKEExtractor: GRAMS,
  RAKEExtractor: KEYWORDS,
  TFIDFExtractor: GRAMS,
  EntityExtractor: {
    model: { text: 'Angela Merkel', value: 'de_core_news_sm' },
    entity_types: { text: 'Angela Merkel, 12%', value: ['PERCENT'] },
    use_fallback: { text: 'Angela Merkel', value: false },
    min_entity_length: { text: '5% and 12%', value: 3 },
    merge_entities: { text: 'due 3 May yesterday', value: false },
    confidence_threshold: { text: 'We met Xavier Quux, 12%', value: 0.5 },
  },
  DateTimeExtractor: {
    fuzzy_parsing: { text: TIMES, value: false },
    extract_relative: { text: TIMES, value: false },
    extract_times: { text: TIMES, value: false },
    extract_durations: { text: TIMES, value: false },
    default_timezone: { text: TIMES, value: 'Asia/Tokyo' },
    date_format: { text: TIMES, value: 'EU' },
    prefer_dates_from: { text: TIMES, value: 'future' },
  },
  LinkExtractor: {
    extract_urls: { text: 'http://a.org me@b.org', value: false },
    extract_emails: { text: 'http://a.org me@b.org', value: false },
    extract_domains: { text: 'http://a.org me@b.org', value: false },
    validate_urls: { text: 'http://localhost/', value: true },
    resolve_redirects: { text: 'http://a.org/?url=http://b.org/', value: true },
  },
  PathExtractor: {
    extract_file_paths: { text: '/a/b.txt http://a.org s3://bucket/key', value: false },
    extract_urls: { text: '/a/b.txt http://a.org s3://bucket/key', value: false },
    extract_s3_paths: { text: '/a/b.txt http://a.org s3://bucket/key', value: false },
    validate_paths: { text: 'C:\\con\\a.txt', value: true },
    normalize_paths: { text: '/a/../b.txt', value: false },
  },
  PatternExtractor: {
    predefined_patterns: { text: 'a@b.org', value: ['email'] },
    custom_patterns: { text: 'abc', value: [{ name: 'own', pattern: 'b' }] },
    case_sensitive: { text: 'ABC abc', value: true, base: { custom_patterns: [{ name: 'own', pattern: 'abc' }] } },
    return_positions: { text: 'a@b.org', value: true, base: { predefined_patterns: ['email'] } },
    include_context: { text: 'a@b.org', value: true, base: { predefined_patterns: ['email'] } },
    max_matches_per_pattern: { text: 'a@b.org c@d.org', value: 1, base: { predefined_patterns: ['email'] } },
    deduplicate_matches: { text: 'a@b.org a@b.org', value: false, base: { predefined_patterns: ['email'] } },
  },
  SummaryExtractor: {
    summary_sentences: { text: SENTENCES, value: 1 },
    algorithm: { text: SENTENCES, value: 'luhn' },
    include_key_phrases: { text: SENTENCES, value: false },
    include_statistics: { text: SENTENCES, value: false },
    min_sentence_length: { text: SENTENCES, value: 1, base: { summary_sentences: 10 } },
    max_sentence_length: { text: SENTENCES, value: 30, base: { summary_sentences: 10 } },
  },
  TableExtractor: {
    output_format: { text: TABLE, value: 'csv' },
    extract_headers: { text: TABLE, value: false },
    merge_cells: { text: TABLE, value: false },
    min_rows: { text: TABLE, value: 3 },
  },
};

/** Options under which an extractor does all it can. */
export const EVERYTHING: Partial<Record<ExtractorType, Record<string, unknown>>> = {
  ContentStatisticsExtractor: { include_sentiment_indicators: true },
  EntityExtractor: { confidence_threshold: 0 },
  LinkExtractor: { validate_urls: true, resolve_redirects: true },
  PathExtractor: { validate_paths: true },
  PatternExtractor: {
    predefined_patterns: ['email', 'phone', 'url', 'ip', 'ssn', 'credit_card', 'zip_code', 'file_path', 'version', 'date'],
    custom_patterns: [{ name: 'own', pattern: '(a+)+$' }],
    return_positions: true,
  },
};

const SIZE = 64 * 1024;
const fill = (part: string): string => part.repeat(Math.ceil(SIZE / part.length));

/** Texts made to take long, or to fill the answer. Each has some 64 thousand characters. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  'one letter': fill('a'),
  'one capital': fill('A'),
  newlines: fill('\n'),
  spaces: fill(' '),
  stops: fill('. '),
  figures: fill('1'),
  'groups of figures': fill('12-34 '),
  'mail addresses': Array.from({ length: SIZE / 12 }, (_, index) => `u${index}@ex.org`).join(' '),
  'half mail addresses': fill('a@'),
  'web addresses': Array.from({ length: SIZE / 16 }, (_, index) => `http://a.b/${index}`).join(' '),
  'different words': Array.from({ length: SIZE / 6 }, (_, index) => `w${index.toString(36)}`).join(' '),
  'different sentences': Array.from({ length: SIZE / 16 }, (_, index) => `Word${index} is here.`).join(' '),
  names: fill('Anna Berg, '),
  'capitalised words': fill('Aa '),
  dates: fill('May 5, 2024 at 2 pm '),
  'times ago': fill('3 days ago '),
  money: fill('$1,'),
  headings: fill('# Head\n\n'),
  capitals: fill('\n\nCAPS HERE\n'),
  'table rows': fill('| a | b |\n'),
  bars: fill('|a'),
  grids: fill('+-+\n|a|\n'),
  csv: fill('a,b,c\n'),
  'open quotes': fill('"a,'),
  brackets: fill('('),
  slashes: fill('/a'),
  'long relative paths': fill(`${'a/'.repeat(2000)} `),
  ideographs: fill('漢字').slice(0, SIZE / 4),
  'lone surrogates': fill('\ud800'),
  'combining marks': fill('a\u0301'),
  nothing: '',
};
