import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../../base/log.js';
import type { Batch, ModelRecord, Store } from '../../store/store.js';

/** A new model waits so long for samples that take it to the disk. */
const WAIT_MS = 50;

/** What the model needs of its detector. */
interface ModelOwner {
  readonly name: string;
  /** Runs work when no request is being worked on. */
  inTurn(work: () => Promise<void>): Promise<void>;
  /** Resolves when the last write of samples has ended, also where it failed. */
  lastWrite(): Promise<void>;
  /** Adds the detector's record to a write. */
  putRecord(batch: Batch): void;
  /** False where the detector is deleted, or its memory ahead of the disk. */
  mayWrite(): boolean;
  /** Aborts when the detector is closed. */
  readonly closing: AbortSignal;
}

/**
 * A model that is in use and not on the disk yet. It goes there in one write with the record that counts it: with the next samples, or
 * alone when none come soon.
 */
export class UnwrittenModel {
  readonly #store: Store;
  readonly #owner: ModelOwner;
  #model: ModelRecord | undefined;
  /** While the model waits for samples, or is written without any. */
  #waiting: Promise<void> | undefined;
  /** The last write without samples; resolves to false where it failed. */
  #alone: Promise<boolean> | undefined;

  constructor(store: Store, owner: ModelOwner) {
    this.#store = store;
    this.#owner = owner;
  }

  /** Whether a model is not on the disk and will get there. */
  get pending(): boolean {
    return this.#waiting !== undefined || (this.#model !== undefined && this.#owner.mayWrite());
  }

  /** Holds a model for the write that follows at once. */
  hold(model: ModelRecord): void {
    this.#model = model;
  }

  /** Holds a model for the next samples: a write of its own would make them wait for two. */
  holdForSamples(model: ModelRecord): void {
    this.#model = model;
    this.#waiting ??= this.#writeSoon().finally(() => {
      this.#waiting = undefined;
    });
  }

  /** Gives the model to a write of samples, which either stores it or breaks the detector. */
  take(): ModelRecord | undefined {
    const model = this.#model;
    this.#model = undefined;
    return model;
  }

  forget(): void {
    this.#model = undefined;
  }

  /** Waits for a write without samples. Where that fails, the next samples take the model along: no record on the disk may count a model that is not there. */
  async written(): Promise<void> {
    await this.#alone;
  }

  /** Waits until nothing goes on in the background. */
  async settled(): Promise<void> {
    await this.#waiting;
  }

  /** Writes the model and the record now. Resolves to false where there was nothing to write or the disk refused; the model then waits on. */
  async write(): Promise<boolean> {
    const model = this.#model;
    if (!model || !this.#owner.mayWrite()) return false;
    this.#model = undefined;
    try {
      await this.#store.write((batch) => {
        batch.put('detectorModels', this.#owner.name, model);
        this.#owner.putRecord(batch);
      });
      return true;
    } catch (cause) {
      this.#model ??= model;
      log('warn', `the new model of detector ${this.#owner.name} could not be written`, { cause });
      return false;
    }
  }

  async #writeSoon(): Promise<void> {
    while (this.#model) {
      // A detector that is closed waits for nothing.
      await sleep(WAIT_MS, undefined, { signal: this.#owner.closing }).catch(() => undefined);
      // The turn ends when the write has begun: requests that do not write go on.
      await this.#owner.inTurn(async () => {
        await this.#owner.lastWrite();
        this.#alone = this.write();
      });
      if (!(await this.#alone)) return;
    }
  }
}
