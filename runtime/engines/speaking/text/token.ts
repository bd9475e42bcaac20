/** A mark after a word, of those that a voice makes audible; empty for none. */
export type Mark = '' | ',' | ';' | ':' | '.' | '!' | '?' | '…' | '—';

/** A part of a text with what is said for it. */
export interface Token {
  /** As the text has it. */
  readonly source: string;
  /** Plain words in lower case, without digits and signs; a letter that is spelled is one capital letter. None where nothing is said. */
  readonly words: readonly string[];
  readonly mark: Mark;
}

/** A part of the text between spaces, in its pieces. */
export interface Chunk {
  readonly source: string;
  /** Without quotes, brackets and marks around it; an inner point stays. */
  readonly core: string;
  /** Whether a point stands behind the core. */
  readonly hasPoint: boolean;
  readonly mark: Mark;
}

/** What a rule made of one or more chunks. */
export interface Reading {
  readonly words: readonly string[];
  /** Chunks that it took, the first included; 1 unless given. */
  readonly took?: number;
}

/** A rule looks at a chunk and those behind it. */
export type Rule = (core: string, chunks: readonly Chunk[], at: number) => Reading | undefined;

/** A table by words of a text, of which none is taken for something that every object has, such as "constructor". */
export const byWord = <Value>(entries: Readonly<Record<string, Value>>): Readonly<Record<string, Value | undefined>> =>
  Object.assign(Object.create(null) as Record<string, Value>, entries);
