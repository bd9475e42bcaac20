import { Failure } from '../../schemas/errors.js';
import { orLate } from '../base/loop.js';
import { diskFull, SpaceReserve } from './disk-space.js';
import type { CommitPromise, Environment, StoredKey } from './environment.js';
import type { TableName } from './tables.js';

/** Writes that may wait before new ones are refused. */
const MAX_WAITING = 10_000;
/** Single puts and removals in one transaction; what comes in meanwhile forms the next. */
const MAX_CHANGES_PER_COMMIT = 1_000;
/** A disk that takes longer than this to confirm is reported as failing. */
const FLUSH_TIMEOUT_MS = 60_000;
/** What the system and LMDB answer when there is no room; the numbers are EFBIG, ENOSPC, EDQUOT, and MDB_MAP_FULL. */
const NO_ROOM: readonly unknown[] = ['EFBIG', 'ENOSPC', 'EDQUOT', 27, 28, 122, -30792];

/** One put, or one removal where `value` is undefined. */
export interface Change {
  readonly table: TableName;
  readonly key: StoredKey;
  readonly value: Uint8Array | undefined;
}

/** Writes that build on one another: after one that failed, those behind it are refused. Its owner may break it too. */
export interface Chain {
  broken: boolean;
}

interface Waiting {
  readonly chain: Chain | undefined;
  readonly changes: readonly Change[];
  /** Sizes of the values for which room is needed. */
  readonly sizes: readonly number[];
  resolve(): void;
  reject(failure: Failure): void;
}

/**
 * Writes groups of changes, in the order they were given, each group whole or not at all. One transaction is under way at a time and
 * takes everything that waits, so that many writers share one flush. A group's promise resolves when it is on disk.
 */
export class Writer {
  readonly #environment: Environment;
  readonly #space: SpaceReserve;
  #waiting: Waiting[] = [];
  /** What is done between two transactions. Settles its own promise and never rejects. */
  #between: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#space = new SpaceReserve(environment.file, environment.usage);
  }

  /** Throws `busy` when too much waits, `disk_full` or `unavailable` when the disk refuses; nothing of the group is then stored. */
  write(changes: readonly Change[], chain?: Chain): Promise<void> {
    if (changes.length === 0) return Promise.resolve();
    return this.#queue(
      changes,
      changes.map(({ value }) => value?.length ?? 0),
      chain,
    );
  }

  /** Sees to it that a value of this size can be stored, as far as that can be known before; throws as `write` does where it cannot. */
  async expect(valueSize: number): Promise<void> {
    try {
      if (await this.#space.fits(valueSize)) return;
    } catch (cause) {
      throw failureOf(cause);
    }
    // The file may grow only between transactions.
    await this.#queue([], [valueSize]);
  }

  #queue(changes: readonly Change[], sizes: readonly number[], chain?: Chain): Promise<void> {
    if (this.#closed)
      return Promise.reject(
        new Failure('unavailable', 'The state store is closed, because the daemon is stopping; try again when it runs.'),
      );
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new Failure('busy', `${MAX_WAITING} writes already wait for the disk. Try again later.`, { retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ chain, changes, sizes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Does work on the file while no transaction is under way; `commit` makes transactions of its own. Writes wait meanwhile. */
  between<Result>(work: (commit: (changes: readonly Change[]) => Promise<void>) => Promise<Result>): Promise<Result> {
    if (this.#closed)
      return Promise.reject(
        new Failure('unavailable', 'The state store is closed, because the daemon is stopping; try again when it runs.'),
      );
    return new Promise((resolve, reject) => {
      const commit = async (changes: readonly Change[]): Promise<void> => {
        await this.#space.reserve(changes.map(({ value }) => value?.length ?? 0));
        await this.#commit(changes);
      };
      this.#between.push(() => work(commit).then(resolve, (cause: unknown) => reject(failureOf(cause))));
      this.#running ??= this.#run();
    });
  }

  /** Writes what waits and refuses everything later. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Lets writes of the same event turn join the first transaction.
    await Promise.resolve();
    for (;;) {
      const work = this.#between.shift();
      if (work) await work();
      else if (this.#waiting.length > 0) await this.#commitAll(this.#take());
      else break;
    }
    this.#running = undefined;
  }

  #take(): Waiting[] {
    let count = 0;
    let changes = 0;
    while (count < this.#waiting.length && changes < MAX_CHANGES_PER_COMMIT) {
      changes += this.#waiting[count]!.changes.length;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** One transaction for all; where it fails, one for each, so that a group that does not fit takes no other down with it. */
  async #commitAll(queued: readonly Waiting[]): Promise<void> {
    const groups: Waiting[] = [];
    for (const group of queued) {
      if (group.chain?.broken) group.reject(behindFailed());
      else groups.push(group);
    }
    if (groups.length === 0) return;
    try {
      await this.#space.reserve(groups.flatMap((group) => group.sizes));
      const changes = groups.flatMap((group) => group.changes);
      if (changes.length > 0) await this.#commit(changes);
      for (const group of groups) group.resolve();
    } catch (cause) {
      if (groups.length === 1) fail(groups[0]!, failureOf(cause));
      else for (const group of groups) await this.#commitAll([group]);
    }
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    const { tables } = this.#environment;
    let commit: CommitPromise;
    try {
      commit = this.#environment.batch(() => {
        for (const { table, key, value } of changes) {
          const done = value === undefined ? tables[table].remove(key) : tables[table].put(key, value);
          // The batch reports the failure; each write would report it again.
          done.catch(ignore);
        }
      });
    } catch (cause) {
      throw await rootCause(cause);
    }
    try {
      await commit;
    } catch (cause) {
      throw await rootCause(cause);
    }
    if (commit.flushed) await withinTime(commit.flushed);
  }
}

function failureOf(cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  if (NO_ROOM.includes((cause as { code?: unknown }).code)) return diskFull(cause);
  return new Failure('unavailable', 'The state store could not write to its disk; nothing was stored. See the log for the reason.', {
    cause,
  });
}

function fail({ chain, reject }: Waiting, failure: Failure): void {
  if (chain) chain.broken = true;
  reject(failure);
}

function behindFailed(): Failure {
  return new Failure('unavailable', 'The write before this one failed, so that nothing of this one was stored. Try again.', {
    retryAfterS: 1,
  });
}

function ignore(): void {}

/** lmdb rejects with a wrapper whose `commitError` rejects, later, with the reason. */
async function rootCause(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> }).commitError;
  if (reason === undefined) return error;
  return Promise.race([
    reason.then(
      () => error,
      (cause: unknown) => cause,
    ),
    new Promise((resolve) => setTimeout(resolve, 1_000, error)),
  ]);
}

/** Flush failures leave lmdb's promise open for ever. */
function withinTime(flushed: Promise<unknown>): Promise<unknown> {
  return orLate(flushed, FLUSH_TIMEOUT_MS, () => {
    throw new Failure('unavailable', `The disk of the data directory did not confirm a write within ${FLUSH_TIMEOUT_MS / 1000} s.`);
  });
}
