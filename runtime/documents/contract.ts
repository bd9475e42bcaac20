/** What JSON can say; metadata is kept as it is and never flattened. */
export type Metadata = Record<string, unknown>;

/** One passage of a document, as parsing cuts it. Offsets are UTF-16 code units of the document's text. */
export interface Passage {
  readonly text: string;
  /** Position among the passages of its document, from 0. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
  /** Page of the source where it has pages, from 1. */
  readonly page?: number;
  /** Titles above it, the outermost first. */
  readonly headings: readonly string[];
  /** What the parser and the extractors know of it. */
  readonly metadata: Metadata;
}
