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
