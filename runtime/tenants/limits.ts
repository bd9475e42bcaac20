import { BUFFER_LIMITS, type BufferLimits } from '../ml/buffers/contract.js';
import { STREAM_LIMITS, type StreamLimits } from '../ml/streams/contract.js';

const MIB = 1024 * 1024;

/** What one of several people who share a daemon may keep for themselves. */
export const TENANT_LIMITS: {
  readonly buffers: BufferLimits;
  readonly streams: StreamLimits;
  readonly files: { readonly maxFiles: number; readonly totalBytes: number };
  readonly responses: { readonly count: number; readonly bytes: number };
  readonly kvCache: { readonly ramBytes: number; readonly diskBytes: number; readonly entries: number };
} = {
  buffers: { ...BUFFER_LIMITS, buffers: 100, bytesEach: 32 * MIB, bytesTotal: 64 * MIB, liveBytes: 16 * MIB },
  streams: { ...STREAM_LIMITS, detectors: 100, loaded: 8, retrainings: 1 },
  files: { maxFiles: 200, totalBytes: 1024 * MIB },
  responses: { count: 1000, bytes: 128 * MIB },
  kvCache: { ramBytes: 256 * MIB, diskBytes: 1024 * MIB, entries: 1000 },
};
/** Namespaces of one user. */
export const MOST_NAMESPACES = 20;
