import type { ColumnFeatures, ColumnFrame } from '../../../native/contract.js';
import type { Row } from '../cells.js';

/** What data buffers may take, each and together. */
export interface BufferLimits {
  readonly buffers: number;
  /** Memory of one buffer. */
  readonly bytesEach: number;
  /** Memory of all. */
  readonly bytesTotal: number;
  /** Memory of what reads of features go on from, of all buffers together; more is let go of. */
  readonly liveBytes: number;
  /** Cells of one answer. */
  readonly cells: number;
}

/** Unless tests say otherwise. */
export const BUFFER_LIMITS: BufferLimits = {
  buffers: 1000,
  bytesEach: 64 * 2 ** 20,
  bytesTotal: 256 * 2 ** 20,
  liveBytes: 64 * 2 ** 20,
  cells: 2 ** 21,
};
/** Characters of a name. */
export const MAX_BUFFER_NAME = 128;

/** A moment of a buffer. */
export interface BufferStats {
  readonly name: string;
  /** Rows that are kept. */
  readonly size: number;
  readonly windowSize: number;
  readonly columns: readonly string[];
  readonly numericColumns: readonly string[];
  /** Of its rows alone, which is about what they take on disk. */
  readonly rowBytes: number;
  /** Of its rows, and of what reads of features go on from. */
  readonly memoryBytes: number;
  /** Rows appended since it was made or cleared. */
  readonly appendCount: number;
  /** Time of an append, the disk included, since the daemon started. */
  readonly avgAppendMs: number;
}

/** What an append came to. */
export interface Appended {
  readonly appended: number;
  readonly size: number;
  readonly avgAppendMs: number;
}

/** Which rows of a buffer are wanted; all of them without `tail`. */
export interface ReadAsk {
  readonly tail?: number;
  readonly features?: ColumnFeatures;
}

/** An answer in the form that was asked for. */
export interface Exported {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The forms in which rows go out, best first for who does not care. */
export const EXPORT_TYPES = ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream'] as const;

/** One of them. */
export type ExportType = (typeof EXPORT_TYPES)[number];

/** Named buffers of rows: those of this machine, or of the runtime that the core was told to use. Each throws `not_found` for a name that is not there, `bad_request` for one that may not be. */
export interface BufferService {
  /** Throws `conflict` when it exists, `too_large` when there are too many. */
  create(name: string, windowSize: number, signal: AbortSignal): Promise<BufferStats>;
  list(signal: AbortSignal): Promise<readonly BufferStats[]>;
  get(name: string, signal: AbortSignal): Promise<BufferStats>;
  remove(name: string, signal: AbortSignal): Promise<void>;
  clear(name: string, signal: AbortSignal): Promise<void>;
  /** Resolves when the rows are on disk. Throws `invalid` naming row, column and value, `too_large` with the figures for more memory than is allowed. */
  append(name: string, rows: readonly Row[], signal: AbortSignal): Promise<Appended>;
  /** Throws `too_large` for more cells than fit an answer. */
  read(name: string, ask: ReadAsk, type: ExportType, signal: AbortSignal): Promise<Exported>;
}

/** Writes the rows of a buffer in one form. Long work lets others run, and ends when the signal aborts. */
export type Format = (buffer: string, frame: ColumnFrame, signal: AbortSignal) => Promise<Uint8Array>;
