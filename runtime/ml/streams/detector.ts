import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { NativeColumns } from '../../../native/contract.js';
import { loadCore } from '../../../native/core.js';
import { Failure } from '../../../schemas/errors.js';
import type { Gate } from '../../base/gate.js';
import { log } from '../../base/log.js';
import { breathe, orAborted } from '../../base/loop.js';
import type { Events } from '../../events/events.js';
import type { Batch, Chain, DetectorRecord, ModelRecord, Store } from '../../store/store.js';
import { appendTo } from '../tables/cells.js';
import { SegmentLog } from '../tables/segment-log.js';
import { checkKeys, SeenKeys } from './collecting.js';
import type { DetectorStats, SampleResult, StreamResult, StreamStatus } from './contract.js';
import { binOf } from './drift.js';
import { RETRY_SAMPLES } from './limits.js';
import { cellsOfSamples, type Sample } from './samples.js';
import { scoreOf, thresholdOf } from './scores.js';
import { statsOf } from './stats.js';
import { checkSize, featuresOf, rawScores, type Trained, type Training, train, trainedOf } from './training.js';

/** A new model waits so long for samples that take it to the disk. */
const KEEP_MS = 50;

/** A record before the first sample. */
export function coldRecord(base: Pick<DetectorRecord, 'owner' | 'settings' | 'createdMs'>): DetectorRecord {
  const { owner, settings, createdMs } = base;
  const counts = { total: 0, sinceTraining: 0, anomalies: 0, ignored: 0, failures: 0, version: 0 };
  return { owner, settings, createdMs, ...counts, columns: [], expected: [], recent: [], threshold: thresholdOf(settings) };
}

/**
 * One detector in memory. Requests are worked on one after the other; what they answer is on the disk. After a write that failed the
 * memory is ahead of the disk: `broken` says so, and the owner makes a new one.
 */
export class Detector {
  readonly name: string;
  /** The writes of samples: none is made behind one that failed, for its record counts the samples of that. */
  readonly #chain: Chain = { broken: false };
  #gone = false;
  /** Requests that are not answered yet. */
  users = 0;
  readonly #store: Store;
  readonly #retrainings: Gate;
  readonly #events: Events | undefined;
  #record: DetectorRecord;
  #table: NativeColumns;
  #log: SegmentLog;
  #seen = new SeenKeys();
  #trained: Trained | undefined;
  /** A model that is not on the disk yet: it goes there in one write with the record that counts it. */
  #fresh: ModelRecord | undefined;
  #keeping: Promise<void> | undefined;
  /** The last write of a model without samples; resolves to false where it failed. */
  #alone: Promise<boolean> | undefined;
  /** The last write of samples, whether it failed or not. */
  #last: Promise<void> | undefined;
  #retryAt = 0;
  #lastError: string | null = null;
  #retraining: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  readonly #closing = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(store: Store, name: string, record: DetectorRecord, retrainings: Gate, events?: Events) {
    this.#store = store;
    this.#retrainings = retrainings;
    this.#events = events;
    this.name = name;
    this.#record = record;
    [this.#table, this.#log] = this.#emptyTable();
  }

  /** Reads rows and model from the disk. */
  async load(): Promise<void> {
    await this.#log.load();
    const model = this.#store.detectorModels.get(this.name);
    if (this.#record.version > 0 && model) this.#trained = await trainedOf(model);
    else this.#seen = await SeenKeys.of(this.#table);
  }

  /** Whether the memory is ahead of the disk. */
  get broken(): boolean {
    return this.#chain.broken;
  }

  /** Whether it must stay in memory. */
  get busy(): boolean {
    return (
      this.users > 0 ||
      this.#retraining !== undefined ||
      this.#keeping !== undefined ||
      (this.#fresh !== undefined && !this.broken) ||
      this.#log.merging
    );
  }

  get #status(): StreamStatus {
    return this.#trained === undefined ? 'collecting' : this.#retraining === undefined ? 'ready' : 'retraining';
  }

  stats(): DetectorStats {
    return { ...statsOf(this.name, this.#record), status: this.#status, lastError: this.#lastError };
  }

  /** Scores samples, or collects them. Throws `invalid` before any of them is taken. */
  async submit(samples: readonly Sample[]): Promise<StreamResult> {
    const { written, answer } = await this.#inTurn(() => this.#take(samples));
    await this.#onDisk(written);
    this.#log.applied(samples.length);
    return answer;
  }

  /** Forgets samples and model. */
  async reset(): Promise<void> {
    await this.#clear((batch, cold) => batch.put('detectors', this.name, cold));
  }

  /** Removes it from the disk; afterwards it takes nothing. */
  async remove(): Promise<void> {
    this.#gone = true;
    await this.#clear((batch) => batch.remove('detectors', this.name));
  }

  /** Ends training and waits for what goes on. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#retraining?.stop.abort();
    await this.#retraining?.done;
    await this.#keeping;
    await this.#queue;
    await this.#last;
    await this.#writeFresh();
    await this.#log.settled();
  }

  #emptyTable(): [NativeColumns, SegmentLog] {
    const live = featuresOf(this.#record.settings);
    const table = loadCore().openColumns({ capacity: this.#record.settings.windowSize, ...(live ? { live } : {}) });
    return [table, new SegmentLog(this.#store, this.#record.owner, table)];
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
      this.#chain.broken = true;
      throw failure;
    }
  }

  async #clear(change: (batch: Batch, cold: DetectorRecord) => void): Promise<void> {
    await this.#inTurn(async () => {
      this.#retraining?.stop.abort();
      await this.#retraining?.done;
      await this.#alone;
      const cold = coldRecord(this.#record);
      const clearing = this.#log.clear((batch) => {
        batch.remove('detectorModels', this.name);
        change(batch, cold);
      });
      await this.#onDisk(clearing);
      this.#record = cold;
      [this.#table, this.#log] = this.#emptyTable();
      this.#seen = new SeenKeys();
      this.#trained?.model.release();
      this.#trained = undefined;
      this.#fresh = undefined;
      this.#lastError = null;
      this.#retryAt = 0;
    });
  }

  /** Runs alone. The answer may go out when `written` resolves. */
  async #take(samples: readonly Sample[]): Promise<{ written: Promise<void>; answer: StreamResult }> {
    // Where that fails, these samples take the model along: no record on the disk may count a model that is not there.
    await this.#alone;
    if (this.broken)
      throw new Failure('unavailable', 'An earlier write of this detector failed; nothing was taken. Try again.', { retryAfterS: 1 });
    if (this.#gone) throw new Failure('not_found', `Streaming detector not found: it was deleted meanwhile.`, { code: 'DetectorNotFound' });
    const before = this.#trained;
    const collecting = before === undefined ? this.#checkCollecting(samples) : 0;
    if (before) for (const [row, sample] of samples.entries()) checkKeys(sample, row, before);
    const results: SampleResult[] = [];
    try {
      await this.#takeEach(samples, collecting, results);
    } catch (failure) {
      this.#chain.broken = true;
      throw failure;
    }
    const trained = this.#trained;
    const fresh = this.#fresh;
    this.#fresh = undefined;
    const put = (batch: Batch): void => {
      batch.put('detectors', this.name, this.#record);
      if (fresh) batch.put('detectorModels', this.name, fresh);
    };
    const written = this.#log.append(cellsOfSamples(samples, before?.columns), put, this.#chain);
    this.#last = written.catch(() => undefined);
    if (trained && this.#record.sinceTraining >= this.#record.settings.retrainInterval) this.#retrain(trained, this.#last);
    return { written, answer: this.#answer(results) };
  }

  async #takeEach(samples: readonly Sample[], collecting: number, results: SampleResult[]): Promise<void> {
    if (collecting > 0) await this.#collect(samples.slice(0, collecting), results);
    const rest = samples.slice(collecting);
    if (rest.length === 0) return;
    if (this.#trained) await this.#score(this.#trained, rest, results);
    else await this.#collect(rest, results);
  }

  /** Checks samples as they will be taken; returns how many come before the first model. */
  #checkCollecting(samples: readonly Sample[]): number {
    const { minSamples } = this.#record.settings;
    const needed = Math.max(1, Math.max(minSamples, this.#retryAt) - this.#record.total);
    const seen = this.#seen.copy();
    for (const [row, sample] of samples.slice(0, needed).entries()) seen.add(sample, row);
    if (samples.length < needed) return samples.length;
    const keys = seen.keys();
    checkSize(this.#record.settings, keys.columns.length);
    for (const [index, sample] of samples.slice(needed).entries()) checkKeys(sample, needed + index, keys);
    return needed;
  }

  async #collect(samples: readonly Sample[], results: SampleResult[]): Promise<void> {
    await appendTo(this.#table, cellsOfSamples(samples));
    const { settings } = this.#record;
    for (const sample of samples) {
      this.#seen.add(sample, results.length);
      this.#record.total += 1;
      this.#record.ignored += sample.texts.size;
      results.push({ score: null, isAnomaly: null, raw: null, untilReady: this.#untilReady() });
    }
    this.#record.sinceTraining = this.#record.total;
    if (this.#record.total < Math.max(settings.minSamples, this.#retryAt)) return;
    try {
      const run = { name: this.name, events: this.#events, signal: this.#closing.signal, background: false };
      const training = await train(this.#table, settings, this.#seen.keys(), run);
      this.#fresh = training.record;
      this.#adopt(training, this.#record.sinceTraining);
    } catch (failure) {
      this.#closing.signal.throwIfAborted();
      this.#failed(failure);
      this.#retryAt = this.#record.total + RETRY_SAMPLES;
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
      await appendTo(this.#table, cellsOfSamples(samples, columns), (rows) => this.#taken(rows));
      return vectors;
    }
    for (const [row, sample] of samples.entries()) {
      this.#table.append(1, cellsOfSamples([sample], columns).columns);
      this.#taken(1);
      vectors.set(this.#table.latest(columns), row * model.columns);
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
    const { first, next } = this.#table.stats();
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

  /** Writes models that no sample takes along. What cannot be written waits for the next samples. */
  async #keep(): Promise<void> {
    while (this.#fresh) {
      // A detector that is closed waits for nothing.
      await sleep(KEEP_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      // The turn ends when the write has begun: requests that do not write go on.
      await this.#inTurn(async () => {
        await this.#last;
        this.#alone = this.#writeFresh();
      });
      if (!(await this.#alone)) return;
    }
  }

  async #writeFresh(): Promise<boolean> {
    const fresh = this.#fresh;
    if (!fresh || this.broken || this.#gone) return false;
    this.#fresh = undefined;
    try {
      await this.#store.write((batch) => {
        batch.put('detectorModels', this.name, fresh);
        batch.put('detectors', this.name, this.#record);
      });
      return true;
    } catch (cause) {
      this.#fresh ??= fresh;
      log('warn', `the new model of detector ${this.name} could not be written`, { cause });
      return false;
    }
  }

  #failed(failure: unknown): void {
    this.#record.failures += 1;
    this.#lastError = failure instanceof Failure ? failure.message : 'The training failed; see the log.';
    log('warn', `the training of detector ${this.name} failed`, { cause: failure });
  }

  /** Trains in the background, while the old model scores; begins when the last samples are `written` and answered. */
  #retrain(current: Trained, written: Promise<void>): void {
    if (this.#retraining || this.#closing.signal.aborted || this.broken) return;
    const stop = new AbortController();
    const done = this.#trainNext(current, written, stop.signal).finally(() => {
      this.#retraining = undefined;
    });
    this.#retraining = { stop, done };
  }

  async #trainNext(current: Trained, written: Promise<void>, signal: AbortSignal): Promise<void> {
    await written;
    await immediate();
    let learned = this.#record.sinceTraining;
    try {
      const running = this.#retrainings.run(signal, () => {
        learned = this.#record.sinceTraining;
        const run = { name: this.name, events: this.#events, signal, background: true };
        return train(this.#table, this.#record.settings, current, run);
      });
      // What stands behind all others may take long to notice that it is to stop: only the trainings that wait for its place wait for that.
      const training = await orAborted(running, signal);
      signal.throwIfAborted();
      this.#adopt(training, learned);
      // With the next samples: a write of its own would make them wait for two.
      this.#fresh = training.record;
      this.#keeping ??= this.#keep().finally(() => {
        this.#keeping = undefined;
      });
    } catch (failure) {
      if (signal.aborted) return;
      this.#failed(failure);
      // The next attempt comes after as many samples again.
      this.#record.sinceTraining -= learned;
    }
  }
}
