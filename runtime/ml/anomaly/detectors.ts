import { availableParallelism } from 'node:os';
import { restoreAnomaly, runFit } from '../../../native/anomaly.js';
import type { NativeAnomalyModel } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { Gate } from '../../base/gate.js';
import { quote } from '../../base/names.js';
import type { Events } from '../../events/events.js';
import { recordWork } from '../../events/recording.js';
import { HeldModels } from '../held-models.js';
import { checkedName, checkedNewName, nameForFit, newestVersion, savedAt, thereAre } from '../model-names.js';
import type { AnomalyService, FitAsk, FitResult, ListedAnomalyModel, ModelAsk, ModelFacts, ScoreAsk, ScoreResult } from './contract.js';
import { RowEncoder } from './encoder.js';
import { AnomalyModelFolder, filenameOf, notAModel, partsOf, type StoredModel } from './model-folder.js';
import { checkSize, numberRows, type Rows } from './rows.js';

/** Fits that run at the same time; each has threads of its own. */
const FITS_AT_ONCE = 2;
/** Fits that wait for their turn, with their rows in memory. */
const WAITING_FITS = 6;
/** Requests that score at the same time. */
const SCORES_AT_ONCE = 8;
/** Requests that wait for that. */
const WAITING_SCORES = 64;
/** Models in memory. */
export const MODELS_IN_MEMORY = 64;
/** Bytes of their files together. */
const MEMORY_BYTES = 1024 * 1024 * 1024;

/** Threads of one fit: the others answer meanwhile. */
const THREADS = Math.max(1, Math.min(8, Math.floor(availableParallelism() / 2)));
/** Most numbers of one explanation: each has its name in the answer. */
const MAX_EXPLAINED = 1_000_000;

/** A detector in memory. */
interface HeldModel {
  readonly name: string;
  readonly filename: string;
  readonly model: NativeAnomalyModel;
  readonly encoder: RowEncoder | null;
  readonly samples: number;
  readonly contamination: number;
  /** Of its file: about what the detector takes in memory. */
  readonly sizeBytes: number;
}

/** Detectors of this process, each in a file of its own below `folder`. */
export class AnomalyDetectors implements AnomalyService {
  readonly #folder: AnomalyModelFolder;
  readonly #events: Events | undefined;
  /** By the names of their files. */
  readonly #memory = new HeldModels<HeldModel>({ count: MODELS_IN_MEMORY, size: MEMORY_BYTES }, ({ sizeBytes }) => sizeBytes);
  readonly #fits = new Gate('fits', FITS_AT_ONCE, WAITING_FITS);
  readonly #scores = new Gate('requests that score', SCORES_AT_ONCE, WAITING_SCORES);
  readonly #closing = new AbortController();

  /** `events` keep the fits. */
  constructor(folder: string, events?: Events) {
    this.#folder = new AnomalyModelFolder(folder);
    this.#events = events;
  }

  fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    const { model, backend, normalization, contamination, data } = ask;
    const about = { kind: 'anomaly', backend, normalization, contamination, rows: data.length };
    return recordWork(
      this.#events,
      { type: 'fit', model, data: about },
      () => this.#fit(ask, signal),
      ({ model: versioned, samples, columns, threshold }) => ({
        data: { versioned_name: versioned, samples_fitted: samples, columns, threshold },
      }),
    );
  }

  async #fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    checkedNewName(ask.model);
    if (ask.data.length < 2) throw new Failure('bad_request', `data has ${ask.data.length} rows; a fit needs at least 2.`);
    checkSize(ask.data.length, 1);
    const either = AbortSignal.any([signal, this.#closing.signal]);
    return this.#fits.run(either, async () => {
      const encoder = ask.schema === undefined ? null : await RowEncoder.learn(ask.schema, ask.data);
      const rows = rowsFor(encoder, ask.data, 'give a schema that says how each field becomes a number');
      const startMs = performance.now();
      const model = await fitModel(ask, rows, either);
      const trainingTimeMs = performance.now() - startMs;
      const held = await this.#keep(ask, { model, encoder, samples: rows.count, contamination: ask.contamination }, either);
      return { ...this.#facts(held), samples: rows.count, columns: rows.columns, trainingTimeMs };
    });
  }

  async score(ask: ScoreAsk, signal: AbortSignal): Promise<ScoreResult> {
    const { filename, name } = await this.#find(ask);
    const held = await this.#held(filename);
    if (!held) throw notFitted(ask);
    checkNormalization(ask, held);
    if (ask.data.length === 0) return noScores(held, ask);
    const rows = rowsFor(held.encoder, ask.data, `the model ${quote(name)} was fitted with arrays of numbers and has no encoder for them`);
    return this.#scores.run(signal, () => scoreRows(held, ask, rows, signal));
  }

  async save(ask: ModelAsk, description: string | undefined): Promise<ModelFacts> {
    const { filename } = await this.#find(ask);
    const held = await this.#held(filename);
    if (!held) throw await this.#notFound(ask);
    checkNormalization(ask, held);
    await this.#folder.alone(async () => {
      if (!(await this.#folder.has(filename)))
        await this.#folder.write(await storedForm(held), savedAt(held.name, await this.#folder.list()));
      if (description !== undefined) await this.#folder.describe(held.name, description);
    });
    return this.#facts(held);
  }

  async load(ask: ModelAsk): Promise<ModelFacts> {
    const { filename } = await this.#find(ask);
    // From the file, even where it is in memory: it may have been replaced.
    const held = (await this.#folder.has(filename)) && (await this.#read(filename));
    if (!held) throw await this.#notFound(ask);
    checkNormalization(ask, held);
    return this.#facts(held);
  }

  async list(): Promise<{ folder: string; models: ListedAnomalyModel[] }> {
    return { folder: this.#folder.folder, models: await this.#folder.list() };
  }

  async remove(filename: string): Promise<void> {
    checkedName(partsOf(filename).name);
    const removed = await this.#folder.alone(async () => {
      this.#memory.delete(filename);
      return this.#folder.remove(filename);
    });
    if (!removed) throw new Failure('not_found', `Model file ${quote(filename)} not found; the list of models names them.`);
  }

  /** Models in memory, by the runtime's keys. */
  loaded(): { key: string; type: string; name: string }[] {
    return this.#memory.all().map(({ name, model: { backend, normalization } }) => ({
      key: `anomaly:${backend}:${normalization}:${name}`,
      type: `anomaly_${backend}`,
      name,
    }));
  }

  /** Ends fits; what is being written is finished. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('unavailable', 'The daemon is shutting down.'));
    await this.#folder.alone(() => Promise.resolve());
  }

  /** Puts a fitted model on disk and into memory, under its own name or as a new version. */
  #keep(ask: FitAsk, fresh: Pick<HeldModel, 'model' | 'encoder' | 'samples' | 'contamination'>, signal: AbortSignal): Promise<HeldModel> {
    return this.#folder.alone(async () => {
      signal.throwIfAborted();
      const { name, at } = nameForFit(ask, await this.#folder.list());
      const unsaved = { ...fresh, name, filename: filenameOf(name, ask.backend), sizeBytes: 0 };
      const held = { ...unsaved, sizeBytes: await this.#folder.write(await storedForm(unsaved), at) };
      if (ask.description !== undefined) await this.#folder.describe(name, ask.description);
      this.#memory.put(held.filename, held);
      return held;
    });
  }

  /** The file that a request means: of the name, or of its newest version where there is none of the name itself. */
  async #find({ model, backend }: ModelAsk): Promise<{ name: string; filename: string }> {
    const asked = filenameOf(checkedName(model), backend);
    if (this.#memory.get(asked) || (await this.#folder.has(asked))) return { name: model, filename: asked };
    const same = (await this.#folder.list()).filter((one) => one.backend === backend);
    const name = newestVersion(model, same);
    return { name, filename: filenameOf(name, backend) };
  }

  /** From memory, or from disk. */
  async #held(filename: string): Promise<HeldModel | undefined> {
    const held = this.#memory.get(filename);
    return held ?? ((await this.#folder.has(filename)) ? this.#read(filename) : undefined);
  }

  #read(filename: string): Promise<HeldModel | undefined> {
    // Alone, so that what is read here does not replace what a fit has put into memory meanwhile.
    return this.#memory.reading(filename, () => this.#folder.alone(() => this.#readNow(filename)));
  }

  async #readNow(filename: string): Promise<HeldModel | undefined> {
    const found = await this.#folder.read(filename).catch(withFilename(filename));
    if (!found) return undefined;
    const { state, encoder, samples, contamination } = found.stored;
    const model = await restoreAnomaly(state).catch(withFilename(filename));
    if (encoder === null ? null : encoder.features.length !== model.columns)
      throw withFilename(filename)(notAModel('its encoder has other columns'));
    const name = filename.slice(0, -filenameOf('', model.backend).length);
    if (filenameOf(name, model.backend) !== filename) throw withFilename(filename)(notAModel(`its backend is ${model.backend}`));
    const held = { name, filename, model, encoder, samples, contamination, sizeBytes: found.sizeBytes };
    this.#memory.put(held.filename, held);
    return held;
  }

  #facts({ name, filename, model, encoder }: HeldModel): ModelFacts {
    return {
      model: name,
      threshold: model.threshold,
      normalization: model.normalization,
      filename,
      path: this.#folder.path(filename),
      encoderPath: encoder && this.#folder.encoderPath(name, model.backend),
      schema: encoder === null ? null : encoder.state.schema,
      features: encoder === null ? null : encoder.features,
    };
  }

  async #notFound({ model, backend }: ModelAsk): Promise<Failure> {
    const files = (await this.#folder.list()).map(({ filename }) => filename);
    return new Failure(
      'not_found',
      `Anomaly model ${quote(model)} of backend ${backend} not found on disk. ${thereAre(files, 'The folder is empty')}.`,
    );
  }
}

/** Scores rows block by block. Throws `bad_request` for rows of another width than the fit's, `too_large` for an explanation without end. */
async function scoreRows(held: HeldModel, ask: ScoreAsk, rows: Rows, signal: AbortSignal): Promise<ScoreResult> {
  const { model, name } = held;
  const { columns } = model;
  if (rows.columns !== columns) {
    throw new Failure('bad_request', `data: the rows have ${rows.columns} columns; the model "${name}" was fitted with ${columns}.`);
  }
  const names = ask.explain ? namesOf(held, ask) : undefined;
  if (names && rows.count * columns > MAX_EXPLAINED) {
    const figures = `${rows.count} rows of ${columns} columns are ${rows.count * columns} contributions; ${MAX_EXPLAINED} are allowed`;
    throw new Failure('too_large', `The explanation is too large: ${figures}. Explain fewer rows.`);
  }
  const raw = new Float64Array(rows.count);
  const scores = new Float64Array(rows.count);
  const contributions = names && new Float64Array(rows.count * columns);
  let row = 0;
  for await (const block of rows.blocks()) {
    signal.throwIfAborted();
    const [scored, explained] = await Promise.all([model.score(block), contributions && model.explain(block)]);
    raw.set(scored.raw, row);
    scores.set(scored.scores, row);
    if (contributions && explained) contributions.set(explained, row * columns);
    row += scored.raw.length;
  }
  const explanation = names && contributions && { names, contributions };
  return { model: name, threshold: thresholdOf(held, ask), raw, scores, explanation };
}

/** The answer to no rows at all. */
function noScores(held: HeldModel, ask: ScoreAsk): ScoreResult {
  return { model: held.name, threshold: thresholdOf(held, ask), raw: new Float64Array(0), scores: new Float64Array(0) };
}

/** 0 counts as absent, as in the reference system. */
function thresholdOf({ model }: HeldModel, { threshold }: ScoreAsk): number {
  return threshold || model.threshold;
}

function namesOf({ model, encoder }: HeldModel, { featureNames }: ScoreAsk): readonly string[] {
  const names = featureNames ?? encoder?.features ?? Array.from({ length: model.columns }, (_none, index) => `feature_${index}`);
  if (names.length === model.columns) return names;
  throw new Failure('bad_request', `feature_names has ${names.length} names; the model has ${model.columns} columns.`);
}

/** Rows by an encoder, or of numbers where there is none. */
function rowsFor(encoder: RowEncoder | null, data: readonly unknown[], remedy: string): Rows {
  const areObjects = !Array.isArray(data[0]) && typeof data[0] === 'object' && data[0] !== null;
  if (encoder && areObjects) return encoder.rows(data);
  if (areObjects) throw new Failure('bad_request', `data: the rows are objects; ${remedy}.`);
  return numberRows(data);
}

/** Hands the rows over and fits. */
async function fitModel(ask: FitAsk, rows: Rows, signal: AbortSignal): Promise<NativeAnomalyModel> {
  const { backend, contamination, normalization, epochs, batchSize } = ask;
  const fit = loadCore().openAnomalyFit({
    backend,
    columns: rows.columns,
    contamination,
    normalization,
    scaled: true,
    epochs,
    batchSize,
    threads: THREADS,
  });
  for await (const block of rows.blocks()) {
    signal.throwIfAborted();
    fit.add(block);
  }
  try {
    return (await runFit(fit, signal)).model;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

async function storedForm({ name, model, encoder, samples, contamination }: HeldModel): Promise<StoredModel> {
  return { name, backend: model.backend, samples, contamination, encoder, state: await model.state() };
}

/** A model fitted with another normalisation counts as another model. */
function checkNormalization({ model, normalization }: ModelAsk, held: HeldModel): void {
  const its = held.model.normalization;
  if (normalization === undefined || normalization === its) return;
  throw new Failure(
    'bad_request',
    `Model not fitted with normalization ${quote(normalization)}: ${quote(model)} was fitted with ${quote(its)}. Ask with that, or without normalization.`,
    { code: 'ModelNotFitted' },
  );
}

function notFitted({ model, backend }: ModelAsk): Failure {
  return new Failure('bad_request', `Model not fitted: there is no anomaly model ${quote(model)} of backend ${backend}. Fit it first.`, {
    code: 'ModelNotFitted',
  });
}

/** Adds the file's name to what is wrong with it. */
function withFilename(filename: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
    throw new Failure(error.kind, `${filename}: ${error.message}`, { code: error.code, cause: error });
  };
}
