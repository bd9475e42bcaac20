import type { ColumnFrame } from '../../../../native/contract.js';

/** Writes the rows of a buffer in one form. Long work lets others run, and ends when the signal aborts. */
export type Format = (buffer: string, frame: ColumnFrame, signal: AbortSignal) => Promise<Uint8Array>;
