import { type Dataset, rocArea } from './datasets.js';
import { modelOf } from './fit.js';
import type { MeanArea } from './golden.js';

/** Seeds whose models are fitted beside each other. */
const ROUND = 20;
/** How well recorded means are known: most standard error, and fewest seeds. */
export const KNOWN = { error: 0.002, seeds: 100 };

/** Of the fitted rows, by the model of one seed. */
export async function areaOf(backend: string, set: Dataset, seed: number): Promise<number> {
  const model = await modelOf(backend, set, seed);
  return rocArea(set.labels, (await model.score(set.fitted)).raw);
}

/** Of the seeds from 1 on: of `fewest` of them, in whole rounds, and of more until the standard error is `error`. */
export async function meanArea(backend: string, set: Dataset, fewest: number, error = Number.POSITIVE_INFINITY): Promise<MeanArea> {
  const areas: number[] = [];
  for (;;) {
    const first = areas.length + 1;
    areas.push(...(await Promise.all(Array.from({ length: ROUND }, (_, index) => areaOf(backend, set, first + index)))));
    const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length;
    const found = Math.sqrt(areas.reduce((sum, area) => sum + (area - mean) ** 2, 0) / (areas.length - 1) / areas.length);
    if (areas.length >= fewest && found <= error) return { mean, error: found, seeds: areas.length };
  }
}
