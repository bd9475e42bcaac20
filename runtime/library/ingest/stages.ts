import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { log } from '../../base/log.js';
import { projectFolders } from '../datasets/pending.js';

/** How much is kept. */
export const STAGE_LIMITS = {
  /** Results of one project together; the ones used longest ago go first. */
  mostBytes: 512 * 1024 * 1024,
  /** A larger result is not kept. */
  largestBytes: 64 * 1024 * 1024,
} as const;
/** Share of the limit that is left when there was too much. */
const EVICTED_TO = 0.9;

/** How the name of a result ends that is being written. */
const DRAFT = '.tmp';

/** A result that is being written, as a checked file. */
export interface Draft {
  /** Where it is to be written. */
  readonly path: string;
  /** Keeps it, unless it is too large. What is open of it stays readable. Never rejects. */
  keep(): Promise<void>;
  /** Removes it. Never rejects. */
  drop(): Promise<void>;
}

/**
 * Results of ingestion stages, by what they were made of, so that unchanged work is not done again. They can all be made anew: what is
 * damaged counts as absent, and a disk that refuses one costs nothing but time.
 */
export class Stages {
  readonly #folder: string;
  readonly #limits: { readonly mostBytes: number; readonly largestBytes: number };
  /** What is kept, as far as known. */
  #sizeBytes: number | undefined;

  /** `directory` is the project's. */
  constructor(directory: string, limits: { readonly mostBytes: number; readonly largestBytes: number } = STAGE_LIMITS) {
    this.#limits = limits;
    this.#folder = folderOf(directory);
  }

  /** The path of a result that was kept, which counts as used; whether it is whole shows when it is opened. Undefined where there is none. */
  async find(stage: string, key: string): Promise<string | undefined> {
    const path = this.#path(stage, key);
    const now = new Date();
    return utimes(path, now, now).then(
      () => path,
      () => undefined,
    );
  }

  /** Begins a result. Throws the system's error where the folder cannot be made. */
  async begin(stage: string, key: string): Promise<Draft> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#path(stage, key);
    // Two runs over the same file may come to the same result at the same time.
    const draft = `${path}.${randomUUID()}${DRAFT}`;
    return {
      path: draft,
      keep: () => this.#keep(draft, path),
      drop: () => rm(draft, { force: true }).catch(() => undefined),
    };
  }

  async #keep(draft: string, path: string): Promise<void> {
    try {
      const { size } = await stat(draft);
      if (size > this.#limits.largestBytes) return await rm(draft, { force: true });
      await rename(draft, path);
      this.#sizeBytes = this.#sizeBytes === undefined ? await this.#total() : this.#sizeBytes + size;
      if (this.#sizeBytes > this.#limits.mostBytes) this.#sizeBytes = await this.#evict();
    } catch (error) {
      log('warn', 'a stage of ingestion could not be kept', { path, error });
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  async #files(): Promise<{ path: string; size: number; mtimeMs: number }[]> {
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    const files = [];
    for (const path of paths) {
      const { size, mtimeMs } = await stat(path);
      files.push({ path, size, mtimeMs });
    }
    return files;
  }

  async #total(): Promise<number> {
    return (await this.#files()).reduce((sum, { size }) => sum + size, 0);
  }

  async #evict(): Promise<number> {
    const files = (await this.#files()).sort((a, b) => a.mtimeMs - b.mtimeMs);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    // Below the limit, so that not every further result looks at all files again.
    const wanted = this.#limits.mostBytes * EVICTED_TO;
    for (const { path, size } of files) {
      if (total <= wanted) break;
      await rm(path, { force: true });
      total -= size;
    }
    return total;
  }

  #path(stage: string, key: string): string {
    return join(this.#folder, `${stage}-${createHash('sha256').update(key).digest('hex')}`);
  }
}

/** Removes what a killed process has not written to its end, in all projects. To be called while nobody works on them. */
export async function sweepDrafts(projectsRoot: string): Promise<void> {
  for await (const project of projectFolders(projectsRoot)) {
    const folder = folderOf(project);
    const names = await readdir(folder).catch(() => []);
    for (const path of names.filter((name) => name.endsWith(DRAFT)).map((name) => join(folder, name)))
      await rm(path, { force: true }).catch((cause: unknown) =>
        log('warn', 'what a killed process left could not be removed', { path, cause }),
      );
  }
}

/** Where the results of a project lie. */
function folderOf(directory: string): string {
  return join(directory, 'lf_data', 'stages');
}
