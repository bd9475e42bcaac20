import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../../test/support/anomaly');

/** The mean area under the ROC curve over seeds, with its standard error. */
export interface MeanArea {
  mean: number;
  error: number;
  seeds: number;
}

/** What golden.py wrote of one data set. */
export interface Golden {
  sum: number;
  /** Raw scores of the queries. */
  scores?: number[];
  /** How far apart the reference's own answers are, where it depends on its search. */
  spread?: number[];
  /** Of the large clusters. */
  centres?: number[];
  /** Of the fitted rows, of a detector that draws at random. */
  area?: MeanArea;
  /** Likewise, by each search of one that depends on its search. */
  searches?: number[];
}

/** Mean areas of ours, by detector and data set. */
export type OwnAreas = Record<string, Record<string, MeanArea | undefined> | undefined>;

/** Where record-areas.ts writes them. */
export const OWN_AREAS = join(FOLDER, 'areas.json');

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** What scikit-learn and PyOD answer, by data set. */
export const golden = (backend: string): Record<string, Golden> =>
  (read(join(FOLDER, 'golden', `${backend}.json`)) as { datasets: Record<string, Golden> }).datasets;

export const ownAreas = (): OwnAreas => read(OWN_AREAS) as OwnAreas;
