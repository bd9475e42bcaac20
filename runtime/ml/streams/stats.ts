import type { DetectorRecord } from '../../store/store.js';
import type { DetectorStats } from './contract.js';
import { driftOf } from './drift.js';

/** The statistics of a detector that nobody uses at the moment. */
export function statsOf(name: string, record: DetectorRecord): DetectorStats {
  const { settings, version, total, sinceTraining, threshold, columns, anomalies, ignored, failures, expected, recent } = record;
  return {
    name,
    settings,
    status: version > 0 ? 'ready' : 'collecting',
    version,
    collected: Math.min(total, settings.windowSize),
    total,
    sinceTraining,
    threshold,
    columns,
    anomalies,
    ignored,
    failures,
    lastError: null,
    drift: driftOf(expected, recent),
  };
}
