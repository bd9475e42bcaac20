/** How a document is cut. */
export interface ChunkingOptions {
  readonly strategy: ChunkStrategy;
  /** In characters (UTF-16 code units), rows or tokens, as the strategy counts. */
  readonly size: number;
  /** In the same unit; below `size`. */
  readonly overlap: number;
  /** Sentences on each side that a semantic cut compares, from 1. */
  readonly bufferSize: number;
  /** Percentile of the distances between neighbours from which a semantic cut is made, 50 to 99. */
  readonly breakpointPercentile: number;
}

/** The ways to cut, with the spellings of the project file as they are. */
export const CHUNK_STRATEGIES = [
  'characters',
  'tokens',
  'sentences',
  'paragraphs',
  'sections',
  'headings',
  'pages',
  'semantic',
  'code',
  'email_sections',
  'rows',
  'columns',
  'full',
] as const;

/** The name of a way to cut. */
export type ChunkStrategy = (typeof CHUNK_STRATEGIES)[number];

/** A stretch of the text that is kept whole where it fits. Spans follow each other without gaps; `apart` begins a chunk of its own. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  readonly apart?: boolean;
}
