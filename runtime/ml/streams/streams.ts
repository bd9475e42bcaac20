import { Failure } from '../../../schemas/errors.js';
import { Gate } from '../../base/gate.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';
import type { Events } from '../../events/events.js';
import type { DetectorRecord, DetectorSettings, Store } from '../../store/store.js';
import { TENANTS_FROM, takeOwner } from '../segment-log.js';
import { type DetectorStats, STREAM_LIMITS, type StreamLimits, type StreamResult, type StreamService } from './contract.js';
import { coldRecord, Detector, statsOf } from './detector.js';
import { checkSchema, type Sample, sampleOf } from './samples.js';

/** Characters of a detector's name. */
const MAX_DETECTOR_NAME = 128;
const NAME = /^(?!.*\.\.)[\w.:@+ -]+$/u;
/** Stands for the list in `/v1/anomaly/stream/detectors`. */
const RESERVED = 'detectors';

/** The streaming detectors of this machine. Those that nobody used for long are on the disk alone. */
export class Streams implements StreamService {
  readonly #store: Store;
  readonly #limits: StreamLimits;
  readonly #retrainings: Gate;
  readonly #events: Events | undefined;
  /** Least recently used first. */
  readonly #loaded = new Map<string, Promise<Detector>>();
  readonly #present = new Map<string, Detector>();
  /** Names whose detectors end at the moment. */
  readonly #ending = new Map<string, Promise<unknown>>();
  #closed = false;

  /** `events` keep the trainings. */
  constructor(store: Store, limits: StreamLimits = STREAM_LIMITS, events?: Events) {
    this.#store = store;
    this.#events = events;
    this.#limits = limits;
    this.#retrainings = new Gate('retrainings', limits.retrainings, limits.detectors);
  }

  async submit(name: string, settings: DetectorSettings, samples: readonly unknown[]): Promise<StreamResult> {
    await this.#settledName(name);
    const known = this.#present.has(name) ? undefined : this.#store.detectors.get(name);
    const used = this.#present.get(name)?.stats().settings ?? known?.settings ?? settings;
    if (used === settings) checkSettings(settings);
    const checked: Sample[] = [];
    for (const [row, sample] of samples.entries()) {
      checked.push(sampleOf(sample, row, used.schema));
      await breathe();
    }
    return this.#use(name, settings, async (detector, isNew) => {
      try {
        return await detector.submit(checked);
      } catch (failure) {
        // Nothing is left of a detector whose first samples were refused.
        if (isNew && !detector.broken && detector.users === 1 && detector.stats().total === 0)
          await this.#end(detector, () => detector.remove());
        throw failure;
      }
    });
  }

  async list(): Promise<readonly DetectorStats[]> {
    const entries = this.#store.detectors.page({ end: TENANTS_FROM, limit: this.#limits.detectors * 2 });
    return entries.map(({ key, value }) => this.#present.get(key)?.stats() ?? statsOf(key, value));
  }

  async get(name: string): Promise<DetectorStats> {
    await this.#settledName(name);
    return this.#present.get(name)?.stats() ?? statsOf(name, this.#record(name));
  }

  async reset(name: string): Promise<void> {
    await this.#settledName(name);
    this.#record(name);
    await this.#use(name, undefined, (detector) => detector.reset());
  }

  async remove(name: string): Promise<void> {
    await this.#settledName(name);
    this.#record(name);
    await this.#use(name, undefined, (detector) => this.#end(detector, () => detector.remove()));
  }

  /** Ends trainings and waits for writes. */
  async close(): Promise<void> {
    this.#closed = true;
    // All at once: a training that has to stop may wait for a core.
    const closing = [...this.#loaded.values()].map((loading) => loading.then((detector) => detector.close()).catch(() => undefined));
    await Promise.all(closing);
  }

  #record(name: string): DetectorRecord {
    const record = this.#store.detectors.get(name);
    if (record) return record;
    throw new Failure('not_found', `Streaming detector not found: ${quote(name)}. The first samples sent to .../anomaly/stream make it.`, {
      code: 'DetectorNotFound',
    });
  }

  /** A name that may be; whoever had it before has ended. */
  async #settledName(name: string): Promise<void> {
    checkName(name);
    while (this.#ending.has(name)) await this.#ending.get(name);
  }

  /** Takes a detector out of memory after `last`; its name waits until it has ended. */
  async #end(detector: Detector, last: () => Promise<void>): Promise<void> {
    const { name } = detector;
    if (this.#present.get(name) !== detector) return;
    this.#present.delete(name);
    this.#loaded.delete(name);
    const ending = last().finally(() => detector.close());
    this.#ending.set(
      name,
      ending.catch(() => undefined).finally(() => this.#ending.delete(name)),
    );
    await ending;
  }

  /** Works with a detector in memory, made with `settings` when there is none. */
  async #use<T>(
    name: string,
    settings: DetectorSettings | undefined,
    work: (detector: Detector, isNew: boolean) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) throw new Failure('unavailable', 'The daemon is stopping.');
    let isNew = false;
    let loading = this.#loaded.get(name);
    if (loading === undefined) {
      loading = this.#load(name, settings).then((found) => {
        isNew = found.isNew;
        return found.detector;
      });
      loading.catch(() => this.#loaded.delete(name));
    }
    this.#loaded.delete(name);
    this.#loaded.set(name, loading);
    const detector = await loading;
    detector.users += 1;
    try {
      return await work(detector, isNew);
    } finally {
      detector.users -= 1;
      // The disk knows what was taken; the next request loads that.
      if (detector.broken) await this.#end(detector, async () => undefined);
      this.#unload();
    }
  }

  async #load(name: string, settings: DetectorSettings | undefined): Promise<{ detector: Detector; isNew: boolean }> {
    const found = this.#store.detectors.get(name);
    if (found === undefined && settings === undefined) this.#record(name);
    const record = found ?? (await this.#make(name, settings!));
    const detector = new Detector(this.#store, name, record, this.#retrainings, this.#events);
    await detector.load();
    this.#present.set(name, detector);
    return { detector, isNew: found === undefined };
  }

  async #make(name: string, settings: DetectorSettings): Promise<DetectorRecord> {
    const count = this.#store.detectors.keys({ end: TENANTS_FROM, limit: this.#limits.detectors }).length;
    if (count >= this.#limits.detectors)
      throw new Failure(
        'too_large',
        `There are ${count} streaming detectors, and ${this.#limits.detectors} are allowed; delete one first.`,
        {
          fields: { detectors: count, allowed_detectors: this.#limits.detectors },
        },
      );
    let record!: DetectorRecord;
    await this.#store.write((batch) => {
      record = coldRecord({ owner: takeOwner(this.#store, batch), settings, createdMs: Date.now() });
      batch.put('detectors', name, record);
    });
    return record;
  }

  /** Everything of a detector is on the disk, so that an idle one need not stay. */
  #unload(): void {
    for (const name of this.#loaded.keys()) {
      if (this.#present.size <= this.#limits.loaded) return;
      if (this.#present.get(name)?.busy !== false) continue;
      this.#present.delete(name);
      this.#loaded.delete(name);
    }
  }
}

function checkName(name: string): void {
  if (name.length <= MAX_DETECTOR_NAME && NAME.test(name) && name !== RESERVED) return;
  throw new Failure(
    'bad_request',
    `${quote(name)} cannot name a detector: 1 to ${MAX_DETECTOR_NAME} letters, digits, spaces and any of . _ : @ + - are allowed, without "..", and not "${RESERVED}".`,
    { code: 'BadDetectorName' },
  );
}

function checkSettings({ schema, minSamples, windowSize, threshold, normalization }: DetectorSettings): void {
  checkSchema(schema);
  if (minSamples > windowSize)
    throw new Failure(
      'invalid',
      `min_samples is ${minSamples} and window_size ${windowSize}: the window must hold the samples of the first training.`,
      {
        errors: [
          { type: 'min_samples', loc: ['body', 'min_samples'], msg: `must be at most window_size, ${windowSize}`, input: minSamples },
        ],
      },
    );
  if (normalization === 'standardization' && threshold !== null && (threshold < 0 || threshold > 1))
    throw new Failure('invalid', `threshold is ${threshold}; standardised scores lie between 0 and 1.`, {
      errors: [{ type: 'threshold', loc: ['body', 'threshold'], msg: 'must be from 0 to 1', input: threshold }],
    });
}
