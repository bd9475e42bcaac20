import { runFit } from '../../../native/anomaly.js';
import type { AnomalyFitOptions, AnomalyFitted } from '../../../native/contract.js';
import { loadCore } from '../../../native/core.js';

/** Rows (`options.columns` numbers each) that one call may take: 2^18 numbers. */
const PIECE = 2 ** 18;

/** Hands over all rows and fits. Rejects as NativeAnomalyFit. */
export async function fitAnomaly(options: AnomalyFitOptions, rows: Float64Array): Promise<AnomalyFitted> {
  const fit = loadCore().openAnomalyFit(options);
  const whole = Math.max(1, Math.floor(PIECE / options.columns)) * options.columns;
  for (let from = 0; from < rows.length; from += whole) fit.add(rows.subarray(from, from + whole));
  return runFit(fit);
}
