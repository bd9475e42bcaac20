import { Failure } from '../../schemas/errors.js';
import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';
import { breathe } from '../base/loop.js';
import type { MemoryKey, MemoryStoreRecord } from '../store/records.js';
import type { Batch, Store } from '../store/store.js';
import type { MemoryRecord } from './contract.js';
import { Draft, type DraftChange } from './draft.js';
import type { RecordChange } from './kind.js';
import type { Lines } from './lines.js';

/** Records that one transaction takes before it is written. */
const FULL_DRAFT = 256;

/** What the changes of one memory store are made with. */
interface ChangesParts {
  readonly store: Store;
  readonly key: MemoryKey;
  readonly config: StoreConfig;
  readonly lines: Lines;
  /** What lies on the disk now. */
  readonly state: MemoryStoreRecord;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Told of changes that are on the disk, before who made them is. */
  changed(changes: readonly RecordChange[]): void;
}

interface Waiting {
  readonly change: DraftChange;
  resolve(added: MemoryRecord[]): void;
  reject(failure: unknown): void;
}

/** Work that no change may come between. It settles its own promise and never rejects. */
type Exclusive = () => Promise<void>;

/** The changes of one memory store, in the order they were given. One transaction at a time takes all that wait, so that what it decides by is on the disk. */
export class Changes {
  readonly #parts: ChangesParts;
  #state: MemoryStoreRecord;
  #waiting: (Waiting | Exclusive)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(parts: ChangesParts) {
    this.#parts = parts;
    this.#state = parts.state;
  }

  /** What lies on the disk. */
  get state(): MemoryStoreRecord {
    return this.#state;
  }

  /** Makes a change; returns the records that it adds when they are on the disk. */
  make(change: DraftChange): Promise<MemoryRecord[]> {
    if (this.#closed) return Promise.reject(closedFailure(this.#parts.key));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Does work when all changes in front of it are made, and before those behind it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(closedFailure(this.#parts.key));
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  /** Makes a change at once; only for who is alone. */
  async apply(change: DraftChange): Promise<MemoryRecord[]> {
    const draft = this.draft();
    const added = draft.take(change);
    await this.#commit(draft);
    return added;
  }

  /** Puts another state in the place of what lies on the disk; only for who is alone. */
  async replace(state: MemoryStoreRecord, also: (batch: Batch) => void = () => undefined): Promise<void> {
    const { store, key } = this.#parts;
    await store.write((batch) => {
      batch.put('memoryStores', key, state);
      also(batch);
    });
    this.#state = state;
  }

  /** A transaction to be. */
  draft(): Draft {
    const { lines, config, nowMs } = this.#parts;
    return new Draft(this.#state, lines, config, nowMs());
  }

  /** Refuses all changes from now on, and waits for those that were given. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Lets changes of the same event turn join the first transaction.
    await Promise.resolve();
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      if (typeof next !== 'function') await this.#writeSome();
      else {
        this.#waiting.shift();
        await next();
      }
    }
    this.#running = undefined;
  }

  /** One transaction of what waits. */
  async #writeSome(): Promise<void> {
    const draft = this.draft();
    const taken: { waiting: Waiting; added: MemoryRecord[] }[] = [];
    for (;;) {
      const [waiting] = this.#waiting;
      if (waiting === undefined || typeof waiting === 'function' || draft.size >= FULL_DRAFT) break;
      this.#waiting.shift();
      try {
        taken.push({ waiting, added: draft.take(waiting.change) });
      } catch (failure) {
        waiting.reject(failure);
      }
      await breathe();
    }
    if (taken.length === 0) return;
    try {
      await this.#commit(draft);
      for (const { waiting, added } of taken) waiting.resolve(added);
    } catch (failure) {
      if (taken.length === 1) taken[0]!.waiting.reject(failure);
      // One that does not fit takes no other down with it.
      else for (const { waiting } of taken) await this.apply(waiting.change).then(waiting.resolve, waiting.reject);
    }
  }

  async #commit(draft: Draft): Promise<void> {
    const { store, key, changed } = this.#parts;
    await store.write((batch) => draft.fill(batch, key));
    this.#state = draft.state;
    changed(draft.changes);
  }
}

function closedFailure([, , name]: MemoryKey): Failure {
  return new Failure('unavailable', `Memory store '${name}' was closed or changed meanwhile. Try again.`, { retryAfterS: 1 });
}
