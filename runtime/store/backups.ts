import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { log } from '../log.js';
import { DATA_FILE, type Environment } from './environment.js';

/** Copies that are kept; older ones are removed. */
const KEPT = 2;
const INTERVAL_MS = 24 * 3600_000;
/** A start is quick: its copy waits this long. */
const FIRST_CHECK_MS = 60_000;
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

/** Makes copies of an open environment with LMDB's own copy call; copying the file while it is open could tear it. */
export class Backups {
  readonly #environment: Environment;
  readonly #folder: string;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(environment: Environment, folder: string) {
    this.#environment = environment;
    this.#folder = folder;
  }

  /** Copies now and returns the path of the copy. */
  async make(): Promise<string> {
    const place = join(this.#folder, 'backups');
    const path = join(place, timestamp());
    const partial = `${path}${UNFINISHED}`;
    mkdirSync(partial, { recursive: true });
    try {
      await this.#environment.backup(partial);
      renameSync(partial, path);
    } catch (error) {
      rmSync(partial, { force: true, recursive: true });
      throw error;
    }
    for (const old of backupsIn(this.#folder).slice(KEPT)) rmSync(old, { force: true, recursive: true });
    return path;
  }

  /** Starts copying once a day. */
  start(): void {
    this.#later(FIRST_CHECK_MS);
  }

  /** Ends the routine; waits for a copy that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #later(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#routine();
    }, delayMs);
    this.#timer.unref();
  }

  async #routine(): Promise<void> {
    try {
      const [newest] = backupsIn(this.#folder);
      const age = newest === undefined ? INTERVAL_MS : Date.now() - statSync(newest).mtimeMs;
      const due = age >= INTERVAL_MS || age < 0;
      if (due && statSync(join(this.#folder, DATA_FILE)).size <= MAX_ROUTINE_BYTES) await this.make();
    } catch (error) {
      log('warn', 'the state store could not be backed up', { error });
    }
    this.#later(INTERVAL_MS);
  }
}
