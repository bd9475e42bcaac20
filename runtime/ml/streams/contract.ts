import type { DetectorSettings } from '../../store/store.js';

/** What streaming detectors may take. */
export interface StreamLimits {
  readonly detectors: number;
  /** Detectors that are kept in memory although nobody uses them. */
  readonly loaded: number;
  /** Trainings in the background that run at the same time; each has its rows in memory. */
  readonly retrainings: number;
}

/** Unless tests say otherwise. */
export const STREAM_LIMITS: StreamLimits = { detectors: 500, loaded: 64, retrainings: 4 };

/** Where a detector stands: too few samples, scoring, or scoring while the next model is trained. */
export type StreamStatus = 'collecting' | 'ready' | 'retraining';

/** What one sample came to; nulls while collecting. */
export interface SampleResult {
  readonly score: number | null;
  readonly isAnomaly: boolean | null;
  readonly raw: number | null;
  readonly untilReady: number;
}

/** What the samples of one request came to. */
export interface StreamResult {
  readonly status: StreamStatus;
  readonly results: readonly SampleResult[];
  readonly version: number;
  /** Samples in the window. */
  readonly collected: number;
  readonly untilReady: number;
  readonly threshold: number | null;
}

/** How far the newest scores are from those that the model learned from. */
export interface Drift {
  /** Population stability index; null under 30 scores. */
  readonly value: number | null;
  /** Scores since the last training. */
  readonly samples: number;
  readonly level: 'unknown' | 'none' | 'moderate' | 'strong';
}

/** A moment of a detector. */
export interface DetectorStats {
  readonly name: string;
  readonly settings: DetectorSettings;
  readonly status: StreamStatus;
  readonly version: number;
  readonly collected: number;
  readonly total: number;
  readonly sinceTraining: number;
  readonly threshold: number | null;
  readonly columns: readonly string[];
  readonly anomalies: number;
  readonly ignored: number;
  readonly failures: number;
  /** Why the last training failed, when it did. */
  readonly lastError: string | null;
  readonly drift: Drift;
}

/** Detectors that learn from what they are sent: those of this machine, or of the runtime that the core was told to use. Each throws `not_found` for an unknown name. */
export interface StreamService {
  /**
   * Takes samples (objects, or lists of numbers), making the detector with these settings when there is none. Resolves when they are on disk. Throws `invalid` naming row,
   * key and value; none of the samples is then taken.
   */
  submit(name: string, settings: DetectorSettings, samples: readonly unknown[], signal: AbortSignal): Promise<StreamResult>;
  list(signal: AbortSignal): Promise<readonly DetectorStats[]>;
  get(name: string, signal: AbortSignal): Promise<DetectorStats>;
  /** Forgets samples and model; the settings stay. */
  reset(name: string, signal: AbortSignal): Promise<void>;
  remove(name: string, signal: AbortSignal): Promise<void>;
}
