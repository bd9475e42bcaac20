import { runFit } from '../../../native/anomaly.js';
import type { AnomalyFitOptions, AnomalyFitted, NativeAnomalyModel } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import type { Dataset } from './datasets.js';

/** Rows (`options.columns` numbers each) that one call may take: 2^18 numbers. */
const PIECE = 2 ** 18;

/** Hands over all rows and fits. Rejects as NativeAnomalyFit. */
export async function fitAnomaly(options: AnomalyFitOptions, rows: Float64Array): Promise<AnomalyFitted> {
  const fit = loadCore().openAnomalyFit(options);
  const whole = Math.max(1, Math.floor(PIECE / options.columns)) * options.columns;
  for (let from = 0; from < rows.length; from += whole) fit.add(rows.subarray(from, from + whole));
  return runFit(fit);
}

/** A model of a data set's rows with raw scores. */
export async function modelOf(backend: string, { columns, fitted }: Dataset, seed: number): Promise<NativeAnomalyModel> {
  const options: AnomalyFitOptions = { backend, columns, contamination: 0.1, normalization: 'raw', scaled: false, threads: 2, seed };
  return (await fitAnomaly(options, fitted)).model;
}
