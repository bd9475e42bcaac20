import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import { LOW_DISK_BYTES } from './disk-space.js';
import { DATA_FILE, type Environment } from './environment.js';
import { examine } from './examination.js';

/** Copies that are kept; older ones are removed. */
const KEPT = 2;
/** How long after the start, and how often, a look is taken whether a copy is due. */
const LOOK_MS = 20_000;
/** How often a small store that was written to is copied. */
const SMALL_INTERVAL_MS = 10 * 60_000;
const SMALL_BYTES = 2 ** 26;
/** Stores larger than this are not copied now and then, only before migrations. */
const MAX_ROUTINE_BYTES = 2 ** 30;

const UNFINISHED = '.part';

/** The backup copies below a state folder, newest first: folders with a data file each. */
export function backupsIn(folder: string): string[] {
  const place = join(folder, 'backups');
  try {
    return readdirSync(place)
      .filter((name) => !name.endsWith(UNFINISHED))
      .sort()
      .reverse()
      .map((name) => join(place, name));
  } catch {
    return [];
  }
}

/** A moment as it appears in file names: `20260131T235959123Z`; sorts by time. */
export function timestamp(now = new Date()): string {
  return now.toISOString().replaceAll(/[-:.]/g, '');
}

/** The time between two copies of a store that is written to: ten minutes up to 64 MiB, and longer in proportion to its size above. */
export function intervalMs(sizeBytes: number): number {
  return SMALL_INTERVAL_MS * Math.max(1, sizeBytes / SMALL_BYTES);
}

/** What the copies are made of. */
export interface BackupSource {
  /** Changes so far: a store that did not change since its copy is not copied again. */
  written(): number;
  /** Called when a copy shows that the file is damaged. */
  damaged(reason: string): void;
}

/**
 * Makes copies of an open environment with LMDB's own copy call; copying the file while it is open could tear it. A copy counts when each of
 * its records has been read, so that the copies before it stay while the file is damaged.
 */
export class Backups {
  readonly #environment: Environment;
  readonly #folder: string;
  readonly #source: BackupSource;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #making: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #lookEveryMs = LOOK_MS;
  /** What had been written when the newest copy was begun. */
  #copied = -1;

  constructor(environment: Environment, folder: string, source: BackupSource) {
    this.#environment = environment;
    this.#folder = folder;
    this.#source = source;
  }

  /** Copies now, when no other copy is being made, and returns the path of the copy; `kept` are kept in all. Throws `internal` when the file is damaged. */
  make(kept = KEPT): Promise<string> {
    const made = this.#making.then(() => this.#make(kept));
    this.#making = made.catch(() => undefined);
    return made;
  }

  async #make(kept: number): Promise<string> {
    const place = join(this.#folder, 'backups');
    const path = join(place, timestamp());
    const partial = `${path}${UNFINISHED}`;
    const written = this.#source.written();
    mkdirSync(partial, { recursive: true, mode: 0o700 });
    try {
      await this.#environment.backup(partial);
      const { problems } = await examine(join(partial, DATA_FILE));
      if (problems.length > 0) {
        this.#source.damaged(problems[0]!);
        throw new Failure('internal', `The state file is damaged and cannot be copied: ${problems[0]}.`);
      }
      renameSync(partial, path);
    } catch (error) {
      rmSync(partial, { force: true, recursive: true });
      throw error;
    }
    this.#copied = written;
    for (const old of backupsIn(this.#folder).slice(kept)) rmSync(old, { force: true, recursive: true });
    return path;
  }

  /** Starts copying: within the first minute, then each `intervalMs`, whenever the store has changed. */
  start(lookEveryMs = LOOK_MS): void {
    this.#lookEveryMs = lookEveryMs;
    this.#later();
  }

  /** Ends the routine; waits for a copy that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #later(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#routine();
    }, this.#lookEveryMs);
    this.#timer.unref();
  }

  async #routine(): Promise<void> {
    try {
      if (this.#isDue()) await this.make();
    } catch (error) {
      log('warn', 'the state store could not be backed up', { error });
    }
    this.#later();
  }

  #isDue(): boolean {
    const { size } = statSync(join(this.#folder, DATA_FILE));
    const [newest] = backupsIn(this.#folder);
    if (size > MAX_ROUTINE_BYTES || (newest !== undefined && this.#source.written() === this.#copied)) return false;
    const { bavail, bsize } = statfsSync(this.#folder);
    if (bavail * bsize - size < LOW_DISK_BYTES) return false;
    const age = newest === undefined ? Number.POSITIVE_INFINITY : Date.now() - statSync(newest).mtimeMs;
    return age < 0 || age >= intervalMs(size);
  }
}
