import { restoreAnomaly, runFit } from '../../../native/anomaly.js';
import type { AnomalyState, ColumnFeatures, NativeAnomalyModel, NativeColumns } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import type { Events } from '../../events/events.js';
import { recordWork } from '../../events/recording.js';
import { alignedBytes, bytesOf, type DetectorSettings, type ModelRecord } from '../../store/store.js';
import { type Learned, learnedFrom } from './scores.js';

/** A model and what its scores are compared to. */
export interface Trained extends Omit<ModelRecord, 'state'> {
  readonly model: NativeAnomalyModel;
}

/** What a training came to. */
export interface Training {
  readonly trained: Trained;
  /** Rows that were learned from, by bin of their scores. */
  readonly expected: number[];
  /** The model as it is stored. */
  readonly record: ModelRecord;
}

/** The keys of samples that a model learns from, and those that each must have. */
interface Keys {
  readonly columns: string[];
  readonly required: string[];
}

/** Numbers that a model learns from: rows times columns and their features. */
const MAX_TRAINING_NUMBERS = 2 ** 22;
/** Numbers that a model scores in one call. */
const SCORED_AT_ONCE = 2 ** 19;

/** The features of a detector's columns; undefined when samples are scored as they are. */
export function featuresOf({ rollingWindows, lags }: DetectorSettings): ColumnFeatures | undefined {
  return rollingWindows.length + lags.length === 0 ? undefined : { windows: rollingWindows, lags };
}

/** Numbers of a row that a model learns from; a window or lag that is asked for twice is there once. */
function widthOf({ rollingWindows, lags }: DetectorSettings, columns: number): number {
  return columns * (1 + 4 * new Set(rollingWindows).size + new Set(lags).size);
}

/** Throws `too_large` with the figures where a window of samples with so many keys is more than a model may learn from. */
export function checkSize(settings: DetectorSettings, columns: number): void {
  const { windowSize } = settings;
  const width = widthOf(settings, columns);
  if (width * windowSize <= MAX_TRAINING_NUMBERS) return;
  throw new Failure(
    'too_large',
    `A window of ${windowSize} samples with ${columns} keys and their features (${width} numbers each) has ${width * windowSize} numbers; a model learns from ${MAX_TRAINING_NUMBERS} at most. Use a smaller window_size, or fewer windows and lags.`,
  );
}

/** How a model is fitted. */
interface TrainingRun {
  /** Of the detector. */
  readonly name: string;
  /** Where the training is kept as an event. */
  readonly events: Events | undefined;
  readonly signal: AbortSignal;
  /** True where nobody waits for it. */
  readonly background: boolean;
}

/** Fits a model to the rows of a table, and keeps an event of it. Throws what the fit throws. */
export function train(table: NativeColumns, settings: DetectorSettings, keys: Keys, run: TrainingRun): Promise<Training> {
  const { backend, contamination } = settings;
  const data = { kind: 'stream', backend, contamination, background: run.background, keys: keys.columns.length };
  const about = { type: 'fit', model: run.name, data } as const;
  return recordWork(
    run.events,
    about,
    () => fitModel(table, settings, keys, run),
    ({ expected }) => ({ data: { samples_fitted: expected.reduce((sum, count) => sum + count, 0) } }),
  );
}

async function fitModel(
  table: NativeColumns,
  settings: DetectorSettings,
  keys: Keys,
  { signal, background }: TrainingRun,
): Promise<Training> {
  const { backend, contamination } = settings;
  const { columns, required } = keys;
  const options = {
    backend,
    columns: widthOf(settings, columns.length),
    contamination,
    normalization: 'raw',
    scaled: false,
    threads: 1,
    background,
    scored: true,
    saved: true,
  } as const;
  const fit = table.openFit(options, columns, featuresOf(settings) ?? {});
  const { model, raw, state } = await runFit(fit, signal);
  const { expected, ...learned }: Learned = learnedFrom(raw, contamination);
  const known = { columns, required, ...learned };
  return { trained: { model, ...known }, expected, record: { ...known, state: storedState(state!) } };
}

function storedState(state: AnomalyState): ModelRecord['state'] {
  const out: ModelRecord['state'] = {};
  for (const [name, value] of Object.entries(state)) {
    if (typeof value === 'number' || typeof value === 'string') out[name] = value;
    else out[name] = [value instanceof Float64Array ? 'f64' : 'i32', bytesOf(value)];
  }
  return out;
}

/** The model of a record. */
export async function restoreModel({ state, ...rest }: ModelRecord): Promise<Trained> {
  const values: AnomalyState = {};
  for (const [name, value] of Object.entries(state)) {
    if (!Array.isArray(value)) {
      values[name] = value;
      continue;
    }
    const [type, stored] = value;
    const bytes = alignedBytes(stored);
    values[name] = type === 'f64' ? new Float64Array(bytes) : new Int32Array(bytes);
  }
  return { ...rest, model: await restoreAnomaly(values) };
}

/** One raw score per row of `rows`, which lie one after the other. */
export async function rawScores({ model }: Pick<Trained, 'model'>, rows: Float64Array): Promise<Float64Array> {
  if (rows.length === model.columns) {
    try {
      return Float64Array.of(model.scoreRow(rows).raw);
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.kind !== 'too_large') throw failure;
    }
  }
  const out = new Float64Array(rows.length / model.columns);
  const step = Math.max(1, Math.floor(SCORED_AT_ONCE / model.columns));
  for (let row = 0; row < out.length; row += step) {
    const { raw } = await model.score(rows.subarray(row * model.columns, (row + step) * model.columns));
    out.set(raw, row);
  }
  return out;
}
