import { setImmediate as immediate } from 'node:timers/promises';
import type { NativeColumns } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import type { Gate } from '../../base/gate.js';
import { log } from '../../base/log.js';
import { breathe, orAborted } from '../../base/loop.js';
import type { Events } from '../../events/events.js';
import type { Batch, DetectorRecord, Store } from '../../store/store.js';
import { appendTo } from '../cells.js';
import { SegmentLog } from '../segment-log.js';
import { ColdStart } from './cold-start.js';
import type { DetectorStats, SampleResult, StreamResult, StreamStatus } from './contract.js';
import { cellsOfSamples, checkKeys, type Sample } from './samples.js';
import { binOf, driftOf, scoreOf, thresholdOf } from './scores.js';
import { DetectorStates } from './states.js';
import { featuresOf, rawScores, restoreModel, type Trained, type Training, train } from './training.js';
import { UnwrittenModel } from './unwritten-model.js';

/** The newest samples, in memory and on the disk. */
interface Window {
  readonly table: NativeColumns;
  readonly log: SegmentLog;
}

/**
 * One detector in memory. Requests are worked on one after the other; what they answer is on the disk. After a write that failed the
 * memory is ahead of the disk: `broken` says so, and the owner makes a new one.
 */
export class Detector {
  readonly name: string;
  /** Requests that are not answered yet. */
  users = 0;
  readonly #store: Store;
  readonly #retrainings: Gate;
  readonly #events: Events | undefined;
  readonly #states = new DetectorStates();
  readonly #unwritten: UnwrittenModel;
  readonly #closing = new AbortController();
  #record: DetectorRecord;
  #window: Window;
  #coldStart = new ColdStart();
  #trained: Trained | undefined;
  #lastError: string | null = null;
  /** The training in the background. */
  #retraining: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** The last write of samples, whether it failed or not. */
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(store: Store, name: string, record: DetectorRecord, retrainings: Gate, events?: Events) {
    this.#store = store;
    this.#retrainings = retrainings;
    this.#events = events;
    this.name = name;
    this.#record = record;
    this.#window = this.#emptyWindow();
    this.#unwritten = new UnwrittenModel(store, {
      name,
      inTurn: (work) => this.#inTurn(work),
      lastWrite: () => this.#lastWrite,
      putRecord: (batch) => batch.put('detectors', name, this.#record),
      mayWrite: () => !this.broken && this.#states.state !== 'removed',
      closing: this.#closing.signal,
    });
  }

  /** Reads rows and model from the disk. */
  async load(): Promise<void> {
    await this.#window.log.load();
    const model = this.#store.detectorModels.get(this.name);
    if (this.#record.version > 0 && model) {
      this.#trained = await restoreModel(model);
      this.#states.on('trained');
    } else await this.#coldStart.load(this.#window.table);
  }

  /** Whether the memory is ahead of the disk. */
  get broken(): boolean {
    return this.#states.broken;
  }

  /** Whether it must stay in memory. */
  get busy(): boolean {
    return this.users > 0 || this.#retraining !== undefined || this.#unwritten.pending || this.#window.log.merging;
  }

  stats(): DetectorStats {
    return { ...statsOf(this.name, this.#record), status: this.#status, lastError: this.#lastError };
  }

  get #status(): StreamStatus {
    const { state } = this.#states;
    return state === 'broken' || state === 'removed' ? statusOf(this.#record) : state;
  }

  /** Scores samples, or collects them. Throws `invalid` before any of them is taken. */
  async submit(samples: readonly Sample[]): Promise<StreamResult> {
    const { written, answer } = await this.#inTurn(() => this.#take(samples));
    await this.#onDisk(written);
    this.#window.log.noteApplied(samples.length);
    return answer;
  }

  /** Forgets samples and model. */
  async reset(): Promise<void> {
    await this.#clear('reset', (batch, cold) => batch.put('detectors', this.name, cold));
  }

  /** Removes it from the disk; afterwards it takes nothing. */
  async remove(): Promise<void> {
    // Requests that wait for their turn are refused from now on.
    this.#states.on('removal');
    await this.#clear('removal', (batch) => batch.remove('detectors', this.name));
  }

  /** Ends training and waits for what goes on. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#retraining?.stop.abort();
    await this.#retraining?.done;
    await this.#unwritten.settled();
    await this.#queue;
    await this.#lastWrite;
    await this.#unwritten.write();
    await this.#window.log.settled();
  }

  #emptyWindow(): Window {
    const live = featuresOf(this.#record.settings);
    const table = loadCore().openColumns({ capacity: this.#record.settings.windowSize, ...(live ? { live } : {}) });
    return { table, log: new SegmentLog(this.#store, this.#record.owner, table) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #onDisk(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (failure) {
      this.#states.on('write-failed');
      throw failure;
    }
  }

  async #clear(event: 'reset' | 'removal', change: (batch: Batch, cold: DetectorRecord) => void): Promise<void> {
    await this.#inTurn(async () => {
      this.#retraining?.stop.abort();
      await this.#retraining?.done;
      await this.#unwritten.written();
      this.#states.on(event);
      const cold = coldRecord(this.#record);
      const clearing = this.#window.log.clear((batch) => {
        batch.remove('detectorModels', this.name);
        change(batch, cold);
      });
      await this.#onDisk(clearing);
      this.#record = cold;
      this.#window = this.#emptyWindow();
      this.#coldStart = new ColdStart();
      this.#trained?.model.release();
      this.#trained = undefined;
      this.#unwritten.forget();
      this.#lastError = null;
    });
  }

  /** Runs alone. The answer may go out when `written` resolves. */
  async #take(samples: readonly Sample[]): Promise<{ written: Promise<void>; answer: StreamResult }> {
    await this.#unwritten.written();
    this.#states.on('samples');
    const before = this.#trained;
    const collecting = before === undefined ? this.#coldStart.check(samples, this.#record) : 0;
    if (before) for (const [row, sample] of samples.entries()) checkKeys(sample, row, before);
    const results: SampleResult[] = [];
    try {
      await this.#takeEach(samples, collecting, results);
    } catch (failure) {
      this.#states.on('write-failed');
      throw failure;
    }
    const trained = this.#trained;
    const model = this.#unwritten.take();
    const put = (batch: Batch): void => {
      batch.put('detectors', this.name, this.#record);
      if (model) batch.put('detectorModels', this.name, model);
    };
    const written = this.#window.log.append(cellsOfSamples(samples, before?.columns), put, this.#states);
    this.#lastWrite = written.catch(() => undefined);
    if (trained && this.#record.sinceTraining >= this.#record.settings.retrainInterval) this.#retrain(trained, this.#lastWrite);
    return { written, answer: this.#answer(results) };
  }

  async #takeEach(samples: readonly Sample[], collecting: number, results: SampleResult[]): Promise<void> {
    if (collecting > 0) await this.#collect(samples.slice(0, collecting), results);
    const rest = samples.slice(collecting);
    if (rest.length === 0) return;
    if (this.#trained) await this.#score(this.#trained, rest, results);
    else await this.#collect(rest, results);
  }

  async #collect(samples: readonly Sample[], results: SampleResult[]): Promise<void> {
    await appendTo(this.#window.table, cellsOfSamples(samples));
    for (const sample of samples) {
      this.#coldStart.add(sample, results.length);
      this.#record.total += 1;
      this.#record.ignored += sample.texts.size;
      results.push({ score: null, isAnomaly: null, raw: null, untilReady: this.#untilReady() });
    }
    this.#record.sinceTraining = this.#record.total;
    if (!this.#coldStart.due(this.#record)) return;
    try {
      const run = { name: this.name, events: this.#events, signal: this.#closing.signal, background: false };
      const training = await train(this.#window.table, this.#record.settings, this.#coldStart.keys(), run);
      this.#unwritten.hold(training.record);
      this.#adopt(training, this.#record.sinceTraining);
    } catch (failure) {
      this.#closing.signal.throwIfAborted();
      this.#trainingFailed(failure);
      this.#coldStart.retryLater(this.#record);
    }
  }

  async #score(trained: Trained, samples: readonly Sample[], results: SampleResult[]): Promise<void> {
    const { settings } = this.#record;
    const vectors = await this.#vectors(trained, samples);
    const raws = await rawScores(trained, vectors);
    const threshold = thresholdOf(settings, trained)!;
    // A new model may have come meanwhile; the counts are in its bins.
    const { edges } = this.#trained!;
    for (const [index, { numbers, texts }] of samples.entries()) {
      const raw = raws[index]!;
      const score = scoreOf(raw, trained, settings);
      const isAnomaly = score > threshold;
      results.push({ score, isAnomaly, raw, untilReady: 0 });
      this.#record.recent[binOf(edges, raw)]! += 1;
      this.#record.anomalies += Number(isAnomaly);
      this.#record.ignored += texts.size;
      for (const key of numbers.keys()) this.#record.ignored += Number(!trained.columns.includes(key));
    }
  }

  /** What the model scores, row after row; the samples are in the table afterwards. */
  async #vectors({ columns, model }: Trained, samples: readonly Sample[]): Promise<Float64Array> {
    const vectors = new Float64Array(samples.length * model.columns);
    if (featuresOf(this.#record.settings) === undefined) {
      for (const [row, { numbers }] of samples.entries())
        for (const [at, key] of columns.entries()) vectors[row * columns.length + at] = numbers.get(key) ?? 0;
      await appendTo(this.#window.table, cellsOfSamples(samples, columns), (rows) => this.#taken(rows));
      return vectors;
    }
    for (const [row, sample] of samples.entries()) {
      this.#window.table.append(1, cellsOfSamples([sample], columns).columns);
      this.#taken(1);
      vectors.set(this.#window.table.latest(columns), row * model.columns);
      await breathe();
    }
    return vectors;
  }

  /** Counts rows in the moment in which they come into the table: a training may begin at any other, and counts what it learns. */
  #taken(rows: number): void {
    this.#record.total += rows;
    this.#record.sinceTraining += rows;
  }

  #untilReady(): number {
    return Math.max(0, this.#record.settings.minSamples - this.#record.total);
  }

  #answer(results: readonly SampleResult[]): StreamResult {
    const { first, next } = this.#window.table.stats();
    const { version, threshold } = this.#record;
    return {
      status: this.#status,
      results,
      version,
      collected: next - first,
      untilReady: this.#trained ? 0 : this.#untilReady(),
      threshold,
    };
  }

  /** From now on this model scores. `learned` = samples since the last training that it knows. */
  #adopt({ trained, expected }: Training, learned: number): void {
    this.#states.on('trained');
    const before = this.#trained;
    // Samples of this turn may still be scored by it.
    if (before) void this.#inTurn(async () => before.model.release());
    this.#trained = trained;
    this.#record.version += 1;
    this.#record.sinceTraining -= learned;
    this.#record.columns = trained.columns;
    this.#record.expected = expected;
    this.#record.recent = expected.map(() => 0);
    this.#record.threshold = thresholdOf(this.#record.settings, trained);
    this.#lastError = null;
  }

  #trainingFailed(failure: unknown): void {
    this.#states.on('training-failed');
    this.#record.failures += 1;
    this.#lastError = failure instanceof Failure ? failure.message : 'The training failed; see the log.';
    log('warn', `the training of detector ${this.name} failed`, { cause: failure });
  }

  /** Trains in the background, while the old model scores; begins when the last samples are `written` and answered. */
  #retrain(current: Trained, written: Promise<void>): void {
    if (this.#closing.signal.aborted || !this.#states.on('training-due')) return;
    const stop = new AbortController();
    this.#retraining = { stop, done: this.#trainNext(current, written, stop.signal) };
  }

  async #trainNext(current: Trained, written: Promise<void>, signal: AbortSignal): Promise<void> {
    await written;
    await immediate();
    let learned = this.#record.sinceTraining;
    try {
      const running = this.#retrainings.run(signal, () => {
        learned = this.#record.sinceTraining;
        const run = { name: this.name, events: this.#events, signal, background: true };
        return train(this.#window.table, this.#record.settings, current, run);
      });
      // What stands behind all others may take long to notice that it is to stop: only the trainings that wait for its place wait for that.
      const training = await orAborted(running, signal);
      signal.throwIfAborted();
      this.#retraining = undefined;
      this.#adopt(training, learned);
      this.#unwritten.holdForSamples(training.record);
    } catch (failure) {
      this.#retraining = undefined;
      if (signal.aborted) {
        this.#states.on('training-stopped');
        return;
      }
      this.#trainingFailed(failure);
      // The next attempt comes after as many samples again.
      this.#record.sinceTraining -= learned;
    }
  }
}

/** The statistics of a detector that nobody uses at the moment. */
export function statsOf(name: string, record: DetectorRecord): DetectorStats {
  const { settings, version, total, sinceTraining, threshold, columns, anomalies, ignored, failures, expected, recent } = record;
  return {
    name,
    settings,
    status: statusOf(record),
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

/** Where a detector stands that nobody works with. */
function statusOf({ version }: DetectorRecord): StreamStatus {
  return version > 0 ? 'ready' : 'collecting';
}

/** A record before the first sample. */
export function coldRecord(base: Pick<DetectorRecord, 'owner' | 'settings' | 'createdMs'>): DetectorRecord {
  const { owner, settings, createdMs } = base;
  const counts = { total: 0, sinceTraining: 0, anomalies: 0, ignored: 0, failures: 0, version: 0 };
  return { owner, settings, createdMs, ...counts, columns: [], expected: [], recent: [], threshold: thresholdOf(settings) };
}
